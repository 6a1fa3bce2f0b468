#pragma once

#include <compare>
#include <cstdint>
#include <span>
#include <vector>

#include "base/clock.h"
#include "base/ids.h"
#include "model/cluster_state.h"
#include "sched/victim_point.h"

// What it costs to evict pods. Costs are compared field by field; less is better.
namespace strata {

enum class VictimOrder : std::uint8_t {
  kSafeFirst,      // as few gangs are broken as possible, whatever their priority
  kPriorityFirst,  // nothing of a more important job goes where less important ones would do
};

// What one unit adds to a plan.
struct UnitPrice {
  std::int32_t priority = 0;  // of its job
  std::int64_t pods = 0;
  std::int64_t lost_work = 0;  // seconds since start or last checkpoint x thousandths of devices
  std::int32_t grace_seconds = 0;  // of the pod that may take longest to stop
};

// When the work began that the pod would lose; the epoch when that is not known.
[[nodiscard]] Disruption::Moment WorkSince(const Disruption& disruption);
// Thousandths of a device; a pod without devices counts a core as a thousandth.
[[nodiscard]] std::int64_t DevicesOf(const ResourceNames& names, const Resources& request);
[[nodiscard]] UnitPrice PriceOf(const ClusterState& state, const VictimUnit& unit, Time now);

struct Cost {
  // What goes of the jobs of one priority.
  struct Level {
    std::int32_t priority = 0;
    std::int64_t gangs = 0;
    std::int64_t surplus = 0;  // pods

    auto operator<=>(const Level&) const = default;
  };

  std::int64_t gangs = 0;     // broken in all; stays 0 with kPriorityFirst
  std::vector<Level> levels;  // from the highest priority down
  std::int64_t pods = 0;
  std::int64_t lost_work = 0;
  std::int32_t grace_seconds = 0;

  auto operator<=>(const Cost&) const = default;

  void Add(VictimUnit::Kind kind, const UnitPrice& price, VictimOrder order);
  // Gangs that break, whatever the order.
  [[nodiscard]] std::int64_t BrokenGangs() const;
};

// True when `a` alone costs less than `b` alone, as Costs would say.
[[nodiscard]] bool CostsLess(VictimUnit::Kind a_kind,
                             const UnitPrice& a,
                             VictimUnit::Kind b_kind,
                             const UnitPrice& b,
                             VictimOrder order);

}  // namespace strata
