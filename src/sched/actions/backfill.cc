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

// Where a BestEffort pod may go: first where its job (or sub-job) is, then as far as that may
// spread.
std::vector<HyperNodeId> Domains(const Session& session, const Task& task) {
  const HyperNodeTree& tree = session.tree();
  const Job& job = session.state().job(task.job);
  const SubJob& sub_job = job.sub_jobs[task.sub_job];
  if (session.ImpossibleTopology(task.job)) return {};
  const bool of_sub_job = sub_job.topology.mode == TopologySpec::Mode::kHard;
  const bool hard = of_sub_job || job.spec.topology.mode == TopologySpec::Mode::kHard;
  const TopologyLimit& limit =
      of_sub_job ? session.LimitOf(task.job, task.sub_job) : session.LimitOf(task.job);
  if (!hard || limit.kind != TopologyLimit::Kind::kBounded) return {tree.top()};
  const auto home = tree.Find(of_sub_job ? sub_job.allocated_hypernode : job.allocated_hypernode);
  if (!home) return {};
  std::vector<HyperNodeId> domains{*home};
  for (const HyperNodeId ancestor : tree.AncestorsOf(*home)) {
    if (ancestor != *home && tree.at(ancestor).tier <= limit.tier) domains.push_back(ancestor);
  }
  return domains;
}

void BackfillJob(Session& session, Search& search, JobId id) {
  for (const TaskId task : BestEffortTasks(session, session.state().job(id))) {
    if (!session.JobReady(session.state().job(id))) return;  // the gang comes first
    const std::vector<HyperNodeId> domains = Domains(session, session.state().task(task));
    const auto found = std::find_if(domains.begin(), domains.end(), [&](HyperNodeId domain) {
      return search.PlaceBestEffort(task, domain);
    });
    if (found != domains.end()) {
      if (session.LimitOf(id).kind == TopologyLimit::Kind::kBounded) {
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
