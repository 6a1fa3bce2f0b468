#include "sched/attempts.h"

#include <algorithm>

namespace strata {
namespace {

// How long a verdict holds where decisions depend on time.
constexpr Duration kVerdictAge = std::chrono::seconds(1);

bool Evicts(Attempts::Action action) {
  return action != Attempts::Action::kAllocate && action != Attempts::Action::kBackfill;
}

}  // namespace

void Attempts::Open(Time now, bool depends_on_time) {
  ++cycle_;
  now_ = now;
  held_.clear();
  same_held_ = 0;
  left_.clear();
  watch_.Open();
  const auto touched = state_.workload().JobsTouchedSince(jobs_version_);
  if (!touched || watch_.everything() || queues_version_ != state_.workload().queues_version() ||
      class_epoch_ != state_.classes().epoch()) {
    WakeAll();
  }
  if (touched) {
    for (const JobId job : *touched) Follow(job);
  } else {
    attempts_.clear();
    last_held_.clear();
  }
  const bool quotas = quotas_version_ != state_.quotas().version();
  const bool budgets = budgets_version_ != state_.budgets().version();
  const bool changed = !touched || !touched->empty() || watch_.any() || quotas || budgets;
  const bool late = next_time_ && now >= *next_time_;
  if (!changed && !depends_on_time && !late) return;
  next_time_.reset();
  for (auto& [key, attempt] : attempts_) {
    if (attempt.wake == Wake::kYes) continue;
    FollowTime(attempt);
    if (changed) attempt.wake = std::max(attempt.wake, WakeOf(attempt.needs));
    if (budgets && Evicts(key.second)) attempt.wake = Wake::kYes;
    if (depends_on_time && now - attempt.time >= kVerdictAge) {
      attempt.wake = std::max(attempt.wake, Wake::kPerhaps);
    }
  }
}

void Attempts::FollowTime(Attempt& attempt) {
  if (!attempt.needs.until) return;
  if (now_ >= *attempt.needs.until) {
    attempt.wake = Wake::kYes;
  } else {
    NoteTime(*attempt.needs.until);
  }
}

// The job may be gone, or have become another one.
void Attempts::Follow(JobId changed) {
  const Job& job = state_.workload().job(changed);
  const bool waits = job.alive && job.counts.Of(TaskStatus::kPending) > 0;
  if (!waits) Forget(changed);
  for (auto it = attempts_.lower_bound({changed, Action{}}); it != EndOf(changed); ++it) {
    it->second.verdict.reset();
    it->second.wake = Wake::kYes;
  }
  const auto held = std::find_if(last_held_.begin(), last_held_.end(), [&](const Held& one) {
    return std::get<JobId>(one) == changed;
  });
  last_held_.erase(held, last_held_.end());
}

std::map<Attempts::Key, Attempts::Attempt>::iterator Attempts::EndOf(JobId job) {
  return std::find_if(attempts_.lower_bound({job, Action{}}),
                      attempts_.end(),
                      [&](const auto& entry) { return entry.first.first != job; });
}

void Attempts::WakeAll() {
  for (auto& [key, attempt] : attempts_) attempt.wake = Wake::kYes;
  last_held_.clear();
}

Attempts::Wake Attempts::WakeOf(const Needs& needs) {
  if (needs.anything) return Wake::kYes;
  if (!watch_.any()) return Wake::kNo;
  if (watch_.pods_changed() && (needs.sums || needs.departures)) return Wake::kYes;
  const auto helps = [&](ClassId id) {
    return watch_.HasRoomFor(id) || (needs.peers && watch_.BringsPeersOf(id));
  };
  if (std::any_of(needs.classes.begin(), needs.classes.end(), helps)) return Wake::kYes;
  return needs.only_room ? Wake::kNo : Wake::kPerhaps;
}

void Attempts::Close() {
  watch_.Close();
  jobs_version_ = state_.workload().NextJobVersion();
  queues_version_ = state_.workload().queues_version();
  quotas_version_ = state_.quotas().version();
  budgets_version_ = state_.budgets().version();
  class_epoch_ = state_.classes().epoch();
  // A job that had no turn was not asked whether the same is held as when it was tried.
  if (held_before_) {
    for (auto& [key, attempt] : attempts_) {
      if (attempt.held > same_held_ && attempt.cycle != cycle_) attempt.wake = Wake::kYes;
    }
  }
  held_before_ = !held_.empty();
  last_held_ = held_;
  for (const QueueId queue : behind_) {
    if (!left_.contains(queue)) ++rounds_[queue];
  }
  behind_ = left_;
}

const Attempts::Attempt* Attempts::Find(Action action, JobId job) const {
  const auto known = attempts_.find({job, action});
  return known == attempts_.end() ? nullptr : &known->second;
}

bool Attempts::IsAsleep(const Attempt& attempt) const {
  if (!attempt.IsQuiet() || attempt.held > same_held_) return false;
  const std::vector<ClassId>& classes = attempt.needs.classes;
  return !attempt.needs.peers || std::none_of(classes.begin(), classes.end(), [&](ClassId id) {
    return watch_.HasBoundPeersOf(id);
  });
}

void Attempts::Failed(Action action, JobId job, Refusal verdict, Needs needs) {
  Attempt& attempt = attempts_[{job, action}];
  const bool holds = attempt.holds && attempt.cycle == cycle_;  // by an earlier turn
  if (needs.until) NoteTime(*needs.until);
  attempt = {.verdict = std::move(verdict),
             .wake = holds ? Wake::kYes : Wake::kNo,
             .needs = std::move(needs),
             .holds = holds,
             .held = held_.size(),
             .round = RoundOf(state_.workload().job(job).queue),
             .cycle = cycle_,
             .time = now_};
}

void Attempts::Bound(JobId job, std::span<const TaskId> tasks) {
  for (const TaskId task : tasks) watch_.Bound(state_.workload().task(task).class_id);
  Forget(job);
}

void Attempts::Forget(JobId job) {
  attempts_.erase(attempts_.lower_bound({job, Action{}}), EndOf(job));
}

void Attempts::NoteTime(Time time) {
  next_time_ = std::min(next_time_.value_or(time), time);
}

void Attempts::FollowHeld(Action action, JobId job) {
  const std::vector<TaskId> tasks = state_.journal().HeldTasks();
  const bool same = std::equal(
      tasks.begin(), tasks.end(), held_.begin(), held_.end(), [](TaskId task, const Held& held) {
        return task == std::get<TaskId>(held);
      });
  if (same) return;
  FollowHeld();
  if (state_.workload().job(job).counts.Of(TaskStatus::kPipelined) == 0) return;
  Attempt& attempt = attempts_[{job, action}];
  attempt.wake = Wake::kYes;
  attempt.holds = true;
  attempt.round = RoundOf(state_.workload().job(job).queue);
  attempt.cycle = cycle_;
}

void Attempts::FollowHeld() {
  held_.clear();
  for (const TaskId id : state_.journal().HeldTasks()) {
    const Task& task = state_.workload().task(id);
    held_.emplace_back(task.job, id, task.node);
  }
  const auto differ =
      std::mismatch(held_.begin(), held_.end(), last_held_.begin(), last_held_.end());
  same_held_ = static_cast<std::size_t>(differ.first - held_.begin());
}

std::uint64_t Attempts::RoundOf(QueueId queue) const {
  const auto known = rounds_.find(queue);
  return known == rounds_.end() ? 0 : known->second;
}

bool Attempts::HadTurn(const Attempt& attempt, QueueId queue) const {
  return attempt.round == RoundOf(queue);
}

}  // namespace strata
