#include "sched/worksheet.h"

#include <algorithm>

namespace strata {

Worksheet::Worksheet(const Session& session, JobId job) : job_(job) {
  const ClusterState& state = session.state();
  const Job& the_job = state.workload().job(job);
  const auto ranks = std::make_shared<const RankOrder>(session, the_job);
  constexpr std::size_t kNone = SIZE_MAX;
  std::vector<std::size_t> sheet_of(the_job.sub_jobs.size(), kNone);
  for (const TaskId id : ranks->tasks()) {
    const Task& task = state.workload().task(id);
    if (task.status != TaskStatus::kPending || task.gated || task.best_effort) continue;
    std::size_t& sheet = sheet_of[task.sub_job];
    if (sheet == kNone) {
      sheet = sheets_.size();
      sheets_.push_back({.sub_job = task.sub_job, .tasks = {}, .ranks = ranks});
    }
    sheets_[sheet].tasks.push_back(id);
  }
  const auto before = [](const Sheet& a, const Sheet& b) { return a.sub_job < b.sub_job; };
  if (!std::is_sorted(sheets_.begin(), sheets_.end(), before)) {
    std::sort(sheets_.begin(), sheets_.end(), before);
  }
  Reorder(session);
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

bool Worksheet::Precedes(const Session& session, std::size_t a, std::size_t b) const {
  const Job& job = session.state().workload().job(job_);
  const SubJob& left = job.sub_jobs[sheets_[a].sub_job];
  const SubJob& right = job.sub_jobs[sheets_[b].sub_job];
  if (session.plugins().SubJobBefore(job, left, right)) return true;
  return a < b && !session.plugins().SubJobBefore(job, right, left);
}

void Worksheet::CountReady(const Session& session) {
  const Job& job = session.state().workload().job(job_);
  to_start_.clear();
  for (const SubGroupPolicy& policy : job.spec.sub_groups) {
    to_start_.push_back(policy.min_sub_groups);
  }
  if (std::none_of(to_start_.begin(), to_start_.end(), [](std::int32_t n) { return n > 0; })) {
    return;
  }
  for (const SubJob& sub_job : job.sub_jobs) {
    if (sub_job.key && session.plugins().SubJobReady(job, sub_job)) {
      --to_start_[sub_job.key->policy];
    }
  }
}

void Worksheet::Reorder(const Session& session) {
  order_.clear();
  for (std::size_t i = 0; i < sheets_.size(); ++i) {
    if (!sheets_[i].left().empty()) order_.push_back(i);
  }
  const auto before = [&](std::size_t a, std::size_t b) { return Precedes(session, a, b); };
  if (!std::is_sorted(order_.begin(), order_.end(), before)) {
    std::sort(order_.begin(), order_.end(), before);
  }
  CountReady(session);
}

void Worksheet::Reorder(const Session& session, const Sheet& changed) {
  const auto index = static_cast<std::size_t>(&changed - sheets_.data());
  order_.erase(std::find(order_.begin(), order_.end(), index));
  if (!changed.left().empty()) {
    const auto before = [&](std::size_t a, std::size_t b) { return Precedes(session, a, b); };
    order_.insert(std::lower_bound(order_.begin(), order_.end(), index, before), index);
  }
  const Job& job = session.state().workload().job(job_);
  const SubJob& sub_job = job.sub_jobs[changed.sub_job];
  if (sub_job.key && to_start_[sub_job.key->policy] > 0) CountReady(session);
}

bool Worksheet::IsNeeded(const Session& session, const Sheet& sheet) const {
  const Job& job = session.state().workload().job(job_);
  const SubJob& sub_job = job.sub_jobs[sheet.sub_job];
  return sub_job.key && to_start_[sub_job.key->policy] > 0 &&
         !session.plugins().SubJobReady(job, sub_job);
}

Worksheet::Sheet* Worksheet::Next(const Session& session) {
  const bool any_needed =
      std::any_of(to_start_.begin(), to_start_.end(), [](std::int32_t n) { return n > 0; });
  if (!order_.empty() && (any_needed || sheets_[order_.front()].left().empty())) {
    std::erase_if(order_, [&](std::size_t i) { return sheets_[i].left().empty(); });
  }
  if (order_.empty()) return nullptr;
  if (any_needed) {
    const auto needed = std::find_if(
        order_.begin(), order_.end(), [&](std::size_t i) { return IsNeeded(session, sheets_[i]); });
    if (needed != order_.end()) return &sheets_[*needed];
  }
  return &sheets_[order_.front()];
}

std::vector<TaskId> Worksheet::AllLeft(const Session& session) const {
  std::vector<TaskId> tasks;
  for (const Sheet& sheet : sheets_) {
    tasks.insert(tasks.end(), sheet.left().begin(), sheet.left().end());
  }
  if (sheets_.size() > 1) {
    std::sort(tasks.begin(), tasks.end(), [&](TaskId a, TaskId b) {
      return session.plugins().TaskBefore(a, b);
    });
  }
  return tasks;
}

Worksheet Worksheet::Only(const Session& session, const std::function<bool(TaskId)>& keeps) const {
  Worksheet fewer = *this;
  for (Sheet& sheet : fewer.sheets_) {
    sheet.tasks.erase(sheet.tasks.begin(),
                      sheet.tasks.begin() + static_cast<std::ptrdiff_t>(sheet.next));
    sheet.next = 0;
    std::erase_if(sheet.tasks, [&](TaskId task) { return !keeps(task); });
  }
  fewer.Reorder(session);
  return fewer;
}

std::size_t MissingForGang(const Job& job, const SubJob& sub_job, std::size_t pending) {
  const bool whole_job = job.spec.sub_groups.empty();
  const std::int32_t want = whole_job ? job.spec.min_available : sub_job.min_available;
  const std::int32_t have = whole_job ? job.counts.Ready() : sub_job.counts.Ready();
  return std::min(pending, static_cast<std::size_t>(std::max(want - have, 0)));
}

namespace {

// The room that the tasks of the job have on their nodes.
Resources RoomOf(const ClusterState& state, const Job& job) {
  if (job.sharers == 0) return job.allocated;
  Resources room;
  for (const SubJob& sub_job : job.sub_jobs) {
    for (const TaskId id : sub_job.tasks) {
      const Task& task = state.workload().task(id);
      if (CountsAsAllocated(task.status)) room.Add(state.classes().spec(task.class_id).request);
    }
  }
  return room;
}

Resources Less(Resources whole, const Resources& part) {
  whole.Sub(part);
  whole.ClampAtZero();
  return whole;
}

void AddNeed(Need& sum, const Need& more) {
  if (more.apart && !sum.apart) sum.apart = sum.room;
  if (sum.apart) sum.apart->AddSaturating(more.counted());
  sum.room.AddSaturating(more.room);
}

}  // namespace

Need NeedOf(const Session& session, JobId job, const Worksheet& worksheet) {
  const ClusterState& state = session.state();
  const Job& the_job = state.workload().job(job);
  if (the_job.spec.min_resources) {
    Need need{.room = Less(*the_job.spec.min_resources, RoomOf(state, the_job))};
    if (the_job.sharers > 0) need.apart = Less(*Minimum(state, the_job), the_job.allocated);
    return need;
  }
  const auto missing =
      static_cast<std::size_t>(std::max(the_job.spec.min_available - the_job.counts.Ready(), 0));
  if (missing < worksheet.left()) {
    const std::vector<TaskId> left = worksheet.AllLeft(session);
    return SumOf(state, std::span(left).first(missing));
  }
  Need need;  // all of them, in whatever order
  for (const Worksheet::Sheet& sheet : worksheet.sheets()) {
    AddNeed(need, SumOf(state, sheet.left()));
  }
  return need;
}

Need NeedOf(const ClusterState& state, const Job& job, const Worksheet::Sheet& sheet) {
  const std::span<const TaskId> left = sheet.left();
  return SumOf(state, left.first(MissingForGang(job, job.sub_jobs[sheet.sub_job], left.size())));
}

}  // namespace strata
