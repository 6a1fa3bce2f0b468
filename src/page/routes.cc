#include "page/routes.h"

#include <algorithm>
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
                {"fit", 0, Kind::kFit},
                {"what-if", 0, Kind::kWhatIf},
                {"history", 0, Kind::kHistory}};
  if (what == "jobs" && segments->size() == 3 && segments->back() == "story") {
    segments->pop_back();
    return {Kind::kStory, *std::move(segments)};
  }
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

Result<std::set<std::string, std::less<>>> ReadNamespaces(const std::string& query) {
  TRY_ASSIGN(const apiserver::Query parsed, ParseQuery(query));
  std::set<std::string, std::less<>> namespaces;
  const std::string text(parsed.Get("namespaces"));
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    if (end > at) namespaces.insert(text.substr(at, end - at));
    at = end + 1;
  }
  return namespaces;
}

Result<std::optional<Time>> ReadMoment(const std::string& query) {
  TRY_ASSIGN(const apiserver::Query parsed, ParseQuery(query));
  if (parsed.Get("at").empty()) return std::optional<Time>();
  TRY_ASSIGN(const std::int64_t at, NumberOf(parsed, "at"));
  return std::optional<Time>(Time(Duration(at)));
}

Result<std::string> ReadShape(const std::string& query) {
  TRY_ASSIGN(const apiserver::Query parsed, ParseQuery(query));
  return std::string(parsed.Get("pod"));
}

}  // namespace strata::page
