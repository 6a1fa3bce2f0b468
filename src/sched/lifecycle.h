#pragma once

#include "model/cluster_state.h"

// What a cycle does to jobs at its two ends.
namespace strata {

// Drops the job's (and its sub-jobs') HyperNode when that is gone or nothing runs there any more,
// and finds it again from where the tasks run when it is not known, as after a restart: the lowest
// HyperNode that holds them all.
void RecoverAllocatedHyperNode(ClusterState& state, JobId job);

[[nodiscard]] bool IsBestEffortOnly(const ClusterState& state, const Job& job);

// The PodGroup phase at the end of a cycle, by Volcano's rule. `ready`: enough tasks have a node.
[[nodiscard]] JobPhase NextPhase(const Job& job, bool ready);

}  // namespace strata
