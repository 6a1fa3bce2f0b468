#include "sched/eviction/cost.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <tuple>

#include "model/resources.h"

namespace strata {
namespace {

std::int64_t SaturatingMultiply(std::int64_t a, std::int64_t b) {
  std::int64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? std::numeric_limits<std::int64_t>::max()
                                                : product;
}

std::int64_t SaturatingAdd(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? std::numeric_limits<std::int64_t>::max() : sum;
}

std::int64_t SecondsLost(const Disruption& disruption, Time now) {
  const Disruption::Moment since = WorkSince(disruption);
  if (since == Disruption::Moment{} || Time(since) >= now) return 0;
  return std::chrono::duration_cast<std::chrono::seconds>(now - Time(since)).count();
}

}  // namespace

Disruption::Moment WorkSince(const Disruption& disruption) {
  return std::max(disruption.runs_since, disruption.saved_at);
}

std::int64_t DevicesOf(const ResourceNames& names, const Resources& request) {
  std::int64_t devices = 0;
  for (std::size_t i = 0; i < request.size(); ++i) {
    const auto id = IdAt<ResourceId>(i);
    if (id == kCpu || UnitOf(names.name(id)) != ResourceUnit::kMilli) continue;
    devices = SaturatingAdd(devices, request.Get(id));
  }
  return devices > 0 ? devices : request.Get(kCpu) / 1000;
}

UnitPrice PriceOf(const ClusterState& state, const VictimUnit& unit, Time now) {
  UnitPrice price;
  price.priority = state.workload().job(unit.job).spec.priority;
  price.pods = static_cast<std::int64_t>(unit.tasks.size());
  for (const TaskId id : unit.tasks) {
    const Task& task = state.workload().task(id);
    const std::int64_t devices = DevicesOf(state.resource_names(), state.workload().CountedOf(id));
    const std::int64_t lost = SaturatingMultiply(SecondsLost(task.disruption, now), devices);
    price.lost_work = SaturatingAdd(price.lost_work, lost);
    price.grace_seconds = std::max(price.grace_seconds, task.disruption.grace_seconds);
  }
  return price;
}

void Cost::Add(VictimUnit::Kind kind, const UnitPrice& price, VictimOrder order) {
  const bool breaks_gang = kind == VictimUnit::Kind::kGang;
  if (breaks_gang && order == VictimOrder::kSafeFirst) ++gangs;
  auto level = std::find_if(levels.begin(), levels.end(), [&](const Level& one) {
    return one.priority <= price.priority;
  });
  if (level == levels.end() || level->priority != price.priority) {
    level = levels.insert(level, {.priority = price.priority, .gangs = 0, .surplus = 0});
  }
  if (breaks_gang) {
    ++level->gangs;
  } else {
    level->surplus += price.pods;
  }
  pods += price.pods;
  lost_work = SaturatingAdd(lost_work, price.lost_work);
  grace_seconds = std::max(grace_seconds, price.grace_seconds);
}

std::int64_t Cost::BrokenGangs() const {
  std::int64_t broken = 0;
  for (const Level& level : levels) broken += level.gangs;
  return broken;
}

bool CostsLess(VictimUnit::Kind a_kind,
               const UnitPrice& a,
               VictimUnit::Kind b_kind,
               const UnitPrice& b,
               VictimOrder order) {
  const auto key = [&](VictimUnit::Kind kind, const UnitPrice& price) {
    const bool gang = kind == VictimUnit::Kind::kGang;
    return std::tuple(gang && order == VictimOrder::kSafeFirst,
                      price.priority,
                      gang,
                      gang ? 0 : price.pods,
                      price.pods,
                      price.lost_work,
                      price.grace_seconds);
  };
  return key(a_kind, a) < key(b_kind, b);
}

}  // namespace strata
