#pragma once

#include <cstdint>

#include "model/cluster_state.h"
#include "sched/plugin_set.h"

// What a cycle does to jobs at its beginning and at its end.
namespace strata {

// Clears the allocated HyperNode of the job and of its sub-jobs when it no longer exists or nothing
// runs there, and derives it from where the tasks run when it is unknown, as after a restart: the
// lowest HyperNode that contains all of them.
void RecoverAllocatedHyperNode(ClusterState& state, JobId job);

// True when the job has tasks and all of them are BestEffort.
[[nodiscard]] bool IsBestEffortOnly(const ClusterState& state, const Job& job);

// The PodGroup phase at the end of a cycle, by Volcano's rule. `ready`: enough tasks have a node.
[[nodiscard]] JobPhase NextPhase(const Job& job, bool ready);

// Gives jobs their NextPhase at the end of each cycle. Lives as long as the scheduler, so that a
// cycle looks only at jobs that changed since the previous one.
class JobPhases {
 public:
  // True when at least one phase changed.
  bool Update(ClusterState& state, const PluginSet& plugins);

 private:
  std::uint64_t seen_ = 0;  // changes of jobs before this version are included
};

}  // namespace strata
