#pragma once

#include <cstdint>
#include <optional>

#include "base/result.h"
#include "sched/registry.h"

namespace strata {

// All or nothing: a job starts when enough of its pods have a node. Serves JobGatePoint,
// SubJobGatePoint and OrderPoint (jobs and sub-jobs that are not ready come first). No arguments.
//
// "Enough" is, all together:
//   * minMember pods of the job;
//   * minTaskMember pods of each role, unless minMember is below the sum of these;
//   * minSubGroups sub-groups of each policy that have enough pods themselves (subGroupSize).
// A pod counts as ready when it has a node or has succeeded, or is BestEffort; as pipelined also
// when it waits for a node; as valid also while it is pending. A job that has not enough valid
// pods is refused: NotEnoughPodsOfTask (roles, sub-groups) or NotEnoughTasks (minMember).
[[nodiscard]] Result<MadePlugin> MakeGang(const PluginConfig& config, ResourceNames& resources);

}  // namespace strata
