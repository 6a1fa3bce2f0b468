#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/check.h"
#include "base/plural.h"
#include "sched/actions/actions.h"
#include "sched/eviction/claims.h"
#include "sched/eviction/gang_need.h"
#include "sched/eviction/like_job.h"
#include "sched/eviction/plan_proof.h"
#include "sched/eviction/plan_text.h"
#include "sched/eviction/planner.h"
#include "sched/eviction/settings.h"
#include "sched/eviction/take_back.h"
#include "sched/eviction/victim_book.h"
#include "sched/job_queues.h"
#include "sched/never.h"
#include "sched/turns.h"
#include "sched/verdict.h"
#include "sched/verdict_text.h"

// preempt, reclaim, gangpreempt and gangreclaim: one action with four scopes.
namespace strata {
namespace {

EvictionSettings SettingsOf(const Session& session, std::string_view name) {
  for (const ActionConfig& action : session.actions()) {
    if (action.name != name) continue;
    auto read = ReadEvictionSettings(action);
    CHECK(read.has_value());  // Scheduler::Make has read it, too
    return std::move(read->settings);
  }
  CHECK(false);
  return {};
}

Attempts::Action ActionOf(const EvictionSettings& settings) {
  using Action = Attempts::Action;
  const bool preempts = settings.kind == EvictionKind::kPreempt;
  if (settings.by_gang) return preempts ? Action::kGangPreempt : Action::kGangReclaim;
  return preempts ? Action::kPreempt : Action::kReclaim;
}

EvictionSettings WithinJob(EvictionSettings settings) {
  settings.kind = EvictionKind::kWithinJob;
  return settings;
}

class Evictions {
 public:
  Evictions(Session& session, Search& search, EvictionSettings settings)
      : session_(session),
        search_(search),
        settings_(std::move(settings)),
        planner_(session, search, settings_),
        within_(WithinJob(settings_)),
        within_planner_(session, search, within_),
        queues_(session),
        turns_(session, ActionOf(settings_)) {}

  void Run() {
    // Those who were to go for a claim that was given up may stay after all: who goes instead is
    // decided when that is known.
    if (session_.claims() != nullptr && session_.claims()->HasGivenUp()) return;
    for (const JobId id : session_.state().workload().WaitingJobs()) {
      if (!MayStarve(id)) continue;
      const Turns::Plan plan = turns_.PlanFor(id);
      if (plan == Turns::Plan::kSkip || !HasTasksToPlace(id)) continue;
      queues_.Add(id);
      if (plan == Turns::Plan::kTry) turns_.Expect(id);
    }
    while (const auto queue = queues_.TakeQueue()) {
      const JobId id = queues_.TakeJob(*queue);
      // A queue that has what it deserves takes nothing from others.
      const bool entitled =
          settings_.kind == EvictionKind::kPreempt || !session_.plugins().Overused(*queue);
      if (entitled && turns_.Begin(id)) {
        Serve(id);
        turns_.End(id);
      }
      queues_.PutBack(*queue);
    }
    if (IsLastAction()) TakeBackGangs();
  }

 private:
  // True when no other action that evicts comes after this one.
  [[nodiscard]] bool IsLastAction() const {
    std::string_view last;
    for (const ActionConfig& action : session_.actions()) {
      if (IsEvictionAction(action.name)) last = action.name;
    }
    return last == settings_.action;
  }

  // Incomplete gangs for which no action has made room.
  void TakeBackGangs() {
    TakeBack take_back(session_, search_, settings_);
    for (const JobId id : take_back.Candidates()) {
      const auto plan = take_back.PlanFor(id);
      if (!plan) continue;
      const std::string pods = Plural(plan->PodCount(), "pod");
      if (settings_.dry_run) {
        AddToVerdict(id, "would take back " + pods + " of the incomplete gang");
        continue;
      }
      if (const auto until = TooManyUntil(1)) {
        session_.DecideAgainAt(*until);
        continue;
      }
      for (const TaskId task : plan->victims.front().tasks) session_.Evict(task);
      session_.CommitEvictions(*plan);
      NoteGangs(1);
      AddToVerdict(id, "takes back " + pods + " of the incomplete gang");
    }
  }

  // True when the job was admitted, lacks pods, and its gang can start.
  [[nodiscard]] bool MayStarve(JobId id) const {
    const Job& job = session_.state().workload().job(id);
    if (job.phase == JobPhase::kPending || !job.queue.valid()) return false;
    if (!session_.plugins().JobStarving(job) || IsHeld(job)) return false;
    return !session_.topologies().WhyImpossible(id) && !session_.plugins().JobInvalid(job);
  }

  // True when the gang already waits for what is being released.
  [[nodiscard]] bool IsHeld(const Job& job) const {
    return job.counts.Of(TaskStatus::kPipelined) > 0 && session_.plugins().JobPipelined(job);
  }

  void Serve(JobId id) {
    if (session_.plugins().JobReady(session_.state().workload().job(id))) {
      ServeReplicas(id);
    } else {
      ServeGang(id);
    }
  }

