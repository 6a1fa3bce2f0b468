#include "page/routes.h"

#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "apiserver/request/query.h"
#include "apiserver/request/request_path.h"
#include "page/access.h"

namespace strata::page {
namespace {

Result<apiserver::Query> ParseQuery(const std::string& text) {
  auto query = apiserver::Query::Parse(text);
  if (!query) return Fail(Code::kInvalidArgument, "the query has an escape that is not valid");
  return *std::move(query);
}

Result<std::int64_t> NumberOf(const apiserver::Query& query, std::string_view name) {
  const auto number = query.Number(name);
  if (number && *number) return **number;
  return Fail(Code::kInvalidArgument,
              fmt::format("{}: want a whole number, not \"{}\"", name, query.Get(name)));
}

}  // namespace

Route FindRoute(const std::string& path) {
  using Kind = Route::Kind;
  if (!path.starts_with(kDataPath)) return {Kind::kFile, {}};
  auto segments = apiserver::PathSegments(path);
  if (!segments) return {};
  segments->erase(segments->begin(), segments->begin() + 2);  // "page", "v1"
  if (segments->empty()) return {};
  const std::string what = segments->front();
  segments->erase(segments->begin());
  const struct {
    std::string_view word;
    std::size_t names;
    Kind kind;
  } routes[] = {{"hello", 0, Kind::kHello},
                {"cluster", 0, Kind::kCluster},
                {"events", 0, Kind::kEvents},
                {"queues", 0, Kind::kQueues},
                {"jobs", 2, Kind::kJob},
                {"nodes", 1, Kind::kNode},
                {"fit", 0, Kind::kFit}};
  for (const auto& route : routes) {
    if (route.word == what && route.names == segments->size()) {
      return {route.kind, *std::move(segments)};
    }
  }
  return {};
}

Result<StreamStart> ReadStreamStart(const std::string& query) {
  TRY_ASSIGN(const apiserver::Query parsed, ParseQuery(query));
  StreamStart start;
  TRY_ASSIGN(start.epoch, NumberOf(parsed, "epoch"));
  TRY_ASSIGN(start.revision, NumberOf(parsed, "after"));
  return start;
}

Result<std::string> ReadShape(const std::string& query) {
  TRY_ASSIGN(const apiserver::Query parsed, ParseQuery(query));
  return std::string(parsed.Get("pod"));
}

}  // namespace strata::page
