#include "sched/plugins/queue_rules.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <string>

#include <fmt/format.h>

#include "sched/need.h"

namespace strata {
namespace {

// Some tasks of a job are gated only while it waits for admission; most jobs have none.
void TakeGatedOff(const ClusterState& state, const Job& job, Resources& promised) {
  for (const SubJob& sub_job : job.sub_jobs) {
    for (const TaskId id : sub_job.tasks) {
      const Task& task = state.workload().task(id);
      if (!task.gated || task.status != TaskStatus::kPending) continue;
      promised.Sub(state.workload().CountedOf(id));
      promised.ClampAtZero();  // one by one: their sum may exceed 64 bits
    }
  }
}

}  // namespace

double ToleranceOf(ResourceId resource) {
  return resource == kPods ? 0.001 : 1.0;
}

Amount ToAmount(double amount) {
  constexpr double kMax = 9.2e18;
  return std::llround(std::clamp(amount, -kMax, kMax));
}

std::optional<Refusal> RefuseIfClosed(const Queue& queue) {
  if (queue.spec.open) return std::nullopt;
  return Refusal{"QueueClosed", fmt::format("queue {} is not open", queue.spec.name)};
}

std::optional<Refusal> RefuseIfClosedTo(const ClusterState& state, const Job& job) {
  const bool runs = job.counts.Allocated() >= std::max(job.spec.min_available, 1);
  return runs ? std::nullopt : RefuseIfClosed(state.workload().queue(job.queue));
}

ClusterLimit::ClusterLimit(const ClusterState& state) : gpus_(state.nodes().RegisteredGpus()) {
  if (!gpus_) return;
  const std::span<const Amount> total = state.sums().Allocatable(state.tree().top());
  all_ = gpus_->index() < total.size() ? static_cast<double>(total[gpus_->index()]) : 0;
}

LimitKind KindOf(const ClusterState& state, const QueueLimit& limit) {
  const double tolerance = ToleranceOf(limit.resource);
  if (limit.gang > limit.capability + tolerance) return LimitKind::kGang;
  if (limit.capability <= limit.limit + tolerance) return LimitKind::kQuota;
  const std::span<const Amount> total = state.sums().Allocatable(state.tree().top());
  const std::size_t index = limit.resource.index();
  const double all = index < total.size() ? static_cast<double>(total[index]) : 0;
  if (limit.limit >= all - tolerance) return LimitKind::kCluster;
  // Neither a larger share nor smaller guarantees would help.
  if (limit.wanted > limit.capability + tolerance) return LimitKind::kQuota;
  return limit.by_share ? LimitKind::kShare : LimitKind::kGuarantees;
}

std::string ReasonOf(LimitKind kind) {
  switch (kind) {
    case LimitKind::kGang:
      return "GangLargerThanQueue";
    case LimitKind::kQuota:
      return "QueueQuotaExceeded";
    case LimitKind::kShare:
      return "QueueShareExceeded";
    case LimitKind::kGuarantees:
      return "GuaranteedToOthers";
    case LimitKind::kCluster:
      break;
  }
  return "ClusterFull";
}

std::string DescribeLimit(LimitKind kind, const std::string& amount) {
  switch (kind) {
    case LimitKind::kGang:
      return fmt::format("its limit is {}, less than the gang requests by itself", amount);
    case LimitKind::kQuota:
      return "its limit is " + amount;
    case LimitKind::kShare:
      return "its share is " + amount;
    case LimitKind::kGuarantees:
      return amount + " not guaranteed to other queues";
    case LimitKind::kCluster:
      break;
  }
  return "the cluster has " + amount;
}

bool HoldsPromise(const Job& job) {
  if (job.phase == JobPhase::kInqueue) return true;
  return job.phase == JobPhase::kRunning && job.counts.Allocated() >= job.spec.min_available;
}

Resources PromisedTo(const ClusterState& state, const Job& job) {
  if (!job.spec.min_resources) return {};
  Resources promised = *Minimum(state, job);
  promised.Sub(job.allocated);
  promised.ClampAtZero();
  if (promised.size() == 0) return promised;
  TakeGatedOff(state, job, promised);
  return promised;
}

void AddTo(Amounts& sum, const Amounts& more) {
  for (std::size_t i = 0; i < std::min(sum.size(), more.size()); ++i) sum[i] += more[i];
}

void AddTo(Amounts& sum, const Resources& more) {
  const std::span<const Amount> amounts = more.amounts();
  for (std::size_t i = 0; i < std::min(sum.size(), amounts.size()); ++i) {
    sum[i] += static_cast<double>(amounts[i]);
  }
}

double At(const Amounts& amounts, ResourceId resource) {
  return resource.index() < amounts.size() ? amounts[resource.index()] : 0;
}

}  // namespace strata
