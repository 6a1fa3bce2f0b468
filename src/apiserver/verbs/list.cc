#include "apiserver/verbs/list.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "apiserver/views/answer.h"
#include "base/ascii.h"
#include "json/dump.h"

namespace strata::apiserver {
namespace {

constexpr Duration kVersionPoll = std::chrono::milliseconds(100);
constexpr int kVersionPolls = 30;  // three seconds in all

ApiError TooLargeVersion(std::string_view wanted, std::int64_t current) {
  ApiError error;
  error.code = 504;
  error.reason = "Timeout";
  error.message =
      fmt::format("Timeout: Too large resource version: {}, current: {}", wanted, current);
  error.causes.push_back({"", "ResourceVersionTooLarge", "Too large resource version"});
  error.retry_after_seconds = 1;
  return error;
}

ApiError ExpiredToken() {
  ApiError error;
  error.code = 410;
  error.reason = "Expired";
  error.message =
      "The provided continue parameter is too old to display a consistent list result. You can "
      "start a new list without the continue parameter.";
  return error;
}

// A page token: which snapshot, of which version, and where to go on.
struct PageToken {
  std::uint64_t snapshot = 0;
  std::int64_t version = 0;
  std::size_t next = 0;
};

std::string WriteToken(const PageToken& token) {
  return fmt::format("{}.{}.{}", token.snapshot, token.version, token.next);
}

std::optional<PageToken> ReadToken(std::string_view text) {
  const std::vector<std::string_view> parts = Split(text, '.');
  if (parts.size() != 3) return std::nullopt;
  const auto id = WholeNumber(parts[0], std::numeric_limits<std::int64_t>::max());
  const auto version = WholeNumber(parts[1], std::numeric_limits<std::int64_t>::max());
  const auto next = WholeNumber(parts[2], std::numeric_limits<std::int64_t>::max());
  if (!id || !version || !next) return std::nullopt;
  return PageToken{static_cast<std::uint64_t>(*id), *version, static_cast<std::size_t>(*next)};
}

// The objects of a resource as they were at `version`: the present ones with every change since
// undone.
ApiResult<Snapshot> ListAsOf(const ServerState& state, const Call& call, std::int64_t version) {
  const std::string resource = call.resource->FullName();
  Snapshot now = state.store.List(resource, call.path.ns);
  if (version == now.version) return now;
  Result<WatchPosition> position = state.store.WatchFrom(resource, version);
  if (!position) return tl::unexpected(FromStore(*call.resource, "", position.error()));

  std::map<std::pair<std::string, std::string>, ObjectRef> then;
  for (;;) {
    const Result<const Change*> change = state.store.Next(*position);
    if (!change) return tl::unexpected(FromStore(*call.resource, "", change.error()));
    if (*change == nullptr) break;
    const StoredObject& after = *(*change)->after;
    if (!call.path.ns.empty() && after.ns != call.path.ns) continue;
    then.emplace(std::pair(after.ns, after.name), (*change)->before);  // the first one counts
  }
  std::map<std::pair<std::string, std::string>, ObjectRef> all;
  for (ObjectRef& object : now.objects) {
    auto key = std::pair(object->ns, object->name);
    all.emplace(std::move(key), std::move(object));
  }
  for (const auto& [key, before] : then) {
    if (before == nullptr) {
      all.erase(key);
    } else {
      all[key] = before;
    }
  }
  Snapshot snapshot;
  snapshot.version = version;
  for (auto& [key, object] : all) snapshot.objects.push_back(std::move(object));
  return snapshot;
}

ApiResult<Snapshot> Gather(const ServerState& state,
                           const Call& call,
                           const ListOptions& options,
                           const Selector& selector) {
  if (options.resource_version_match == "Exact") {
    TRY_API_ASSIGN(const std::int64_t version, ReadVersion(options.resource_version));
    return ListAsOf(state, call, version);
  }
  const bool one =
      !selector.only_name().empty() && (!call.path.ns.empty() || !call.resource->namespaced);
  if (!one) return state.store.List(call.resource->FullName(), call.path.ns);
  Snapshot snapshot;
  snapshot.version = state.store.version();
  if (ObjectRef object =
          state.store.Get(KeyOf(*call.resource, call.path.ns, std::string(selector.only_name())))) {
    snapshot.objects.push_back(std::move(object));
  }
  return snapshot;
}

// What a list is of: its pages are for no other.
std::string Identity(const Call& call, const ListOptions& options) {
  return DumpJson(
      {call.resource->FullName(), call.path.ns, options.label_selector, options.field_selector});
}

// The page that starts at `at`; what is left stays kept under a token.
ListAnswer CutPage(ServerState& state,
                   const ListSnapshots::List& list,
                   PageToken at,
                   std::int64_t limit) {
  const std::shared_ptr<const Snapshot> whole = list.snapshot;
  ListAnswer answer;
  answer.page.version = whole->version;
  const std::size_t first = std::min(at.next, whole->objects.size());
  const std::size_t left = whole->objects.size() - first;
  const std::size_t count = limit == 0 ? left : std::min(left, static_cast<std::size_t>(limit));
  const auto begin = whole->objects.begin() + static_cast<std::ptrdiff_t>(first);
  answer.page.objects.assign(begin, begin + static_cast<std::ptrdiff_t>(count));
  if (count == left) {
    if (at.snapshot != 0) state.snapshots.Drop(at.snapshot);
    return answer;
  }
  if (at.snapshot == 0) at.snapshot = state.snapshots.Keep(list, state.timers.Elapsed());
  at.version = whole->version;
  at.next = first + count;
  answer.continue_token = WriteToken(at);
  answer.remaining = static_cast<std::int64_t>(left - count);
  return answer;
}

ApiResult<ListAnswer> ContinueList(ServerState& state,
                                   const Call& call,
                                   const ListOptions& options) {
  const std::optional<PageToken> token = ReadToken(options.continue_token);
  if (!token) {
    return tl::unexpected(BadRequest("continue key is not valid: illegal base64 data"));
  }
  const ListSnapshots::List* list = state.snapshots.Find(token->snapshot, state.timers.Elapsed());
  if (list == nullptr || list->snapshot->version != token->version) {
    return tl::unexpected(ExpiredToken());
  }
  if (list->of != Identity(call, options)) {
    return tl::unexpected(BadRequest("continue key is not valid: it is of another list"));
  }
  return CutPage(state, *list, *token, options.limit);
}

ApiResult<ListAnswer> MakeList(ServerState& state, const Call& call, const ListOptions& options) {
  TRY_API_ASSIGN(const Selector selector, ReadSelector(*call.resource, options));
  ListAnswer answer;
  if (!options.continue_token.empty()) {
    TRY_API_ASSIGN(answer, ContinueList(state, call, options));
  } else {
    TRY_API_ASSIGN(Snapshot snapshot, Gather(state, call, options, selector));
    if (!selector.empty()) {
      std::erase_if(snapshot.objects,
                    [&](const ObjectRef& object) { return !selector.Matches(*object); });
    }
    if (options.limit == 0) {
      answer.page = std::move(snapshot);
      return answer;
    }
    answer =
        CutPage(state,
                {Identity(call, options), std::make_shared<const Snapshot>(std::move(snapshot))},
                PageToken{},
                options.limit);
  }
  if (!selector.empty()) answer.remaining = 0;
  return answer;
}

// Lists once the store has reached `version`, or refuses when it does not in time.
void ListWhenReached(ServerState& state,
                     const CallRef& call,
                     const ListOptions& options,
                     std::int64_t version,
                     int polls_left) {
  if (version <= state.store.version()) {
    ApiResult<ListAnswer> answer = MakeList(state, *call, options);
    if (!answer) return AnswerError(*call, answer.error());
    return AnswerList(*call, std::move(*answer));
  }
  if (polls_left == 0) {
    return AnswerError(*call, TooLargeVersion(options.resource_version, state.store.version()));
  }
  state.timers.After(
      kVersionPoll,
      [&state, call, options, version, polls_left, alive = std::weak_ptr<bool>(state.alive)] {
        if (alive.lock()) ListWhenReached(state, call, options, version, polls_left - 1);
      });
}

}  // namespace

ApiResult<Selector> ReadSelector(const Resource& resource, const ListOptions& options) {
  Result<Selector> selector =
      Selector::Parse(resource, options.label_selector, options.field_selector);
  if (selector) return std::move(*selector);
  std::string message = std::move(selector.error().message);
  if (message.starts_with("field label")) {
    message = fmt::format(
        "Unable to find \"{}/{}, Resource={}\" that match label selector \"{}\", field selector "
        "\"{}\": {}",
        resource.group,
        resource.version,
        resource.plural,
        options.label_selector,
        options.field_selector,
        message);
  }
  return tl::unexpected(BadRequest(std::move(message)));
}

ApiResult<std::int64_t> ReadVersion(std::string_view text) {
  if (text.empty()) return 0;
  const std::optional<std::int64_t> version =
      WholeNumber(text, std::numeric_limits<std::int64_t>::max());
  if (version) return *version;
  return tl::unexpected(BadRequest(fmt::format(
      "resourceVersion: Invalid value: \"{}\": strconv.ParseUint: parsing \"{}\": invalid syntax",
      text,
      text)));
}

void HandleList(ServerState& state, const CallRef& call, const ListOptions& options) {
  const ApiResult<std::int64_t> version = ReadVersion(options.resource_version);
  if (!version) return AnswerError(*call, version.error());
  ListWhenReached(state, call, options, *version, kVersionPolls);
}

void HandleGet(ServerState& state, const Call& call) {
  const ObjectRef object = state.store.Get(KeyOf(*call.resource, call.path.ns, call.path.name));
  if (object == nullptr) return AnswerError(call, NotFound(*call.resource, call.path.name));
  AnswerStored(call, 200, *object);
}

}  // namespace strata::apiserver
