#include "sched/eviction/spare_pods.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "sched/plugins/gang_rules.h"

namespace strata {
namespace {

std::int32_t Arrived(const TaskCounts& counts) {
  return counts.Of(TaskStatus::kBound) + counts.Of(TaskStatus::kRunning) +
         counts.Of(TaskStatus::kSucceeded) + counts.pending_best_effort;
}

// Sub-groups of one policy that are complete.
std::int64_t CompleteSubGroups(const Job& job, std::size_t policy) {
  return std::count_if(job.sub_jobs.begin(), job.sub_jobs.end(), [&](const SubJob& sub_job) {
    return sub_job.key && sub_job.key->policy == policy &&
           Arrived(sub_job.counts) >= sub_job.min_available;
  });
}

}  // namespace

bool HasMinimums(const Job& job) {
  if (Arrived(job.counts) < job.spec.min_available) return false;
  const auto met = [](const Role& role) { return Arrived(role.counts) >= role.min_member; };
  if (RolesCount(job) && !std::all_of(job.roles.begin(), job.roles.end(), met)) return false;
  for (std::size_t i = 0; i < job.spec.sub_groups.size(); ++i) {
    const std::int32_t wanted = job.spec.sub_groups[i].min_sub_groups;
    if (wanted > 0 && CompleteSubGroups(job, i) < wanted) return false;
  }
  return true;
}

bool MayHaveSpare(const Job& job) {
  return Arrived(job.counts) > job.spec.min_available && HasMinimums(job);
}

bool IsSpare(const ClusterState& state, TaskId id) {
  return MayHaveSpare(state.workload().job(state.workload().task(id).job)) &&
         IsBeyondMinimums(state, id);
}

bool IsBeyondMinimums(const ClusterState& state, TaskId id) {
  const Task& task = state.workload().task(id);
  const Job& job = state.workload().job(task.job);
  if (Arrived(job.counts) <= job.spec.min_available) return false;
  const Role& role = job.roles[task.role];
  if (RolesCount(job) && Arrived(role.counts) <= role.min_member) return false;
  const SubJob& sub_job = job.sub_jobs[task.sub_job];
  if (!sub_job.key || Arrived(sub_job.counts) != sub_job.min_available) return true;
  const std::size_t policy = sub_job.key->policy;
  return CompleteSubGroups(job, policy) > job.spec.sub_groups[policy].min_sub_groups;
}

}  // namespace strata
