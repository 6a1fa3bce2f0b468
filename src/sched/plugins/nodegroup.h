#pragma once

#include "base/result.h"
#include "sched/registry.h"

namespace strata {

// Queues and the node groups (label volcano.sh/nodegroup-name) that their pods may use, by
// spec.affinity of the queue. Serves NodeFilterPoint and NodeScorePoint. The
// annotation volcano.sh/nodegroup-resource-limits of a queue says how much of a group it may have.
//
// Arguments: strict (bool, true: nodes in no group take no pod), enablePreferredOrder (bool, false:
// a preferred group scores by its place in the list). The switch enableHierarchy lets a queue
// without terms have those of the nearest queue above it.
[[nodiscard]] Result<MadePlugin> MakeNodegroup(const PluginConfig& config,
                                               ResourceNames& resources);

}  // namespace strata
