#pragma once

#include "base/result.h"
#include "sched/registry.h"

namespace strata {

// Gives each queue what its spec says (capacity_tree.h), instead of a part by weight. Serves
// OrderPoint (queues), QuotaPoint (no queue is ever overused) and JobGatePoint (Enqueueable,
// OnEnqueued). With the switch enableHierarchy queues form a tree by spec.parent.
//
//   * Queues come by higher priority, then by the smaller share of what they deserve, then those
//     that deserve something. In a tree leaves come first, and two leaves are compared where the
//     ways to them part.
//   * A queue may have more while what it has and the request stay within its real capability, and
//     so for each of its ancestors, in every requested resource but `pods`. In a tree a request
//     also leaves free what siblings, at each level, are guaranteed and do not have, unless it
//     stays within the guarantee of its own side.
//   * A job may enter under the same rule, its minResources being the request. What was promised to
//     jobs that have entered, less what elastic jobs have beyond their minimum, counts as had.
//
// Refusals: QueueClosed (of an ancestor, too), QueueNotLeaf, QueueParentMissing, QueueCycle,
// and those of LimitKind. Comparisons allow one unit.
//
// Argument ancestorReclaimLevel (integer): how many ancestors of a queue count in reclaim
// (reclaim_rules.h).
[[nodiscard]] Result<MadePlugin> MakeCapacity(const PluginConfig& config, ResourceNames& resources);

}  // namespace strata
