#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "base/ids.h"
#include "model/cluster_state.h"
#include "sched/cycle_result.h"
#include "sched/plugin_set.h"
#include "sched/topology_limit.h"

namespace strata {

// How far apart the tasks of each job may be, read from the networkTopology of the jobs against the
// HyperNode tree, with a warning where a constraint does not bind.
//
// Lives as long as the scheduler: a cycle looks only at jobs that changed since the previous one,
// and at all jobs when the tree changed.
class JobTopologies {
 public:
  // REQUIRES: `state` outlives it.
  JobTopologies(ClusterState& state, const PluginSet& plugins)
      : state_(state), can_search_(plugins.points().gradient != nullptr) {}

  // Brings everything up to date with the state, and recovers the allocated HyperNode of the jobs
  // that changed (lifecycle.h). To be called at the beginning of a cycle.
  void Refresh();

  // The highest tier that the tasks of the job, or of one of its sub-jobs, may span.
  [[nodiscard]] const TopologyLimit& LimitOf(JobId job) const;
  [[nodiscard]] const TopologyLimit& LimitOf(JobId job, std::size_t sub_job) const;
  // Why the topology of the job or of a sub-job cannot be resolved; none when it can.
  [[nodiscard]] std::optional<Refusal> WhyImpossible(JobId job) const;
  // Sorted, without duplicates; the same pointer while there is no change.
  [[nodiscard]] std::shared_ptr<const std::vector<CycleResult::Warning>> Warnings();

 private:
  // Object, reason, message.
  using Warning = std::tuple<std::string, std::string, std::string>;
  struct Limits {
    TopologyLimit job;
    std::vector<TopologyLimit> sub_jobs;
  };
  void Resolve(JobId id);
  void Warn(JobId id, const char* reason, const std::string& message);
  // Warns of sub-group policies whose topology does not bind pods that it seems to be meant for.
  void WarnOfPolicies(JobId id);

  ClusterState& state_;
  bool can_search_;                             // a plugin serves the gradient
  std::map<JobId, Limits> limits_;              // of jobs with a topology that binds
  std::map<JobId, std::set<Warning>> unbound_;  // by job; only jobs that have warnings
  std::shared_ptr<const std::vector<CycleResult::Warning>> warnings_;  // null: to be listed anew
  std::uint64_t tree_version_ = 0;  // the tree that the limits were resolved against
  std::uint64_t seen_ = 0;          // changes of jobs before this version are included
};

}  // namespace strata
