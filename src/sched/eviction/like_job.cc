#include "sched/eviction/like_job.h"

#include <utility>

#include "sched/worksheet.h"

namespace strata {
namespace {

// How many tasks of each class, in task order; none where one of them never preempts. REQUIRES: all
// of them are pending.
std::optional<Wanted> TasksToPlace(const Session& session, JobId id) {
  const WorkloadTable& workload = session.state().workload();
  Wanted wanted;
  for (const SubJob& sub_job : workload.job(id).sub_jobs) {
    for (const TaskId task : sub_job.tasks) {
      const Task& the_task = workload.task(task);
      if (the_task.gated || the_task.best_effort) continue;
      if (the_task.disruption.never_preempts) return std::nullopt;
      Add(wanted, the_task.class_id, 1);
    }
  }
  if (wanted.size() <= 1) return wanted;  // their order does not matter
  const Worksheet worksheet(session, id);
  return FirstOf(session.state(), worksheet.AllLeft(session), worksheet.left());
}

}  // namespace

std::optional<LikeJob> WhatItIsLike(const Session& session, JobId id) {
  const Job& job = session.state().workload().job(id);
  const bool plain = job.spec.sub_groups.empty() && job.spec.min_task_member.empty() &&
                     job.counts.Total() == job.counts.Of(TaskStatus::kPending) &&
                     job.allocated_hypernode.empty();
  if (!plain) return std::nullopt;
  std::optional<Wanted> tasks = TasksToPlace(session, id);
  if (!tasks) return std::nullopt;
  const TopologySpec& topology = job.spec.topology;
  return LikeJob{.queue = job.queue,
                 .priority = job.spec.priority,
                 .min_available = job.spec.min_available,
                 .topology = {topology.mode, topology.highest_tier, topology.highest_tier_name},
                 .min_resources = job.spec.min_resources,
                 .tasks = *std::move(tasks)};
}

}  // namespace strata
