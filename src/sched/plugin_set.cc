#include "sched/plugin_set.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace strata {
namespace {

// Volcano's way of combining permit and reject: the first tier with an opinion decides, a reject
// ends it at once.
template <typename PointsOfTier, typename Ask>
bool Passes(const std::vector<Points::Tier>& tiers, const PointsOfTier& points_of, const Ask& ask) {
  for (const Points::Tier& tier : tiers) {
    bool permitted = false;
    for (const auto* point : points_of(tier)) {
      const Vote vote = ask(*point);
      if (vote == Vote::kReject) return false;
      permitted = permitted || vote == Vote::kPermit;
    }
    if (permitted) return true;
  }
  return true;
}

template <typename Compare>
int FirstOpinion(const std::vector<const OrderPoint*>& points, const Compare& compare) {
  for (const OrderPoint* point : points) {
    if (const int order = compare(*point); order != 0) return order;
  }
  return 0;
}

}  // namespace

PluginSet::PluginSet(const ClusterState& state,
                     std::vector<std::unique_ptr<Plugin>> plugins,
                     Points points)
    : state_(state), plugins_(std::move(plugins)), points_(std::move(points)) {}

void PluginSet::Open(Time now) {
  for (const auto& plugin : plugins_) plugin->Open(state_, now);
}

bool PluginSet::DependsOnTime() const {
  return std::any_of(
      plugins_.begin(), plugins_.end(), [](const auto& plugin) { return plugin->DependsOnTime(); });
}

std::uint64_t PluginSet::ScoresVersion() const {
  std::uint64_t version = 0;
  for (const auto& plugin : plugins_) version += plugin->ScoresVersion();
  return version;
}

bool PluginSet::JobReady(const Job& job) const {
  return std::all_of(points_.job_ready.begin(), points_.job_ready.end(), [&](const auto* point) {
    return point->Ready(job);
  });
}

bool PluginSet::IsIncompleteGang(const Job& job) const {
  const TaskCounts& counts = job.counts;
  const bool has_some = counts.Allocated() > counts.Of(TaskStatus::kAllocated);
  return has_some && !JobReady(job);
}

bool PluginSet::JobStarving(const Job& job) const {
  const auto tier = std::find_if(points_.tiers.begin(), points_.tiers.end(), [](const auto& one) {
    return !one.starving.empty();
  });
  return tier != points_.tiers.end() &&
         std::all_of(tier->starving.begin(), tier->starving.end(), [&](const auto* point) {
           return point->Starving(job);
         });
}

bool PluginSet::JobPipelined(const Job& job) const {
  return Passes(
      points_.tiers,
      [](const Points::Tier& tier) -> const auto& { return tier.job_pipelined; },
      [&](const JobGatePoint& point) { return point.Pipelined(job); });
}

bool PluginSet::SubJobReady(const Job& job, const SubJob& sub_job) const {
  if (job.spec.sub_groups.empty()) return JobReady(job);
  return std::all_of(points_.sub_job_ready.begin(),
                     points_.sub_job_ready.end(),
                     [&](const auto* point) { return point->SubJobReady(job, sub_job); });
}

bool PluginSet::SubJobPipelined(const Job& job, const SubJob& sub_job) const {
  if (job.spec.sub_groups.empty()) return JobPipelined(job);
  return Passes(
      points_.tiers,
      [](const Points::Tier& tier) -> const auto& { return tier.sub_job_pipelined; },
      [&](const SubJobGatePoint& point) { return point.SubJobPipelined(job, sub_job); });
}

std::optional<Refusal> PluginSet::JobInvalid(const Job& job) const {
  for (const JobGatePoint* point : points_.job_valid) {
    if (auto refusal = point->Invalid(job)) return refusal;
  }
  return std::nullopt;
}

