#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "sched/config.h"
#include "sched/eviction/cost.h"
#include "sched/victim_point.h"

namespace strata {

// What one of the four actions that evict may do: preempt, reclaim, gangpreempt, gangreclaim.
struct EvictionSettings {
  std::string action;
  EvictionKind kind = EvictionKind::kPreempt;
  bool by_gang = false;           // gangpreempt, gangreclaim
  bool allow_whole_gangs = true;  // of those two; the others ask the plugins (SparesGangs)
  VictimOrder order = VictimOrder::kSafeFirst;
  std::size_t max_domains = 8;  // HyperNodes in which a plan is tried out
  bool dry_run = false;
  std::size_t max_gangs_per_minute = 0;  // 0: no limit
};

[[nodiscard]] bool IsEvictionAction(std::string_view name);
// Takes these actions out of the configuration, and returns the names of those that were there.
std::vector<std::string> RemoveEvictionActions(SchedulerConfig& config);

struct EvictionArguments {
  EvictionSettings settings;
  std::vector<std::string> warnings;  // begin with the argument
};

// Reads the arguments of such an action (docs/configuration.md). kInvalidArgument when one has the
// wrong type or an unknown value. REQUIRES: IsEvictionAction.
[[nodiscard]] Result<EvictionArguments> ReadEvictionSettings(const ActionConfig& action);

}  // namespace strata
