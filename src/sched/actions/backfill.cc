#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "sched/actions/actions.h"
#include "sched/job_queues.h"
#include "sched/turns.h"
#include "sched/verdict.h"

namespace strata {
namespace {

std::vector<TaskId> BestEffortTasks(const Session& session, const Job& job) {
  std::vector<TaskId> tasks;
  for (const SubJob& sub_job : job.sub_jobs) {
    for (const TaskId id : sub_job.tasks) {
      const Task& task = session.state().workload().task(id);
      if (task.status == TaskStatus::kPending && task.best_effort && !task.gated) {
        tasks.push_back(id);
      }
    }
  }
  std::sort(tasks.begin(), tasks.end(), [&](TaskId a, TaskId b) {
    return session.plugins().TaskBefore(a, b);
  });
  return tasks;
}

// `home` and what is above it up to tier `limit`, the nearest first.
std::vector<HyperNodeId> Around(const HyperNodeTree& tree, HyperNodeId home, std::int32_t limit) {
  std::vector<HyperNodeId> around{home};
  for (const HyperNodeId ancestor : tree.AncestorsOf(home)) {
    if (ancestor != home && tree.at(ancestor).tier <= limit) around.push_back(ancestor);
  }
  return around;
}

// Everything at or below `within` up to tier `limit`, the lowest first.
std::vector<HyperNodeId> Below(const Session& session, HyperNodeId within, std::int32_t limit) {
  const Resources nothing;
  const GradientQuery query{
      .within = within, .allocated = {}, .limit = limit, .need = &nothing, .explain = false};
  std::vector<HyperNodeId> below;
  for (const Gradient::Tier& tier :
       session.plugins().points().gradient->Find(session.state(), query).tiers) {
    below.insert(below.end(), tier.eligible.begin(), tier.eligible.end());
  }
  return below;
}

// Where a BestEffort pod may go, the best first: where its sub-job is, then around that, as far as
// the limits of sub-job and job reach. While nothing of the sub-job has a place, anywhere in reach
// of the job; and while nothing of the job has one, nowhere: the others choose the domain.
std::vector<HyperNodeId> Domains(const Session& session, const Task& task) {
  const HyperNodeTree& tree = session.tree();
  const Job& job = session.state().workload().job(task.job);
  const std::int32_t top_tier = tree.at(tree.top()).tier;
  const auto reach = [&](const TopologyLimit& limit) {
    return limit.kind == TopologyLimit::Kind::kBounded ? limit.tier : top_tier;
  };
  if (session.topologies().WhyImpossible(task.job)) return {};
  const std::int32_t job_limit = reach(session.topologies().LimitOf(task.job));
  const std::int32_t limit =
      std::min(job_limit, reach(session.topologies().LimitOf(task.job, task.sub_job)));
  if (limit >= top_tier) return {tree.top()};
  if (const auto home = tree.Find(job.sub_jobs[task.sub_job].allocated_hypernode)) {
    return Around(tree, *home, limit);
  }
  if (const auto home = tree.Find(job.allocated_hypernode)) {
    return Below(session, Around(tree, *home, job_limit).back(), limit);
  }
  const bool alone = job.counts.Allocated() == 0 &&
                     job.counts.Of(TaskStatus::kPending) == job.counts.pending_best_effort;
  return alone ? Below(session, tree.top(), limit) : std::vector<HyperNodeId>{};
}

// The verdict when the task was tried and found no node.
std::optional<Refusal> BackfillTask(Session& session, Search& search, TaskId id) {
  const Task& task = session.state().workload().task(id);
  const Job& job = session.state().workload().job(task.job);
  std::vector<HyperNodeId> domains;
  if (session.plugins().JobReady(job) &&
      session.plugins().SubJobReady(job, job.sub_jobs[task.sub_job])) {
    domains = Domains(session, task);  // else the gang comes first
  }
  const auto found = std::find_if(domains.begin(), domains.end(), [&](HyperNodeId domain) {
    return search.PlaceBestEffort(id, domain);
  });
  if (found != domains.end()) {
    search.ExtendAllocatedBy(id, *found);
    session.Commit(task.job);
    return std::nullopt;
  }
  if (!domains.empty()) return ExplainBestEffort(session, id, domains.back());
  if (!session.HasVerdict(task.job)) session.SetVerdict(task.job, ExplainHelper(session, id));
  return std::nullopt;
}

void BackfillJob(Session& session, Search& search, Turns& turns, JobId id) {
  const std::vector<TaskId> tasks = BestEffortTasks(session, session.state().workload().job(id));
  std::vector<TaskId> failed;
  std::optional<Refusal> verdict;
  for (const TaskId task : tasks) {
    auto refusal = BackfillTask(session, search, task);
    if (!refusal) continue;
    session.SetVerdict(id, *refusal);
    failed.push_back(task);
    verdict = std::move(refusal);
  }
  if (verdict) turns.Failed(id, *verdict, [&] { return NeedsOf(session, failed); });
}

}  // namespace

void Backfill(Session& session, Search& search) {
  JobQueues queues(session);
  Turns turns(session, Attempts::Action::kBackfill);
  for (const JobId id : session.state().workload().WaitingJobs()) {
    const Job& job = session.state().workload().job(id);
    if (job.phase == JobPhase::kPending || !job.queue.valid() ||
        job.counts.pending_best_effort == 0) {
      continue;
    }
    if (session.plugins().JobInvalid(job)) continue;
    const Turns::Plan plan = turns.PlanFor(id);
    if (plan == Turns::Plan::kSkip) continue;
    queues.Add(id);
    if (plan == Turns::Plan::kTry) turns.Expect(id);
  }
  while (const auto queue = queues.TakeQueue()) {
    const JobId id = queues.TakeJob(*queue);
    if (turns.Begin(id)) {
      BackfillJob(session, search, turns, id);
      turns.End(id);
    }
    queues.PutBack(*queue);
  }
}

}  // namespace strata
