#pragma once

#include "base/result.h"
#include "sched/registry.h"

namespace strata {

// Roles of a job that want to share nodes, and roles that do not (annotations
// volcano.sh/task-topology-affinity, -anti-affinity and -task-order of the PodGroup). Serves
// OrderPoint (tasks: bucket by bucket) and TaskScorePoint. The buckets (task_buckets.h) are those
// of the beginning of the cycle.
//
// Argument: task-topology.weight (integer, 1) of the score.
[[nodiscard]] Result<MadePlugin> MakeTaskTopology(const PluginConfig& config,
                                                  ResourceNames& resources);

}  // namespace strata
