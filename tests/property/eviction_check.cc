#include "tests/property/eviction_check.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace strata::testing {

EvictionCheck::EvictionCheck(const ClusterState& state, std::string action, Time now)
    : state_(state), action_(std::move(action)), now_(now) {
  std::map<JobId, std::vector<TaskId>> pods;
  for (const TaskId id : state.workload().AllTasks()) {
    const Task& task = state.workload().task(id);
    if (task.status != TaskStatus::kRunning) continue;
    ran_.insert(id);
    pods[task.job].push_back(id);
  }
  for (const auto& [job, tasks] : pods) {
    was_complete_[job] = IsComplete(state.workload().job(job), tasks);
  }
}

bool EvictionCheck::HasSubGroups(const Job& job, const std::vector<TaskId>& pods) const {
  std::map<std::uint32_t, std::int32_t> sizes;
  for (const TaskId pod : pods) ++sizes[state_.workload().task(pod).sub_job];
  for (std::size_t policy = 0; policy < job.spec.sub_groups.size(); ++policy) {
    const auto complete = std::count_if(sizes.begin(), sizes.end(), [&](const auto& entry) {
      const SubJob& sub_job = job.sub_jobs[entry.first];
      return sub_job.key && sub_job.key->policy == policy &&
             entry.second >= job.spec.sub_groups[policy].size;
    });
    if (complete < job.spec.sub_groups[policy].min_sub_groups) return false;
  }
  return true;
}

bool EvictionCheck::IsComplete(const Job& job, const std::vector<TaskId>& pods) const {
  if (static_cast<std::int32_t>(pods.size()) < job.spec.min_available) return false;
  if (!HasSubGroups(job, pods)) return false;
  std::int32_t sum = 0;
  for (const auto& [role, minimum] : job.spec.min_task_member) sum += minimum;
  if (sum > job.spec.min_available) return true;
  return std::all_of(
      job.spec.min_task_member.begin(), job.spec.min_task_member.end(), [&](const auto& entry) {
        return std::count_if(pods.begin(), pods.end(), [&](TaskId id) {
                 return job.roles[state_.workload().task(id).role].name == entry.first;
               }) >= entry.second;
      });
}

bool EvictionCheck::IsProtected(const Task& task) const {
  const Disruption& disruption = task.disruption;
  const Job& job = state_.workload().job(task.job);
  return !disruption.preemptable || disruption.critical || job.spec.preemptable == false ||
         Time(disruption.runs_since) + std::chrono::seconds(disruption.cooldown_seconds) > now_;
}

bool EvictionCheck::CouldStay(const std::vector<TaskId>& pods) const {
  // A gang that goes for a later claimant may leave more room than that one takes.
  if (claimants_.size() > 1) return false;
  std::map<NodeId, Resources> on_node;
  for (const TaskId id : pods) {
    const Task& task = state_.workload().task(id);
    on_node[task.node].Add(state_.classes().spec(task.class_id).request);
  }
  return std::all_of(on_node.begin(), on_node.end(), [&](const auto& entry) {
    return entry.second.FitsIn(state_.nodes().FutureIdle(entry.first));
  });
}

void EvictionCheck::CheckScope(const Job& victim) {
  const bool preempts = action_.ends_with("preempt");
  const bool any = std::any_of(claimants_.begin(), claimants_.end(), [&](JobId id) {
    const Job& claimant = state_.workload().job(id);
    if (preempts) {
      return claimant.queue == victim.queue && victim.spec.priority < claimant.spec.priority;
    }
    return claimant.queue != victim.queue && state_.workload().queue(victim.queue).spec.reclaimable;
  });
  if (!any) Fault(victim.spec.name + " lost pods, and no claimant may take them");
}

void EvictionCheck::CheckVictim(JobId id, const Loss& loss) {
  const Job& job = state_.workload().job(id);
  for (const TaskId task : loss.gone) {
    if (IsProtected(state_.workload().task(task))) {
      Fault(state_.workload().task(task).name + " is protected and goes");
    }
  }
  CheckScope(job);
  const bool keeps_minimum = loss.was_complete && IsComplete(job, loss.left);
  const bool by_gang = action_.starts_with("gang");
  if (!keeps_minimum && !loss.left.empty()) Fault(job.spec.name + " loses a part of its gang");
  if (!keeps_minimum && !by_gang) Fault(job.spec.name + " is broken by " + action_);
  if (!keeps_minimum && CouldStay(loss.gone)) Fault("gang " + job.spec.name + " could stay");
  if (!keeps_minimum) return;
  for (const TaskId task : loss.gone) {
    if (CouldStay({task})) Fault(state_.workload().task(task).name + " could stay");
  }
}

void EvictionCheck::CheckClaimant(JobId id) {
  const Job& job = state_.workload().job(id);
  if (job.counts.Of(TaskStatus::kPipelined) < job.spec.min_available) {
    Fault(job.spec.name + " waits with less than its minimum");
  }
  std::vector<TaskId> placed;
  for (const SubJob& sub_job : job.sub_jobs) {
    std::vector<TaskId> of_sub_job;
    for (const TaskId task : sub_job.tasks) {
      if (state_.workload().task(task).node.valid()) of_sub_job.push_back(task);
    }
    placed.insert(placed.end(), of_sub_job.begin(), of_sub_job.end());
    if (sub_job.key) CheckTier(sub_job.topology, of_sub_job, "a sub-group of " + job.spec.name);
  }
  if (!HasSubGroups(job, placed)) Fault(job.spec.name + " waits with too few sub-groups");
  CheckTier(job.spec.topology, placed, job.spec.name);
}

void EvictionCheck::CheckTier(const TopologySpec& topology,
                              const std::vector<TaskId>& pods,
                              const std::string& what) {
  if (topology.mode != TopologySpec::Mode::kHard || pods.empty()) return;
  HyperNodeId common;
  for (const TaskId pod : pods) {
    const NodeId node = state_.workload().task(pod).node;
    common = state_.tree().Lca(common, state_.tree().LeafOf(state_.tree().ChainOf(node)));
  }
  if (state_.tree().at(common).tier > topology.highest_tier) Fault(what + " exceeds its tier");
}

std::string EvictionCheck::FaultsInside() {
  std::map<JobId, Loss> losses;
  for (const TaskId id : ran_) {
    const Task& task = state_.workload().task(id);
    Loss& loss = losses[task.job];
    (task.status == TaskStatus::kReleasing ? loss.gone : loss.left).push_back(id);
  }
  for (const TaskId id : state_.workload().AllTasks()) {
    const Task& task = state_.workload().task(id);
    if (task.status == TaskStatus::kPipelined) claimants_.insert(task.job);
  }
  for (auto& [job, loss] : losses) {
    loss.was_complete = was_complete_.at(job);
    if (!loss.gone.empty()) CheckVictim(job, loss);
  }
  for (const JobId id : claimants_) CheckClaimant(id);
  for (const NodeId node : state_.nodes().all()) {
    const auto future = state_.nodes().FutureIdle(node);
    if (std::any_of(future.begin(), future.end(), [](Amount amount) { return amount < 0; })) {
      Fault("node " + state_.nodes().spec(node).name + " is promised twice");
    }
  }
  return std::move(faults_);
}

}  // namespace strata::testing
