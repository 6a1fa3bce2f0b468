#include "sched/lifecycle.h"

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace strata {
namespace {

// The lowest HyperNode above all nodes that tasks of these sub-jobs hold; none when no task holds
// one.
HyperNodeId CommonHyperNode(const ClusterState& state, std::span<const SubJob> sub_jobs) {
  const HyperNodeTree& tree = state.tree();
  std::optional<std::vector<HyperNodeId>> common;  // ascending by (tier, name), like every chain
  const auto take = [&](TaskId id) {
    const Task& task = state.workload().task(id);
    if (!task.node.valid() || !IsAllocated(task.status)) return;
    const auto chain = tree.HyperNodesOf(tree.ChainOf(task.node));
    if (!common) {
      common.emplace(chain.begin(), chain.end());
    } else {
      std::erase_if(*common, [&](HyperNodeId id2) {
        return std::find(chain.begin(), chain.end(), id2) == chain.end();
      });
    }
  };
  for (const SubJob& sub_job : sub_jobs) {
    std::for_each(sub_job.tasks.begin(), sub_job.tasks.end(), take);
  }
  return common ? common->front() : HyperNodeId{};  // the top is in every chain
}

// The tree may have changed since the tasks were placed.
bool HoldsAll(const ClusterState& state, HyperNodeId hypernode, const SubJob& sub_job) {
  return std::all_of(sub_job.tasks.begin(), sub_job.tasks.end(), [&](TaskId id) {
    const Task& task = state.workload().task(id);
    return !task.node.valid() || !IsAllocated(task.status) ||
           state.tree().Contains(hypernode, task.node);
  });
}

// The HyperNode of the sub-job that counts for that of the job: the known one, else the one found.
std::string Recovered(const ClusterState& state, const SubJob& sub_job) {
  if (sub_job.counts.Allocated() == 0) return "";
  const auto remembered = state.tree().Find(sub_job.allocated_hypernode);
  if (remembered && HoldsAll(state, *remembered, sub_job)) return sub_job.allocated_hypernode;
  const HyperNodeId found = CommonHyperNode(state, std::span(&sub_job, 1));
  return found.valid() ? state.tree().at(found).name : "";
}

}  // namespace

void RecoverAllocatedHyperNode(ClusterState& state, JobId id) {
  const HyperNodeTree& tree = state.tree();
  HyperNodeId common;
  bool changed = false;
  bool joins = false;  // HyperNodes of which none is above the other
  for (std::size_t i = 0; i < state.workload().job(id).sub_jobs.size(); ++i) {
    const SubJob& sub_job = state.workload().job(id).sub_jobs[i];
    const std::string name = Recovered(state, sub_job);
    if (name != sub_job.allocated_hypernode) {
      state.workload().SetAllocatedHyperNode(id, i, name);
      changed = true;
    }
    if (const auto found = tree.Find(name)) {
      const HyperNodeId before = common;
      common = tree.Lca(common, *found);
      joins = joins || (before.valid() && common != before && common != *found);
    }
  }
  const Job& job = state.workload().job(id);
  if (joins) {
    // A node that is in several HyperNodes may share one of them with the others, below the LCA.
    const HyperNodeId shared = CommonHyperNode(state, job.sub_jobs);
    if (shared.valid() && tree.at(shared).tier < tree.at(common).tier) common = shared;
  }
  if (job.counts.Allocated() == 0) {
    state.workload().SetAllocatedHyperNode(id, "");
    return;
  }
  const auto remembered = tree.Find(job.allocated_hypernode);
  const bool above = remembered && common.valid() && tree.IsAncestorOrSelf(*remembered, common);
  if (changed || !above) {
    state.workload().SetAllocatedHyperNode(id, common.valid() ? tree.at(common).name : "");
  }
}

bool IsBestEffortOnly(const ClusterState& state, const Job& job) {
  bool any = false;
  for (const SubJob& sub_job : job.sub_jobs) {
    for (const TaskId id : sub_job.tasks) {
      any = true;
      if (!state.workload().task(id).best_effort) return false;
    }
  }
  return any;
}

JobPhase NextPhase(const Job& job, bool ready) {
  const TaskCounts& counts = job.counts;
  if (counts.Total() == 0) return job.phase;
  const std::int32_t releasing = counts.Of(TaskStatus::kReleasing);
  const std::int32_t finished = counts.Of(TaskStatus::kSucceeded) + counts.Of(TaskStatus::kFailed);
  const std::int32_t scheduled =
      counts.Of(TaskStatus::kBound) + counts.Of(TaskStatus::kRunning) + finished + releasing;
  // Part of the gang runs and the rest has no place. While its own pods are still terminating it is
  // only in between.
  const bool filled_by_releasing = counts.Ready() + releasing >= job.spec.min_available;
  if (counts.Of(TaskStatus::kRunning) > 0 && !ready && !filled_by_releasing) {
    return JobPhase::kUnknown;
  }
  if (scheduled >= std::max(job.spec.min_available, 1)) {
    return scheduled == finished ? JobPhase::kCompleted : JobPhase::kRunning;
  }
  return job.phase == JobPhase::kInqueue ? JobPhase::kInqueue : JobPhase::kPending;
}

bool JobPhases::Update(ClusterState& state, const PluginSet& plugins) {
  auto jobs = state.workload().JobsTouchedSince(seen_);
  if (!jobs) jobs.emplace(state.workload().jobs().begin(), state.workload().jobs().end());
  bool changed = false;
  for (const JobId id : *jobs) {
    const Job& job = state.workload().job(id);
    if (!job.alive) continue;
    const JobPhase phase = NextPhase(job, plugins.JobReady(job));
    if (phase == job.phase) continue;
    state.workload().SetJobPhase(id, phase);
    changed = true;
  }
  seen_ = state.workload().NextJobVersion();
  return changed;
}

}  // namespace strata
