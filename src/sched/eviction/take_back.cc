#include "sched/eviction/take_back.h"

#include <algorithm>
#include <string_view>
#include <tuple>
#include <utility>

#include "sched/eviction/claims.h"
#include "sched/eviction/plan_proof.h"

namespace strata {

bool TakeBack::IsCandidate(const Job& job) const {
  if (!session_.plugins().IsIncompleteGang(job) || job.spec.was_whole) return false;
  if (job.phase == JobPhase::kRunning || job.phase == JobPhase::kCompleted) return false;
  const auto has = [&](TaskStatus status) { return job.counts.Of(status) > 0; };
  // Something about it is under way.
  return !has(TaskStatus::kAllocated) && !has(TaskStatus::kPipelined) &&
         !has(TaskStatus::kBinding) && !has(TaskStatus::kReleasing) && !has(TaskStatus::kUnknown);
}

bool TakeBack::HasAllPods(JobId id) const {
  const Job& job = session_.state().workload().job(id);
  const PluginSet& plugins = session_.plugins();
  if (!job.queue.valid() || session_.topologies().WhyImpossible(id) || plugins.JobInvalid(job)) {
    return false;
  }
  return std::none_of(job.sub_jobs.begin(), job.sub_jobs.end(), [&](const SubJob& sub_job) {
    return std::any_of(sub_job.tasks.begin(), sub_job.tasks.end(), [&](TaskId task) {
      return session_.state().workload().task(task).gated;
    });
  });
}

std::vector<JobId> TakeBack::Candidates() {
  const WorkloadTable& workload = session_.state().workload();
  std::vector<JobId> found;
  for (const JobId id : workload.WaitingJobs()) {
    if (IsCandidate(workload.job(id)) && HasAllPods(id)) found.push_back(id);
  }
  std::sort(found.begin(), found.end(), [&](JobId a, JobId b) {
    const Job& left = workload.job(a);
    const Job& right = workload.job(b);
    return std::tuple(left.spec.priority,
                      left.counts.Allocated(),
                      right.spec.created,
                      std::string_view(left.spec.name)) <
           std::tuple(right.spec.priority,
                      right.counts.Allocated(),
                      left.spec.created,
                      std::string_view(right.spec.name));
  });
  return found;
}

std::optional<CycleResult::EvictionPlan> TakeBack::PlanFor(JobId id) {
  const ClusterState& state = session_.state();
  CycleClaims* claims = session_.claims();
  if (claims != nullptr && (claims->Has(id) || claims->FindRefused(id) != nullptr)) {
    return std::nullopt;
  }
  VictimBook& book = session_.caches().victims();
  book.Refresh(state);
  const auto pods = finder_.AllMayGo(id);
  if (!pods) {
    const Time later = book.at(id).open_from;
    if (later > session_.now()) session_.DecideAgainAt(later);
    return std::nullopt;
  }
  const Worksheet worksheet(session_, id);
  if (FitsWithoutEviction(session_, search_, id, worksheet)) return std::nullopt;
  CycleResult::EvictionPlan::Victim victim{
      .job = id, .unit = VictimUnit::Kind::kGang, .tasks = {pods->begin(), pods->end()}};
  victim.has_budget = std::any_of(pods->begin(), pods->end(), [&](TaskId task) {
    return state.workload().task(task).disruption.budgets != 0;
  });
  CycleResult::EvictionPlan plan;
  plan.action = action_;
  plan.claimant = id;
  plan.victims.push_back(std::move(victim));
  return plan;
}

}  // namespace strata
