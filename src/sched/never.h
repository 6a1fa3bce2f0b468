#pragma once

#include <optional>

#include "base/ids.h"
#include "model/cluster_state.h"
#include "sched/extension.h"
#include "sched/shortage.h"

// "Never" as opposed to "not yet": what could not be placed even if nothing else ran.
namespace strata {

// What has to fit, and where.
struct NeverQuery {
  const Wanted* wanted = nullptr;
  Wanted own;          // the job's own tasks that hold room in `within`, and cannot leave it
  HyperNodeId within;  // where the search begins
  bool bounded = false;
  std::int32_t tier = 0;  // where bounded: all in one HyperNode of this tier or below
  std::int32_t tier_to_say = 0;
};

// The reason and a clause that follows another sentence; none when empty nodes would do. One of:
// PodLargerThanNode, GangLargerThanCluster, GangLargerThanHyperNode, HyperNodeHeldByOwnPods.
// Only amounts count here, so what passes may still not fit. Pure. COST: a few nodes where the gang
// would fit; else the nodes of one HyperNode of each tier, and of those that may hold more.
[[nodiscard]] std::optional<Refusal> FindNever(const ClusterState& state, const NeverQuery& query);

// Whether a verdict has one of these reasons.
[[nodiscard]] bool IsNever(const Refusal& refusal);

}  // namespace strata
