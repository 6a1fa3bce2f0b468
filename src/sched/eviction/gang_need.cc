#include "sched/eviction/gang_need.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>

#include "sched/plugins/gang_rules.h"

namespace strata {
namespace {

std::int64_t AtLeastZero(std::int64_t number) {
  return std::max<std::int64_t>(number, 0);
}

// Pods that complete the sub-groups which the job still lacks, at least.
std::int64_t LackedBySubGroups(const Job& job) {
  std::int64_t lacked = 0;
  for (std::size_t policy = 0; policy < job.spec.sub_groups.size(); ++policy) {
    std::int64_t missing = job.spec.sub_groups[policy].min_sub_groups;
    std::int64_t there = 0;  // in sub-groups that are not complete
    for (const SubJob& sub_job : job.sub_jobs) {
      if (!sub_job.key || sub_job.key->policy != policy) continue;
      const std::int32_t ready = sub_job.counts.Ready();
      if (ready >= sub_job.min_available) {
        --missing;
      } else {
        there += ready;
      }
    }
    lacked += AtLeastZero(AtLeastZero(missing) * job.spec.sub_groups[policy].size - there);
  }
  return lacked;
}

std::int64_t LackedByRole(const Role& role) {
  return AtLeastZero(role.min_member - role.counts.Ready());
}

// The tasks of each role that has a minimum; only where they are all of one class.
Wanted NeededByRoles(const ClusterState& state, const Job& job, const std::vector<TaskId>& left) {
  std::map<std::uint32_t, std::set<ClassId>> classes;
  for (const TaskId id : left) {
    const Task& task = state.workload().task(id);
    classes[task.role].insert(task.class_id);
  }
  Wanted wanted;
  for (const auto& [role, ids] : classes) {
    const std::int64_t lacked = LackedByRole(job.roles[role]);
    if (lacked == 0 || ids.size() != 1) continue;
    Add(wanted, *ids.begin(), static_cast<std::uint64_t>(lacked));
  }
  return wanted;
}

// One sub-group after the other, until the job has enough.
std::vector<TaskId> NeededSubGroups(const Session& session,
                                    const Job& job,
                                    const std::vector<TaskId>& placed) {
  std::vector<TaskId> needed;
  std::int64_t pods = job.counts.Ready();
  std::map<std::uint32_t, std::int64_t> in_sub_job;
  std::vector<std::int64_t> complete(job.spec.sub_groups.size(), 0);
  for (const SubJob& sub_job : job.sub_jobs) {
    if (sub_job.key && sub_job.counts.Ready() >= sub_job.min_available) {
      ++complete[sub_job.key->policy];
    }
  }
  const auto is_enough = [&] {
    if (pods < job.spec.min_available) return false;
    for (std::size_t i = 0; i < complete.size(); ++i) {
      if (complete[i] < job.spec.sub_groups[i].min_sub_groups) return false;
    }
    return true;
  };
  bool in_the_middle = false;  // of a sub-group
  for (const TaskId id : placed) {
    const Task& task = session.state().workload().task(id);
    const SubJob& sub_job = job.sub_jobs[task.sub_job];
    if (!in_the_middle && is_enough()) break;
    needed.push_back(id);
    ++pods;
    const std::int64_t there = sub_job.counts.Ready() + ++in_sub_job[task.sub_job];
    in_the_middle = sub_job.key && there < sub_job.min_available;
    if (sub_job.key && there == sub_job.min_available) ++complete[sub_job.key->policy];
  }
  return needed;
}

}  // namespace

Wanted NeededAtLeast(const Session& session, JobId id, const Worksheet& worksheet) {
  const ClusterState& state = session.state();
  const Job& job = state.workload().job(id);
  const std::vector<TaskId> left = worksheet.AllLeft(session);
  std::set<ClassId> classes;
  for (const TaskId task : left) classes.insert(state.workload().task(task).class_id);
  const std::int64_t missing = AtLeastZero(job.spec.min_available - job.counts.Ready());
  if (classes.size() == 1) {
    const std::int64_t wanted = std::max({missing, LackedBySubGroups(job), std::int64_t{1}});
    return {{*classes.begin(), static_cast<std::uint64_t>(wanted)}};
  }
  if (missing >= static_cast<std::int64_t>(left.size())) return FirstOf(state, left, left.size());
  return RolesCount(job) ? NeededByRoles(state, job, left) : Wanted{};
}

std::vector<TaskId> NeededOf(const Session& session, JobId id, const std::vector<TaskId>& placed) {
  const ClusterState& state = session.state();
  const Job& job = state.workload().job(id);
  if (!job.spec.sub_groups.empty()) return NeededSubGroups(session, job, placed);
  std::int64_t missing = AtLeastZero(job.spec.min_available - job.counts.Ready());
  std::map<std::uint32_t, std::int64_t> lacked;
  if (RolesCount(job)) {
    for (std::uint32_t i = 0; i < job.roles.size(); ++i) lacked[i] = LackedByRole(job.roles[i]);
  }
  std::set<TaskId> needed;
  for (const TaskId task : placed) {
    std::int64_t& of_role = lacked[state.workload().task(task).role];
    if (of_role <= 0) continue;
    --of_role;
    --missing;
    needed.insert(task);
  }
  for (const TaskId task : placed) {
    if (missing <= 0) break;
    if (needed.insert(task).second) --missing;
  }
  std::vector<TaskId> in_order;
  std::copy_if(placed.begin(), placed.end(), std::back_inserter(in_order), [&](TaskId task) {
    return needed.contains(task);
  });
  return in_order;
}

Worksheet NextReplicas(const Session& session, JobId id, const std::set<ClassId>& hopeless) {
  const WorkloadTable& workload = session.state().workload();
  const Job& job = workload.job(id);
  Worksheet worksheet = Worksheet(session, id).Only(session, [&](TaskId task) {
    return !hopeless.contains(workload.task(task).class_id);
  });
  const Worksheet::Sheet* next = worksheet.Next(session);
  if (next == nullptr) return worksheet;
  const std::size_t left = next->left().size();
  const std::size_t missing =
      job.spec.sub_groups.empty() ? 0 : MissingForGang(job, job.sub_jobs[next->sub_job], left);
  const auto first = next->left().first(std::max<std::size_t>(missing, 1));
  const std::set<TaskId> asked(first.begin(), first.end());
  return worksheet.Only(session, [&](TaskId task) { return asked.contains(task); });
}

}  // namespace strata
