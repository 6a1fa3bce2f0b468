#include "discovery/topograph.h"

#include <chrono>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "discovery/http_answer.h"
#include "discovery/path_tree.h"
#include "objects/cursor.h"
#include "objects/value.h"

namespace strata::discovery {
namespace {

using objects::Cursor;

constexpr std::size_t kMaxIdLength = 200;

// The request's id: a plain text, or {"uid": ...}. It becomes part of an address, so it must be
// plain.
Result<std::string> RequestId(const HttpAnswer& answer) {
  std::string id = answer.body;
  while (!id.empty() && (id.back() == '\n' || id.back() == '\r' || id.back() == ' ')) id.pop_back();
  if (id.size() > 1 && id.front() == '"' && id.back() == '"') id = id.substr(1, id.size() - 2);
  const bool plain = id.find_first_not_of(
                         "0123456789abcdefghijklmnopqrstuvwxyz"
                         "ABCDEFGHIJKLMNOPQRSTUVWXYZ-_") == std::string::npos;
  if (id.empty() || id.size() > kMaxIdLength || !plain) {
    return Fail(Code::kUnavailable, "the answer is not a request id");
  }
  return id;
}

}  // namespace

Result<Tree> ParseTopograph(const std::string& text,
                            const HostNames& names,
                            std::size_t& left_out) {
  TRY_ASSIGN(const objects::Document document, objects::Document::ParseJson(text));
  objects::ReadLog log;
  const Cursor root(document.root(), log);
  std::vector<NodePath> paths;
  const Cursor instances = root.At("instances");
  instances.Required().ForEach([&](const Cursor& instance) {
    std::string id;
    NodePath path;
    instance.At("id").Required().Read(id);
    instance.At("network_layers").Read(path.values);
    std::optional<std::string> node = names.Find(id);
    if (!node) {
      ++left_out;
      return;
    }
    path.node = std::move(*node);
    for (std::size_t i = 0; i < path.values.size(); ++i) {
      if (path.values[i].empty()) path.values.resize(i);
    }
    paths.push_back(std::move(path));
  });
  if (!log.error.empty()) return Fail(Code::kInvalidArgument, log.error);
  return TreeOfPaths(paths, {"leaf", "spine", "core"});
}

Result<std::string> ReadTopograph(const TopographConfig& config,
                                  const Credentials& credentials,
                                  Reader& reader) {
  if (!config.file.empty()) return reader.ReadFile(config.file);
  HttpRequest request{.url = config.server.endpoint + "/v1/generate",
                      .server = &config.server,
                      .credentials = &credentials,
                      .body = R"({"engine": {"name": "graph"}})"};
  TRY_ASSIGN(HttpAnswer answer, reader.Send(request));
  if (answer.status != 202) TRY(CheckStatus(request.url, answer));
  Result<std::string> id = RequestId(answer);
  if (!id) return tl::unexpected(Error(id.error()).Context(request.url));
  request.url = fmt::format("{}/v1/topology?uid={}", config.server.endpoint, *id);
  request.body.clear();
  while (true) {
    TRY_ASSIGN(answer, reader.Send(request));
    if (answer.status != 202) break;
    TRY(reader.Wait(std::chrono::milliseconds(500)));
  }
  TRY(CheckStatus(request.url, answer));
  return std::move(answer.body);
}

}  // namespace strata::discovery
