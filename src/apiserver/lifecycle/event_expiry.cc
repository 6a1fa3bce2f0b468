#include "apiserver/lifecycle/event_expiry.h"

#include <algorithm>
#include <chrono>
#include <string_view>
#include <utility>

#include <nlohmann/json.hpp>

#include "apiserver/lifecycle/deletion.h"
#include "apiserver/request/call.h"
#include "apiserver/request/query_options.h"
#include "base/timestamp.h"
#include "json/access.h"

namespace strata::apiserver {
namespace {

using nlohmann::json;

constexpr std::size_t kPeriods = 60;
constexpr std::size_t kBuckets = kPeriods + 1;  // a write may come at the end of its period
// Deleted in one turn: the loop serves others in between.
constexpr std::size_t kAtOnce = 200;
constexpr Duration kBetweenTurns = std::chrono::milliseconds(5);

// The latest time that an Event names.
Time WrittenAt(const json& event) {
  Time latest{};
  for (const std::string_view text :
       {std::string_view(TextAt(event, {"lastTimestamp"})),
        std::string_view(TextAt(event, {"eventTime"})),
        std::string_view(TextAt(event, {"series", "lastObservedTime"})),
        std::string_view(TextAt(event, {"metadata", "creationTimestamp"}))}) {
    if (const Result<Time> time = ParseTimestamp(text)) latest = std::max(latest, *time);
  }
  return latest;
}

}  // namespace

EventExpiry::EventExpiry(ServerState& state)
    : state_(state), resource_(state.table.Find("", "v1", "events")) {}

void EventExpiry::Start() {
  if (state_.options.event_ttl <= Duration(0)) return;
  const std::string name = resource_->FullName();
  buckets_.resize(kBuckets);
  AddStored();
  position_ = {.resource = name, .next = 0, .seen = state_.store.version()};
  token_ = state_.store.Subscribe(name, [this] { TakeChanges(); });
}

void EventExpiry::AddStored() {
  const Time now = state_.now();
  const Duration period = state_.options.event_ttl / kPeriods;
  state_.store.VisitLatest(resource_->FullName(), "", [&](const StoredObject& event) {
    const Duration age = std::max(now - WrittenAt(ParseStored(event)), Duration(0));
    const auto periods = static_cast<std::size_t>(std::min<Duration::rep>(age / period, kPeriods));
    buckets_[kPeriods - periods].push_back(
        {KeyOf(*resource_, event.ns, event.name), event.version});
    return true;
  });
  ScheduleTick();
}

void EventExpiry::TakeChanges() {
  for (;;) {
    const Result<const Change*> next = state_.store.Next(position_);
    if (!next) {  // more than the history holds: all of them count as written now
      position_.seen = state_.store.version();
      AddStored();
      continue;
    }
    if (*next == nullptr) return ScheduleTick();
    const Change& change = **next;
    if (change.kind == Change::Kind::kDeleted) continue;
    buckets_.back().push_back(
        {KeyOf(*resource_, change.after->ns, change.after->name), change.version});
  }
}

// No timer while there is nothing to expire.
void EventExpiry::ScheduleTick() {
  const bool empty =
      std::all_of(buckets_.begin(), buckets_.end(), [](const Bucket& b) { return b.empty(); });
  if (ticking_ || empty) return;
  ticking_ = true;
  state_.timers.After(state_.options.event_ttl / kPeriods,
                      [this, alive = std::weak_ptr(state_.alive)] {
                        if (!alive.expired()) Tick();
                      });
}

void EventExpiry::Tick() {
  ticking_ = false;
  expired_.insert(expired_.end(), buckets_.front().begin(), buckets_.front().end());
  buckets_.pop_front();
  buckets_.emplace_back();
  ScheduleTick();
  if (!std::exchange(deleting_, true)) DeleteExpired();
}

void EventExpiry::DeleteExpired() {
  const std::size_t turn = std::min(expired_.size(), kAtOnce);
  const Bucket now(expired_.end() - static_cast<std::ptrdiff_t>(turn), expired_.end());
  expired_.resize(expired_.size() - turn);
  for (const Written& written : now) {
    const ObjectRef live = state_.store.GetLatest(written.key);
    if (live == nullptr || live->version != written.version) continue;
    DeleteObject(
        state_,
        resource_,
        live,
        {},
        [this, written, alive = std::weak_ptr(state_.alive)](const ApiResult<Deleted>& deleted) {
          if (deleted || alive.expired()) return;
          buckets_.front().push_back(written);  // again with the next period
          ScheduleTick();
        });
  }
  deleting_ = !expired_.empty();
  if (!deleting_) return;
  state_.timers.After(kBetweenTurns, [this, alive = std::weak_ptr(state_.alive)] {
    if (!alive.expired()) DeleteExpired();
  });
}

}  // namespace strata::apiserver
