#include <algorithm>
#include <string>
#include <utility>

#include "sched/actions/actions.h"
#include "sched/eviction/relief.h"
#include "sched/job_queues.h"
#include "sched/never.h"
#include "sched/plugins/queue_rules.h"
#include "sched/verdict.h"

namespace strata {
namespace {

std::optional<Refusal> NotAdmitted(const Session& session, JobId id, EvictionRelief& relief) {
  // A job whose topology cannot be resolved would wait in its queue in vain.
  if (auto refusal = session.topologies().WhyImpossible(id)) return refusal;
  const Job& job = session.state().workload().job(id);
  if (auto closed = RefuseIfClosedTo(session.state(), job)) return closed;
  const bool runs = job.counts.Allocated() >= std::max(job.spec.min_available, 1);
  if (!job.spec.min_resources || runs) return std::nullopt;
  // What it has counts as used already, and it keeps that whatever the vote.
  if (session.plugins().IsIncompleteGang(job)) return std::nullopt;
  auto refusal = session.plugins().NotEnqueueable(job);
  if (!refusal) return std::nullopt;
  const Relief freed = relief.For(id);
  if (!freed.empty()) refusal = session.plugins().NotEnqueueable(job, freed);
  if (!refusal) return std::nullopt;
  Refusal why =
      AddClusterShortage(session, id, std::move(*refusal), *Minimum(session.state(), job));
  const std::string kept =
      freed.empty() && !IsNever(why) && session.Explains(id) ? relief.WhoIsProtected(id) : "";
  if (!kept.empty()) why.message += "; " + kept;
  return why;
}

}  // namespace

void Enqueue(Session& session, Search& /*search*/) {
  JobQueues queues(session);
  for (const JobId id : session.state().workload().WaitingJobs()) {
    const Job& job = session.state().workload().job(id);
    if (job.phase != JobPhase::kPending) continue;
    if (job.queue.valid()) {
      queues.Add(id);
    } else {
      session.SetVerdict(id, QueueNotFound(job));
    }
  }
  EvictionRelief relief(session);
  bool some_stay_outside = false;
  while (const auto queue = queues.TakeQueue()) {
    const JobId id = queues.TakeJob(*queue);
    if (auto refusal = NotAdmitted(session, id, relief)) {
      session.SetVerdict(id, std::move(*refusal));
      some_stay_outside = true;
    } else {
      session.plugins().TellEnqueued(session.state().workload().job(id));
      session.SetPhase(id, JobPhase::kInqueue);
    }
    queues.PutBack(*queue);
  }
  if (!some_stay_outside) return;
  if (const auto due = relief.GrowsAt()) session.DecideAgainAt(*due);
}

}  // namespace strata
