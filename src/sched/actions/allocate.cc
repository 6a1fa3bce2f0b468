#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "sched/actions/actions.h"
#include "sched/eviction/claims.h"
#include "sched/gang_search.h"
#include "sched/job_queues.h"
#include "sched/plugins/queue_rules.h"
#include "sched/turns.h"
#include "sched/verdict.h"

namespace strata {
namespace {

// Why the job cannot be placed in this cycle at all; none when it can.
std::optional<Refusal> Unfit(const Session& session, JobId id) {
  const Job& job = session.state().workload().job(id);
  if (!job.queue.valid()) return QueueNotFound(job);
  if (auto refusal = session.topologies().WhyImpossible(id)) return refusal;
  return session.plugins().JobInvalid(job);
}

// True when the job cannot go on without a task that is larger than every node.
bool CannotStartForSize(const Job& job) {
  if (job.oversized == 0) return false;
  const std::int32_t fitting =
      job.counts.Of(TaskStatus::kPending) - job.counts.pending_best_effort - job.oversized;
  return fitting <= 0 || job.counts.Ready() + fitting < job.spec.min_available;
}

// The second part of a verdict that may be wrong.
std::string WhySecondSearchEnded(std::uint64_t budget) {
  return fmt::format(
      "; a place may exist all the same: the second search did not try everything within {} steps, "
      "the value of {} of network-topology-aware",
      budget,
      kSecondMaxSteps);
}

class Allocation {
 public:
  Allocation(Session& session, Search& search)
      : session_(session),
        search_(search),
        queues_(session),
        turns_(session, Attempts::Action::kAllocate) {}

  void Run() {
    Collect();
    while (const auto queue = queues_.TakeQueue()) {
      if (!queues_.HasIncomplete(*queue) && session_.plugins().Overused(*queue)) {
        DropQueue(*queue);
        continue;
      }
      const JobId id = queues_.TakeJob(*queue);
      if (Offer(id)) queues_.Add(id);
      queues_.PutBack(*queue);
    }
  }

 private:
  void Collect() {
    const bool admission = session_.HasAction("enqueue");
    for (const JobId id : session_.state().workload().WaitingJobs()) {
      const bool outside = session_.state().workload().job(id).phase == JobPhase::kPending;
      if (outside && (admission || !Admit(id))) continue;
      if (session_.claims() != nullptr && session_.claims()->Has(id)) continue;
      const Turns::Plan plan = turns_.PlanFor(id);
      if (plan == Turns::Plan::kAskAtTurn) queues_.Add(id);
      if (plan != Turns::Plan::kTry) continue;
      Worksheet worksheet(session_, id);
      auto refusal = Unfit(session_, id);
      if (!refusal && worksheet.empty()) refusal = ExplainGates(session_, id);
      if (refusal) session_.SetVerdict(id, *refusal);
      if (refusal || worksheet.empty()) continue;
      worksheets_.emplace(id, std::move(worksheet));
      queues_.Add(id);
      turns_.Expect(id);
    }
  }

  // Admits the job when there is no enqueue action; false when its queue is not open.
  bool Admit(JobId id) {
    const Job& job = session_.state().workload().job(id);
    if (!job.queue.valid()) return true;  // Unfit gives the verdict
    if (auto closed = RefuseIfClosedTo(session_.state(), job)) {
      session_.SetVerdict(id, std::move(*closed));
      return false;
    }
    session_.SetPhase(id, JobPhase::kInqueue);
    return true;
  }

  // True when tasks of the job were placed and some are left: it gets another turn after the
  // others.
  bool Offer(JobId id) {
    if (!turns_.Begin(id)) return false;
    const bool again = TakeTurn(id);
    turns_.End(id);
    return again;
  }

  bool TakeTurn(JobId id) {
    Worksheet& worksheet = worksheets_.try_emplace(id, session_, id).first->second;
    Search::Outcome outcome = FindPlace(id, worksheet);
    // What is kept for jobs of lower priority is there for this one.
    const bool lifted =
        !outcome.ok && session_.claims() != nullptr && session_.claims()->LiftFor(id);
    if (lifted) outcome = FindPlace(id, worksheet);
    const bool again = Conclude(id, worksheet, outcome);
    if (lifted) session_.claims()->Restore();
    return again;
  }

  Search::Outcome FindPlace(JobId id, Worksheet& worksheet) {
    Search::Outcome outcome = search_.Run(id, worksheet, Pass::kReady);
    if (outcome.ok || !session_.state().nodes().HasReleasing()) return outcome;
    Search::Outcome waiting = search_.Run(id, worksheet, Pass::kWaiting);
    waiting.cut = outcome.cut;
    return waiting;
  }

  // Makes what the search came to final.
  bool Conclude(JobId id, Worksheet& worksheet, const Search::Outcome& outcome) {
    ClusterState& state = session_.state();
    if (!outcome.ok) {
      Refusal refusal = ExplainUnplaced(session_, search_, id, worksheet, outcome.quota);
      if (outcome.cut) refusal.message += WhySecondSearchEnded(*outcome.cut);
      turns_.Failed(
          id, refusal, [&] { return NeedsOf(session_, id, worksheet, outcome.quota.has_value()); });
      session_.SetVerdict(id, std::move(refusal));
      return false;
    }
    if (!session_.plugins().JobReady(state.workload().job(id))) {
      session_.SetVerdict(id, ExplainWaiting(session_, id));
      state.journal().Hold();
      return false;
    }
    session_.Commit(id);
    if (!worksheet.empty()) return true;
    ExplainPassedOver(id);
    return false;
  }

  // Gives the verdict for tasks that are still pending because no turn of the job found them a
  // place.
  void ExplainPassedOver(JobId id) {
    const Job& job = session_.state().workload().job(id);
    if (job.counts.Of(TaskStatus::kPending) == 0) return;
    const Worksheet left(session_, id);
    if (left.empty()) {
      if (auto gates = ExplainGates(session_, id)) session_.SetVerdict(id, std::move(*gates));
      return;
    }
    std::optional<Refusal> quota;
    for (const TaskId task : left.AllLeft(session_)) {
      if (!quota) quota = session_.plugins().Exhausted(task);
    }
    session_.SetVerdict(id, ExplainUnplaced(session_, search_, id, left, quota));
  }

  void DropQueue(QueueId queue) {
    const Queue& the_queue = session_.state().workload().queue(queue);
    for (const JobId id : queues_.Left(queue)) {
      if (CannotStartForSize(session_.state().workload().job(id))) {
        Offer(id);  // only for its verdict: the share of the queue is not what it lacks
        continue;
      }
      session_.SetVerdict(
          id,
          {"QueueOverused",
           fmt::format("queue \"{}\" already uses its full deserved share", the_queue.spec.name)});
    }
  }

  Session& session_;
  Search& search_;
  JobQueues queues_;
  Turns turns_;
  std::map<JobId, Worksheet> worksheets_;
};

}  // namespace

void Allocate(Session& session, Search& search) {
  Allocation(session, search).Run();
}

}  // namespace strata
