#include "apiserver/verbs/watch.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "apiserver/request/selectors.h"
#include "apiserver/verbs/list.h"
#include "apiserver/views/list_views.h"
#include "json/dump.h"
#include "json/parse.h"

namespace strata::apiserver {
namespace {

using nlohmann::json;

constexpr std::size_t kEventPiece = 64UL * 1024;
constexpr Duration kBookmarkEvery = std::chrono::minutes(1);
constexpr Duration kBookmarkBeforeEnd = std::chrono::seconds(2);
constexpr std::int64_t kLongestSeconds = 86400;

// Where a watch begins.
struct WatchStart {
  WatchPosition position;
  std::int64_t after = 0;          // changes up to this version are not shown
  std::vector<ObjectRef> initial;  // shown as ADDED first
  std::int64_t initial_version = 0;
  bool mark_initial_end = false;  // by a bookmark with an annotation
};

class WatchSource : public net::BodySource {
 public:
  WatchSource(ServerState& state, const CallRef& call, Selector selector, WatchStart start)
      : state_(state), call_(*call), selector_(std::move(selector)), start_(std::move(start)) {
    subscription_ = state.store.Subscribe(call_.resource->FullName(), [this] { WakeUp(); });
    if (!call_.resource->custom) return;
    table_subscription_ = state.table_listeners.Add([this] {
      if (!Served()) WakeUp();
    });
  }
  ~WatchSource() override {
    if (end_timer_) state_.timers.Cancel(*end_timer_);
    if (bookmark_timer_) state_.timers.Cancel(*bookmark_timer_);
  }

  void SetTimers(const ListOptions& options) {
    std::int64_t seconds = options.timeout_seconds.value_or(0);
    if (seconds <= 0) seconds = 1800 + static_cast<std::int64_t>(state_.random.Next() % 1800);
    const Duration whole = std::chrono::seconds(std::min(seconds, kLongestSeconds));
    end_timer_ = state_.timers.After(whole, [this] {
      end_timer_.reset();
      ended_ = true;
      WakeUp();
    });
    if (!options.bookmarks) return;
    end_ = state_.timers.Elapsed() + whole;
    PlanBookmark();
  }

  More Pull(std::string& out) override {
    while (out.size() < kEventPiece) {
      const std::optional<More> stop = Step(out);
      if (stop) return *stop;
    }
    return More::kReady;
  }

 private:
  // One event at most; a value when there is no more for now.
  std::optional<More> Step(std::string& out) {
    if (next_initial_ < start_.initial.size()) {
      ObjectRef& object = start_.initial[next_initial_++];
      if (selector_.Matches(*object)) AppendEvent("ADDED", object->body, out);
      object.reset();
      return std::nullopt;
    }
    if (std::exchange(start_.mark_initial_end, false)) {
      AppendBookmark(start_.initial_version, {{"k8s.io/initial-events-end", "true"}}, out);
    }
    Result<const Change*> change = state_.store.Next(start_.position);
    if (!change) return More::kEnd;  // too slow: the client continues from its last resourceVersion
    if (*change != nullptr) {
      AppendChange(**change, out);
      return std::nullopt;
    }
    if (std::exchange(bookmark_due_, false)) {
      // A watch that starts in the future is not moved back.
      AppendBookmark(std::max(state_.store.version(), start_.after), {}, out);
    }
    if (ended_ || !Served()) return More::kEnd;
    return out.empty() ? More::kLater : More::kReady;
  }

  // A custom kind may go while it is watched.
  [[nodiscard]] bool Served() const {
    const Resource& resource = *call_.resource;
    return !resource.custom ||
           state_.table.Find(resource.group, resource.version, resource.plural) != nullptr;
  }

  void AppendChange(const Change& change, std::string& out) {
    if (change.version <= start_.after) return;
    const StoredObject& after = *change.after;
    if (!call_.path.ns.empty() && after.ns != call_.path.ns) return;
    const StoredObject* before = change.before.get();
    if (change.kind == Change::Kind::kDeleted) {
      if (selector_.Matches(before == nullptr ? after : *before)) {
        AppendEvent("DELETED", after.body, out);
      }
      return;
    }
    const bool was_in = before != nullptr && selector_.Matches(*before);
    const bool is_in = selector_.Matches(after);
    if (is_in) {
      AppendEvent(was_in ? "MODIFIED" : "ADDED", after.body, out);
    } else if (was_in) {
      json gone = ParseStored(*before);
      gone["metadata"]["resourceVersion"] = fmt::format("{}", change.version);
      AppendEvent("DELETED", DumpJson(gone), out);
    }
  }

