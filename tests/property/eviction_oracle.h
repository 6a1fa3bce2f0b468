#pragma once

#include <cstdint>
#include <optional>
#include <ostream>
#include <string>
#include <tuple>
#include <vector>

#include "sched/cycle_result.h"
#include "tests/property/crowd.h"

// The cheapest way to make room for the one gang of a Crowd, found by trying everything: a second
// opinion that shares no code with the scheduler.
namespace strata::testing {

// What a plan costs, in the order in which costs are compared for this gang.
struct PlanCost {
  std::int64_t gangs = 0;
  std::vector<std::tuple<int, std::int64_t, std::int64_t>> levels;  // priority, gangs, surplus pods
  std::vector<std::int64_t> rest;  // pods and tier (soft gangs: tier and pods), work lost, grace

  auto operator<=>(const PlanCost&) const = default;
};
std::ostream& operator<<(std::ostream& os, const PlanCost& cost);

// None when nothing that the action may evict makes enough room.
[[nodiscard]] std::optional<PlanCost> CheapestPlan(const ClusterBuilder& cluster,
                                                   const CrowdGang& gang,
                                                   const std::string& action);
// The cost of what a cycle decided.
[[nodiscard]] PlanCost CostOf(const ClusterBuilder& cluster,
                              const CrowdGang& gang,
                              const CycleResult::EvictionPlan& plan);

}  // namespace strata::testing