  void ServeGang(JobId id) {
    // Jobs that are alike get one answer, until somebody is evicted.
    const std::optional<LikeJob> like = WhatItIsLike(session_, id);
    const auto known = like ? refused_.find(*like) : refused_.end();
    if (known != refused_.end()) return Refuse(id, known->second);
    const Worksheet worksheet(session_, id);
    if (Fits(id, worksheet)) return;
    if (const auto never = PodThatNeverPreempts(worksheet)) return Refuse(id, *never);
    if (RefuseAgain(id)) return;
    EvictionPlanner::Answer answer = planner_.Plan({.job = id, .worksheet = worksheet});
    if (auto within = answer.plan ? std::nullopt : PlanWithin(id, worksheet)) {
      answer = *std::move(within);
    }
    if (!answer.plan) {
      if (like) refused_.emplace(*like, answer.refusal);
      return Refuse(id, answer.refusal);
    }
    if (settings_.dry_run) return RefuseToEvict(id, *answer.plan);
    if (const auto until = TooManyUntil(answer.plan->GangCount())) {
      return Refuse(
          id,
          {"EvictionNotAllowed",
           fmt::format("not more than {} gangs per minute are evicted (maxGangsPerMinute)",
                       settings_.max_gangs_per_minute)},
          until);
    }
    Commit(answer);
    TellWaiting(id, *answer.plan);
  }

  // The gang runs: room for one more replica, or sub-group, after the other.
  void ServeReplicas(JobId id) {
    if (RefuseAgain(id)) return;
    const Job& job = session_.state().workload().job(id);
    std::optional<CycleResult::EvictionPlan> plan;
    std::optional<Refusal> refusal;
    std::set<ClassId> hopeless;
    for (;;) {
      const Worksheet next = NextReplicas(session_, id, hopeless);
      if (next.empty() || Fits(id, next)) break;
      const EvictionPlanner::Answer answer = PlanReplicas(id, next);
      if (!answer.plan) {
        if (!refusal) refusal = answer.refusal;
        if (!job.spec.sub_groups.empty()) break;
        hopeless.insert(session_.state().workload().task(next.AllLeft(session_).front()).class_id);
        continue;
      }
      if (settings_.dry_run) return RefuseToEvict(id, *answer.plan);
      // A claim is about one HyperNode.
      if (plan && plan->hypernode != answer.plan->hypernode) break;
      Commit(answer);
      if (plan) {
        plan->Add(*answer.plan);
      } else {
        plan = answer.plan;
      }
    }
    if (plan) {
      TellWaiting(id, *plan);
    } else if (refusal) {
      Refuse(id, *refusal);
    }
  }

  [[nodiscard]] EvictionPlanner::Answer PlanReplicas(JobId id, const Worksheet& next) {
    if (auto never = PodThatNeverPreempts(next)) {
      return {
          .plan = std::nullopt, .places = {}, .refusal = *std::move(never), .record = std::nullopt};
    }
    const RoomRequest asked{.job = id, .worksheet = next, .what = RoomRequest::For::kReplicas};
    EvictionPlanner::Answer answer = planner_.Plan(asked);
    if (answer.plan || !TakesFromItself()) return answer;
    EvictionPlanner::Answer within = within_planner_.Plan(asked);
    return within.plan ? within : answer;
  }

  void Commit(const EvictionPlanner::Answer& answer) {
    planner_.Commit(answer);
    NoteGangs(answer.plan->GangCount());
    refused_.clear();
  }

  void NoteGangs(std::size_t gangs) {
    if (session_.claims() == nullptr) return;
    session_.claims()->book().CountGangs(gangs, session_.now());
  }

  void TellWaiting(JobId id, const CycleResult::EvictionPlan& plan) {
    Refusal waiting = ExplainWaiting(session_, id);
    waiting.message += fmt::format("; {} evicts {}", settings_.action, SummaryOf(plan));
    session_.SetVerdict(id, std::move(waiting));
  }

  void RefuseToEvict(JobId id, const CycleResult::EvictionPlan& plan) {
    Refuse(id, {"EvictionDryRun", "would evict " + SummaryOf(plan)});
  }

  // True when a plan for the job was refused a while ago, and still is.
  [[nodiscard]] bool RefuseAgain(JobId id) {
    const auto* refused = session_.claims() ? session_.claims()->FindRefused(id) : nullptr;
    if (refused == nullptr) return false;
    Refuse(id, {"EvictionNotAllowed", refused->why}, refused->until);
    return true;
  }

  // As in Volcano.
  [[nodiscard]] bool TakesFromItself() const {
    return settings_.kind == EvictionKind::kPreempt && !settings_.by_gang;
  }

