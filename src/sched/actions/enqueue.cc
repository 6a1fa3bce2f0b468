#include <algorithm>
#include <utility>

#include "sched/actions/actions.h"
#include "sched/job_queues.h"
#include "sched/plugins/queue_rules.h"
#include "sched/verdict.h"

namespace strata {
namespace {

std::optional<Refusal> NotAdmitted(const Session& session, JobId id) {
  // A job that asks for a topology nobody can look up would only wait in its queue for nothing.
  if (auto refusal = session.ImpossibleTopology(id)) return refusal;
  const Job& job = session.state().job(id);
  if (auto closed = RefuseIfClosedTo(session.state(), job)) return closed;
  const bool runs = job.counts.Allocated() >= std::max(job.spec.min_available, 1);
  if (!job.spec.min_resources || runs) return std::nullopt;
  auto refusal = session.NotEnqueueable(job);
  if (!refusal) return std::nullopt;
  return NotTheQueueAlone(session, id, std::move(*refusal), *job.spec.min_resources);
}

}  // namespace

void Enqueue(Session& session, Search& /*search*/) {
  JobQueues queues(session);
  for (const JobId id : session.state().WaitingJobs()) {
    const Job& job = session.state().job(id);
    if (job.phase != JobPhase::kPending) continue;
    if (job.queue.valid()) {
      queues.Add(id);
    } else {
      session.SetVerdict(id, QueueNotFound(job));
    }
  }
  while (const auto queue = queues.TakeQueue()) {
    const JobId id = queues.TakeJob(*queue);
    if (auto refusal = NotAdmitted(session, id)) {
      session.SetVerdict(id, std::move(*refusal));
    } else {
      session.TellEnqueued(session.state().job(id));
      session.SetPhase(id, JobPhase::kInqueue);
    }
    queues.PutBack(*queue);
  }
}

}  // namespace strata
