#include <algorithm>
#include <vector>

#include "sched/actions/actions.h"
#include "sched/job_queues.h"
#include "sched/lifecycle.h"
#include "sched/verdict.h"

namespace strata {
namespace {

std::vector<TaskId> BestEffortTasks(const Session& session, const Job& job) {
  std::vector<TaskId> tasks;
  for (const SubJob& sub_job : job.sub_jobs) {
    for (const TaskId id : sub_job.tasks) {
      const Task& task = session.state().task(id);
      if (task.status == TaskStatus::kPending && task.best_effort && !task.gated)
        tasks.push_back(id);
    }
  }
  std::sort(
      tasks.begin(), tasks.end(), [&](TaskId a, TaskId b) { return session.TaskBefore(a, b); });
  return tasks;
}

// Where the BestEffort pods of a job may go: first where the job is, then as far as its hard limit
// lets it spread.
std::vector<HyperNodeId> Domains(const Session& session, JobId id) {
  const HyperNodeTree& tree = session.tree();
  const Job& job = session.state().job(id);
  if (!job.HasHardTopology() || IsBestEffortOnly(session.state(), job)) return {tree.top()};
  const auto home = tree.Find(job.allocated_hypernode);
  if (!home) return {};
  std::vector<HyperNodeId> domains;
  const TopologyLimit& limit = session.LimitOf(id);
  for (const HyperNodeId ancestor : tree.AncestorsOf(*home)) {
    const bool inside =
        limit.kind != TopologyLimit::Kind::kBounded || tree.at(ancestor).tier <= limit.tier;
    if (inside || domains.empty()) domains.push_back(ancestor);
  }
  return domains;
}

void BackfillJob(Session& session, Search& search, JobId id) {
  for (const TaskId task : BestEffortTasks(session, session.state().job(id))) {
    if (!session.JobReady(session.state().job(id))) return;  // the gang comes first
    const std::vector<HyperNodeId> domains = Domains(session, id);
    const auto found = std::find_if(domains.begin(), domains.end(), [&](HyperNodeId domain) {
      return search.PlaceBestEffort(task, domain);
    });
    if (found != domains.end()) {
      if (session.LimitOf(id).kind == TopologyLimit::Kind::kBounded &&
          !IsBestEffortOnly(session.state(), session.state().job(id))) {
        search.Widen(task);
      }
      session.Commit(id);
    } else if (!domains.empty()) {
      session.SetVerdict(id, ExplainBestEffort(session, task, domains.back()));
    }
  }
}

}  // namespace

void Backfill(Session& session, Search& search) {
  JobQueues queues(session);
  for (const JobId id : session.state().jobs()) {
    const Job& job = session.state().job(id);
    if (job.phase == JobPhase::kPending || !job.queue.valid() ||
        job.counts.pending_best_effort == 0)
      continue;
    if (!session.JobInvalid(job)) queues.Add(id);
  }
  while (const auto queue = queues.TakeQueue()) {
    BackfillJob(session, search, queues.TakeJob(*queue));
    queues.PutBack(*queue);
  }
}

}  // namespace strata
