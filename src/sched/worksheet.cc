#include "sched/worksheet.h"

#include <algorithm>
#include <map>
#include <set>

namespace strata {

Worksheet::Worksheet(const Session& session, JobId job) : job_(job) {
  const ClusterState& state = session.state();
  const Job& the_job = state.job(job);
  for (std::size_t i = 0; i < the_job.sub_jobs.size(); ++i) {
    Sheet sheet;
    sheet.sub_job = i;
    for (const TaskId id : the_job.sub_jobs[i].tasks) {
      const Task& task = state.task(id);
      if (task.status == TaskStatus::kPending && !task.gated && !task.best_effort) {
        sheet.tasks.push_back(id);
      }
    }
    if (sheet.tasks.empty()) continue;
    const auto before = [&](TaskId a, TaskId b) { return session.TaskBefore(a, b); };
    // They mostly come in order.
    if (!std::is_sorted(sheet.tasks.begin(), sheet.tasks.end(), before)) {
      std::sort(sheet.tasks.begin(), sheet.tasks.end(), before);
    }
    sheets_.push_back(std::move(sheet));
  }
}

bool Worksheet::empty() const {
  return std::all_of(
      sheets_.begin(), sheets_.end(), [](const Sheet& sheet) { return sheet.left().empty(); });
}

std::size_t Worksheet::left() const {
  std::size_t left = 0;
  for (const Sheet& sheet : sheets_) left += sheet.left().size();
  return left;
}

Worksheet::Sheet* Worksheet::Next(const Session& session) {
  const Job& job = session.state().job(job_);
  std::map<std::size_t, std::int32_t> ready;  // ready sub-jobs by policy
  for (const SubJob& sub_job : job.sub_jobs) {
    if (sub_job.key && session.SubJobReady(job, sub_job)) ++ready[sub_job.key->policy];
  }
  const auto needed = [&](const SubJob& sub_job) {
    if (!sub_job.key || session.SubJobReady(job, sub_job)) return false;
    return ready[sub_job.key->policy] < job.spec.sub_groups[sub_job.key->policy].min_sub_groups;
  };
  Sheet* best = nullptr;
  for (Sheet& sheet : sheets_) {
    if (sheet.left().empty()) continue;
    if (best == nullptr) {
      best = &sheet;
      continue;
    }
    const SubJob& mine = job.sub_jobs[sheet.sub_job];
    const SubJob& other = job.sub_jobs[best->sub_job];
    const bool mine_needed = needed(mine);
    const bool other_needed = needed(other);
    if (mine_needed != other_needed ? mine_needed : session.SubJobBefore(job, mine, other)) {
      best = &sheet;
    }
  }
  return best;
}

std::vector<TaskId> Worksheet::AllLeft(const Session& session) const {
  std::vector<TaskId> tasks;
  for (const Sheet& sheet : sheets_) {
    tasks.insert(tasks.end(), sheet.left().begin(), sheet.left().end());
  }
  if (sheets_.size() > 1) {
    std::sort(
        tasks.begin(), tasks.end(), [&](TaskId a, TaskId b) { return session.TaskBefore(a, b); });
  }
  return tasks;
}

std::size_t MissingForGang(const Job& job, const SubJob& sub_job, std::size_t pending) {
  const bool whole_job = job.spec.sub_groups.empty();
  const std::int32_t want = whole_job ? job.spec.min_available : sub_job.min_available;
  const std::int32_t have = whole_job ? job.counts.Ready() : sub_job.counts.Ready();
  return std::min(pending, static_cast<std::size_t>(std::max(want - have, 0)));
}

Resources SumOf(const ClusterState& state, std::span<const TaskId> tasks) {
  std::map<ClassId, Amount> by_class;
  for (const TaskId id : tasks) ++by_class[state.task(id).class_id];
  Resources sum;
  for (const auto& [class_id, count] : by_class) {
    const Resources& request = state.task_class(class_id).request;
    for (std::size_t i = 0; i < request.size(); ++i) {
      const auto id = IdAt<ResourceId>(i);
      sum.Set(id, sum.Get(id) + request.Get(id) * count);
    }
  }
  return sum;
}

Resources NeedOf(const Session& session, JobId job, const Worksheet& worksheet) {
  const Job& the_job = session.state().job(job);
  if (the_job.spec.min_resources) {
    Resources need = *the_job.spec.min_resources;
    need.Sub(the_job.allocated);
    need.ClampAtZero();
    return need;
  }
  const std::vector<TaskId> left = worksheet.AllLeft(session);
  const auto missing =
      static_cast<std::size_t>(std::max(the_job.spec.min_available - the_job.counts.Ready(), 0));
  return SumOf(session.state(), std::span(left).first(std::min(missing, left.size())));
}

Resources NeedOf(const ClusterState& state, const Job& job, const Worksheet::Sheet& sheet) {
  const std::span<const TaskId> left = sheet.left();
  return SumOf(state, left.first(MissingForGang(job, job.sub_jobs[sheet.sub_job], left.size())));
}

}  // namespace strata