  // Room that pods of the job itself make for tasks of a higher priority; none when they do not.
  [[nodiscard]] std::optional<EvictionPlanner::Answer> PlanWithin(JobId id,
                                                                  const Worksheet& worksheet) {
    const WorkloadTable& workload = session_.state().workload();
    if (!TakesFromItself() || workload.job(id).counts.Allocated() == 0) return std::nullopt;
    std::set<std::int32_t, std::greater<>> priorities;
    for (const TaskId task : worksheet.AllLeft(session_)) {
      priorities.insert(workload.task(task).priority);
    }
    for (const std::int32_t lowest : priorities) {
      const Worksheet asking = worksheet.Only(
          session_, [&](TaskId task) { return workload.task(task).priority >= lowest; });
      auto answer = within_planner_.Plan({.job = id, .worksheet = asking});
      if (answer.plan) return answer;
    }
    return std::nullopt;
  }

  // Until when no plan may break so many gangs; none when one may.
  [[nodiscard]] std::optional<Time> TooManyUntil(std::size_t gangs) {
    const std::size_t limit = settings_.max_gangs_per_minute;
    if (limit == 0 || gangs == 0 || session_.claims() == nullptr) return std::nullopt;
    return session_.claims()->book().MayBreakFrom(gangs, limit, session_.now());
  }

  [[nodiscard]] bool HasTasksToPlace(JobId id) const {
    const WorkloadTable& workload = session_.state().workload();
    const auto is_left = [&](TaskId task) {
      const Task& the_task = workload.task(task);
      return the_task.status == TaskStatus::kPending && !the_task.gated && !the_task.best_effort;
    };
    const std::vector<SubJob>& sub_jobs = workload.job(id).sub_jobs;
    return std::any_of(sub_jobs.begin(), sub_jobs.end(), [&](const SubJob& sub_job) {
      return std::any_of(sub_job.tasks.begin(), sub_job.tasks.end(), is_left);
    });
  }

  // An action in front of allocate evicts nobody for a gang that has room already.
  [[nodiscard]] bool Fits(JobId id, const Worksheet& worksheet) {
    return FitsWithoutEviction(session_, search_, id, worksheet);
  }

  [[nodiscard]] std::optional<Refusal> PodThatNeverPreempts(const Worksheet& worksheet) const {
    for (const TaskId id : worksheet.AllLeft(session_)) {
      const Task& task = session_.state().workload().task(id);
      if (!task.disruption.never_preempts) continue;
      return Refusal{"EvictionNotAllowed",
                     fmt::format("pod {} has preemptionPolicy Never", task.name)};
    }
    return std::nullopt;
  }

  // What the job lacks so far, and what the action has to say to that.
  [[nodiscard]] std::string AfterVerdict(JobId id, const std::string& said) const {
    const Refusal* so_far = session_.VerdictOf(id);
    return (so_far == nullptr ? "" : so_far->message + "; ") + settings_.action + ": " + said;
  }

  void AddToVerdict(JobId id, const std::string& said) {
    const Refusal* so_far = session_.VerdictOf(id);
    std::string reason = so_far == nullptr ? "NothingToEvict" : so_far->reason;
    session_.SetVerdict(id, {std::move(reason), AfterVerdict(id, said)});
  }

  // Adds to what the job lacks why nobody goes for it.
  void Refuse(JobId id, const Refusal& refusal, std::optional<Time> until = std::nullopt) {
    std::string message = AfterVerdict(id, refusal.message);
    std::string reason = refusal.reason;
    const Refusal* so_far = session_.VerdictOf(id);
    if (so_far != nullptr && IsNever(*so_far)) reason = so_far->reason;  // nobody's room would help
    Refusal verdict{std::move(reason), std::move(message)};
    turns_.Failed(id, verdict, [&] {
      return Needs{.classes = {}, .anything = true, .until = until ? until : NextTime()};
    });
    session_.SetVerdict(id, std::move(verdict));
  }

  // When somebody may be evicted who is too young now.
  [[nodiscard]] std::optional<Time> NextTime() {
    if (!looked_at_times_) {
      looked_at_times_ = true;
      VictimBook& book = session_.caches().victims();
      book.Refresh(session_.state());
      next_time_ = book.NextOpening(session_.state().workload(), session_.now());
    }
    return next_time_;
  }

  Session& session_;
  Search& search_;
  const EvictionSettings settings_;
  EvictionPlanner planner_;
  const EvictionSettings within_;  // the same for pods of the claimant itself
  EvictionPlanner within_planner_;
  JobQueues queues_;
  Turns turns_;
  bool looked_at_times_ = false;
  std::optional<Time> next_time_;
  std::map<LikeJob, Refusal> refused_;
};

}  // namespace

void Preempt(Session& session, Search& search) {
  Evictions(session, search, SettingsOf(session, "preempt")).Run();
}

void Reclaim(Session& session, Search& search) {
  Evictions(session, search, SettingsOf(session, "reclaim")).Run();
}

void GangPreempt(Session& session, Search& search) {
  Evictions(session, search, SettingsOf(session, "gangpreempt")).Run();
}

void GangReclaim(Session& session, Search& search) {
  Evictions(session, search, SettingsOf(session, "gangreclaim")).Run();
}

}  // namespace strata
