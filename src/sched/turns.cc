#include "sched/turns.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "sched/similar_sub_jobs.h"

namespace strata {
namespace {

Refusal WaitsForTurn(const ClusterState& state, const Job& job) {
  return {"WaitingForTurn",
          fmt::format("not tried yet: more jobs wait in queue \"{}\" than one cycle can try",
                      state.workload().queue(job.queue).spec.name)};
}

// Adds what tasks of the class need.
void AddNeeds(Session& session, ClassId id, Needs& needs) {
  ClassView& view = session.views().Of(id);
  const ClassSpec& spec = view.spec();
  const PeerCounts* const peers = view.Peers();
  const bool repelled = peers != nullptr && !peers->repulsion().empty();
  needs.anything = needs.anything || view.LooksBeyondNodes();
  needs.peers = needs.peers || !spec.rules.affinity.empty() || !spec.rules.spread.empty();
  needs.departures = needs.departures || repelled || !spec.rules.anti_affinity.empty() ||
                     !spec.rules.spread.empty() || !spec.volumes.exclusive.empty();
  needs.only_room = needs.only_room && peers == nullptr && !spec.HasRules() && !spec.gpus &&
                    spec.volumes.attached.empty();
}

// True when the gang needs more of a HyperNode than its tasks ask for: then room for a task is not
// all that can be missing.
bool NeedsMoreThanTasks(const Session& session, JobId job, const Worksheet& worksheet) {
  const Job& the_job = session.state().workload().job(job);
  if (!the_job.spec.min_resources) return false;
  const std::vector<TaskId> left = worksheet.AllLeft(session);
  const auto missing =
      static_cast<std::size_t>(std::max(the_job.spec.min_available - the_job.counts.Ready(), 0));
  const Need asked = SumOf(session.state(), std::span(left).first(std::min(missing, left.size())));
  return !NeedOf(session, job, worksheet).room.FitsIn(asked.room.amounts());
}

}  // namespace

Turns::Plan Turns::PlanFor(JobId job) {
  const Attempts* const attempts = session_.attempts();
  if (attempts == nullptr) return Plan::kTry;
  const Attempts::Attempt* const attempt = attempts->Find(action_, job);
  if (attempt == nullptr || !attempt->IsQuiet()) return Plan::kTry;
  session_.SetVerdict(job, *attempt->verdict);
  return attempt->DependsOnTurn() ? Plan::kAskAtTurn : Plan::kSkip;
}

void Turns::Expect(JobId job) {
  if (session_.attempts() == nullptr) return;
  session_.meter().Expect(session_.state().workload().job(job).queue);
}

bool Turns::Begin(JobId job) {
  Attempts* const attempts = session_.attempts();
  if (attempts == nullptr) return true;
  const Attempts::Attempt* const attempt = attempts->Find(action_, job);
  if (attempt != nullptr && attempts->IsAsleep(*attempt)) return false;
  const Job& the_job = session_.state().workload().job(job);
  const bool cannot_wait =
      (attempt != nullptr && attempt->holds) || session_.plugins().IsIncompleteGang(the_job);
  account_ = AccountOf(job);
  if (cannot_wait || !served_.contains({the_job.queue, account_}) ||
      session_.meter().Allows(the_job.queue, account_, attempts->IsBehind(the_job.queue))) {
    served_.emplace(the_job.queue, account_);
    return true;
  }
  LeaveOut(job, account_);
  return false;
}

WorkMeter::Account Turns::AccountOf(JobId job) const {
  const Attempts& attempts = *session_.attempts();
  const Attempts::Attempt* const attempt = attempts.Find(action_, job);
  const QueueId queue = session_.state().workload().job(job).queue;
  return attempt != nullptr && attempts.IsBehind(queue) && attempts.HadTurn(*attempt, queue)
             ? WorkMeter::Account::kAgain
             : WorkMeter::Account::kFirst;
}

void Turns::LeaveOut(JobId job, WorkMeter::Account account) {
  Attempts& attempts = *session_.attempts();
  const Job& the_job = session_.state().workload().job(job);
  if (account == WorkMeter::Account::kFirst) attempts.LeaveBehind(the_job.queue);
  const Attempts::Attempt* const attempt = attempts.Find(action_, job);
  const bool may_wait = attempt != nullptr && attempt->wake == Attempts::Wake::kPerhaps;
  session_.LeaveOver(may_wait ? CycleResult::Left::kForLater : CycleResult::Left::kForNow);
  if (attempt != nullptr && attempt->verdict) {
    session_.SetVerdict(job, *attempt->verdict);
  } else if (action_ == Attempts::Action::kAllocate || !session_.HasVerdict(job)) {
    session_.SetVerdict(job, WaitsForTurn(session_.state(), the_job));
  }
}

void Turns::Failed(JobId job, const Refusal& verdict, const std::function<Needs()>& needs) {
  if (session_.attempts() == nullptr) return;
  session_.attempts()->Failed(action_, job, verdict, needs());
}

void Turns::End(JobId job) {
  if (session_.attempts() == nullptr) return;
  session_.attempts()->FollowHeld(action_, job);
  session_.meter().Charge(session_.state().workload().job(job).queue, account_);
}

Needs NeedsOf(Session& session, JobId job, const Worksheet& worksheet, bool quota) {
  const Job& the_job = session.state().workload().job(job);
  Needs needs{.classes = {}, .only_room = true, .anything = quota};
  for (const Worksheet::Sheet& sheet : worksheet.sheets()) {
    for (const ClassId id : ClassesOf(session.state(), sheet.left())) needs.classes.push_back(id);
  }
  needs.classes = WithoutDuplicates(std::move(needs.classes));
  for (const ClassId id : needs.classes) AddNeeds(session, id, needs);
  if (needs.classes.size() != 1 || !the_job.spec.sub_groups.empty()) needs.only_room = false;
  needs.sums = the_job.HasTopology() && NeedsMoreThanTasks(session, job, worksheet);
  return needs;
}

Needs NeedsOf(Session& session, std::span<const TaskId> best_effort) {
  Needs needs{.classes = WithoutDuplicates(ClassesOf(session.state(), best_effort)),
              .only_room = true};
  for (const ClassId id : needs.classes) AddNeeds(session, id, needs);
  return needs;
}

}  // namespace strata