std::optional<Refusal> PluginSet::NotEnqueueable(const Job& job, const Relief& relief) const {
  Refusal refusal;
  const bool passes = Passes(
      points_.tiers,
      [](const Points::Tier& tier) -> const auto& { return tier.enqueueable; },
      [&](const JobGatePoint& point) {
        Ballot ballot =
            relief.empty() ? point.Enqueueable(job) : point.EnqueueableWith(job, relief);
        if (ballot.vote == Vote::kReject) refusal = std::move(ballot.refusal);
        return ballot.vote;
      });
  return passes ? std::nullopt : std::optional(refusal);
}

void PluginSet::TellEnqueued(const Job& job) {
  for (JobGatePoint* point : points_.enqueued) point->OnEnqueued(job);
}

bool PluginSet::Overused(QueueId queue) const {
  return std::any_of(points_.overused.begin(), points_.overused.end(), [&](const auto* point) {
    return point->Overused(queue);
  });
}

std::optional<Refusal> PluginSet::Exhausted(TaskId id) const {
  const Task& task = state_.workload().task(id);
  const Job& job = state_.workload().job(task.job);
  const Resources& request = state_.classes().counted(task.class_id);
  const bool beyond_share = task.IsOversized() || IsIncompleteGang(job);
  const auto limit = beyond_share ? QuotaPoint::Limit::kMax : QuotaPoint::Limit::kShare;
  for (const QuotaPoint* point : points_.allocatable) {
    if (auto refusal = point->Exhausted(job.queue, request, limit)) return refusal;
  }
  return std::nullopt;
}

bool PluginSet::ExhaustedForGood(TaskId id) const {
  const Task& task = state_.workload().task(id);
  const QueueId queue = state_.workload().job(task.job).queue;
  const Resources& request = state_.classes().counted(task.class_id);
  return std::any_of(points_.allocatable.begin(), points_.allocatable.end(), [&](const auto* one) {
    return one->Exhausted(queue, request, QuotaPoint::Limit::kMax).has_value();
  });
}

bool PluginSet::ScoresTasksOf(JobId job) const {
  return std::any_of(points_.tasks.begin(), points_.tasks.end(), [&](const auto& score) {
    return score.point->ScoresTasksOf(job);
  });
}

bool PluginSet::QueueBefore(QueueId a, QueueId b) const {
  const Queue& left = state_.workload().queue(a);
  const Queue& right = state_.workload().queue(b);
  const int order = FirstOpinion(points_.queue_order, [&](const OrderPoint& point) {
    return point.CompareQueues(left, right);
  });
  if (order != 0) return order < 0;
  return std::tie(left.spec.created, left.spec.uid, left.spec.name) <
         std::tie(right.spec.created, right.spec.uid, right.spec.name);
}

bool PluginSet::JobBefore(JobId a, JobId b) const {
  const Job& left = state_.workload().job(a);
  const Job& right = state_.workload().job(b);
  const int order = FirstOpinion(
      points_.job_order, [&](const OrderPoint& point) { return point.CompareJobs(left, right); });
  if (order != 0) return order < 0;
  // Not by uid: who creates jobs in the same second numbers them by name.
  return std::tie(left.spec.created, left.spec.name) <
         std::tie(right.spec.created, right.spec.name);
}

bool PluginSet::SubJobBefore(const Job& job, const SubJob& a, const SubJob& b) const {
  const int order = FirstOpinion(points_.sub_job_order, [&](const OrderPoint& point) {
    return point.CompareSubJobs(job, a, b);
  });
  if (order != 0) return order < 0;
  return std::tie(a.match_index, a.name, a.key) < std::tie(b.match_index, b.name, b.key);
}

bool PluginSet::TaskBefore(TaskId a, TaskId b) const {
  const Task& left = state_.workload().task(a);
  const Task& right = state_.workload().task(b);
  const int order = FirstOpinion(
      points_.task_order, [&](const OrderPoint& point) { return point.CompareTasks(left, right); });
  if (order != 0) return order < 0;
  // Numbered tasks come first, or the order would not be transitive.
  if ((left.index >= 0) != (right.index >= 0)) return left.index >= 0;
  if (left.index != right.index) return left.index < right.index;
  return std::tie(left.created, left.uid, left.name) <
         std::tie(right.created, right.uid, right.name);
}

}  // namespace strata