  void AppendEvent(std::string_view type, const std::string& body, std::string& out) {
    out += "{\"type\":\"";
    out += type;
    out += "\",\"object\":";
    if (call_.out.view == View::kTable) {
      const json value = ParseJsonOrNull(body);
      json table = EmptyTable(call_, std::exchange(columns_, Columns::kNone));
      table["rows"].push_back(TableRow(call_, value));
      table["metadata"]["resourceVersion"] = value["metadata"]["resourceVersion"];
      out += DumpJson(table);
    } else if (call_.out.view == View::kPartial) {
      out += DumpJson(PartialOf(call_, ParseJsonOrNull(body)));
    } else {
      out += WithKind(*call_.resource, body);
    }
    out += "}\n";
  }

  void AppendBookmark(std::int64_t version, const json& annotations, std::string& out) {
    json meta = {{"resourceVersion", fmt::format("{}", version)}};
    if (call_.resource->kind != "Table") meta["creationTimestamp"] = nullptr;
    if (!annotations.is_null()) meta["annotations"] = annotations;
    json object = {{"kind", call_.resource->kind},
                   {"apiVersion", call_.resource->ApiVersion()},
                   {"metadata", std::move(meta)}};
    if (call_.out.view == View::kPartial) object = PartialOf(call_, object);
    if (call_.out.view == View::kTable) {
      json table = EmptyTable(call_, std::exchange(columns_, Columns::kNone));
      table["metadata"]["resourceVersion"] = fmt::format("{}", version);
      if (!annotations.is_null()) {
        table["rows"].push_back({{"cells", json::array()}, {"object", PartialOf(call_, object)}});
      }
      object = std::move(table);
    }
    out += DumpJson({{"type", "BOOKMARK"}, {"object", std::move(object)}});
    out += '\n';
  }

  void PlanBookmark() {
    const Duration left = end_ - state_.timers.Elapsed();
    Duration wait = kBookmarkEvery;
    if (left > kBookmarkBeforeEnd) wait = std::min(wait, left - kBookmarkBeforeEnd);
    if (wait <= Duration::zero() || wait >= left) return;
    bookmark_timer_ = state_.timers.After(wait, [this] {
      bookmark_timer_.reset();
      bookmark_due_ = true;
      PlanBookmark();
      WakeUp();
    });
  }

  void WakeUp() { call_.exchange->Wake(); }

  ServerState& state_;
  Call call_;  // owns the exchange, which must exist to be woken
  Selector selector_;
  WatchStart start_;
  std::size_t next_initial_ = 0;
  Columns columns_ = Columns::kDefined;
  Duration end_{};  // by the clock of the timers
  bool ended_ = false;
  bool bookmark_due_ = false;
  std::optional<Timers::Id> end_timer_;
  std::optional<Timers::Id> bookmark_timer_;
  ObjectStore::Token subscription_;
  Listeners::Token table_subscription_;
};

Result<WatchStart> FindStart(const ServerState& state,
                             const Call& call,
                             const ListOptions& options,
                             std::int64_t version) {
  WatchStart start;
  const std::string resource = call.resource->FullName();
  const bool from_any = options.resource_version.empty() || options.resource_version == "0";
  const bool initial = options.send_initial_events.value_or(from_any);
  if (initial) {
    Snapshot snapshot = state.store.List(resource, call.path.ns);
    TRY_ASSIGN(start.position, state.store.WatchFrom(resource, snapshot.version));
    start.initial_version = snapshot.version;
    start.initial = std::move(snapshot.objects);
    start.mark_initial_end = options.send_initial_events.has_value() && options.bookmarks;
    return start;
  }
  const std::int64_t current = state.store.version();
  start.after = from_any ? current : version;
  TRY_ASSIGN(start.position, state.store.WatchFrom(resource, std::min(start.after, current)));
  return start;
}

}  // namespace

void HandleWatch(ServerState& state, const CallRef& call, const ListOptions& options) {
  const ApiResult<std::int64_t> version = ReadVersion(options.resource_version);
  if (!version) return AnswerError(*call, version.error());
  ApiResult<Selector> selector = ReadSelector(*call->resource, options);
  if (!selector) return AnswerError(*call, selector.error());

  net::HttpResponse head = ResponseHead(*call, 200);
  Result<WatchStart> start = FindStart(state, *call, options, *version);
  if (!start) {
    ApiError gone = FromStore(*call->resource, "", start.error());
    gone.kind.clear();
    head.body = DumpJson({{"type", "ERROR"}, {"object", ToStatus(gone)}}) + "\n";
    return call->exchange->Respond(std::move(head));
  }
  auto source = std::make_unique<WatchSource>(state, call, std::move(*selector), std::move(*start));
  source->SetTimers(options);
  call->exchange->RespondStream(std::move(head), std::move(source));
}

}  // namespace strata::apiserver
