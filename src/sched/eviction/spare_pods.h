#pragma once

#include "base/ids.h"
#include "model/cluster_state.h"

// Which pods a gang can lose and still run.
namespace strata {

// True when the job has all its minimums (pods, pods of each role, sub-groups of each policy) by
// pods that have arrived: bound, running or succeeded ones, and BestEffort ones, which need no
// room. Pods that are still being bound may fail to arrive and do not count.
[[nodiscard]] bool HasMinimums(const Job& job);

// True when the job has all its minimums now and would keep them without this pod. A sub-group of
// which more run than its policy needs may be given up: its pods are all spare once it lacks one.
// REQUIRES: the task is bound or running, and belongs to a job.
[[nodiscard]] bool IsSpare(const ClusterState& state, TaskId task);
// The same about the minimums that the pod counts for: others the job may lack.
[[nodiscard]] bool IsBeyondMinimums(const ClusterState& state, TaskId task);
// False when no pod of the job is spare. COST: O(roles + sub-groups), whatever its pods are.
[[nodiscard]] bool MayHaveSpare(const Job& job);

}  // namespace strata
