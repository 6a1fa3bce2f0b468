#include "sched/attempts.h"

#include <algorithm>

namespace strata {
namespace {

// How long a verdict holds where decisions depend on time.
constexpr Duration kVerdictAge = std::chrono::seconds(1);

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
  const bool changed = !touched || !touched->empty() || watch_.any() || quotas;
  if (!changed && !depends_on_time) return;
  for (auto& [key, attempt] : attempts_) {
    if (attempt.wake == Wake::kYes) continue;
    if (changed) attempt.wake = std::max(attempt.wake, WakeOf(attempt.needs));
    if (depends_on_time && now - attempt.time >= kVerdictAge) {
      attempt.wake = std::max(attempt.wake, Wake::kPerhaps);
    }
  }
}

// The job may be gone, or have become another one.
void Attempts::Follow(JobId changed) {
  for (const Action action : {Action::kAllocate, Action::kBackfill}) {
    const auto known = attempts_.find({action, changed});
    if (known == attempts_.end()) continue;
    const Job& job = state_.workload().job(changed);
    if (job.alive && job.counts.Of(TaskStatus::kPending) > 0) {
      known->second.verdict.reset();
      known->second.wake = Wake::kYes;
    } else {
      attempts_.erase(known);
    }
  }
  const auto held = std::find_if(last_held_.begin(), last_held_.end(), [&](const Held& one) {
    return std::get<JobId>(one) == changed;
  });
  last_held_.erase(held, last_held_.end());
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
  const auto known = attempts_.find({action, job});
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
  Attempt& attempt = attempts_[{action, job}];
  const bool holds = attempt.holds && attempt.cycle == cycle_;  // by an earlier turn
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
  attempts_.erase({Action::kAllocate, job});
  attempts_.erase({Action::kBackfill, job});
}

void Attempts::FollowHeld(Action action, JobId job) {
  const std::vector<TaskId> tasks = state_.journal().HeldTasks();
  if (tasks.size() == held_.size()) return;
  Attempt& attempt = attempts_[{action, job}];
  attempt.wake = Wake::kYes;
  attempt.holds = true;
  attempt.round = RoundOf(state_.workload().job(job).queue);
  attempt.cycle = cycle_;
  for (std::size_t i = held_.size(); i < tasks.size(); ++i) {
    held_.emplace_back(job, tasks[i], state_.workload().task(tasks[i]).node);
    const bool same = same_held_ == i && i < last_held_.size() && last_held_[i] == held_[i];
    if (same) ++same_held_;
  }
}

std::uint64_t Attempts::RoundOf(QueueId queue) const {
  const auto known = rounds_.find(queue);
  return known == rounds_.end() ? 0 : known->second;
}

bool Attempts::HadTurn(const Attempt& attempt, QueueId queue) const {
  return attempt.round == RoundOf(queue);
}

}  // namespace strata
