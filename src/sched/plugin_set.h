#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "base/clock.h"
#include "base/ids.h"
#include "model/cluster_state.h"
#include "sched/class_view.h"
#include "sched/extension.h"
#include "sched/victim_point.h"

namespace strata {

// The plugins of a configuration, by extension point. A point in `tiers` is asked tier by tier:
// the first tier with an opinion decides.
struct Points {
  template <typename Point>
  using Named = NodePoints::Named<Point>;

  struct Tier {
    std::vector<const JobGatePoint*> enqueueable;
    std::vector<const JobGatePoint*> job_pipelined;
    std::vector<const SubJobGatePoint*> sub_job_pipelined;
    std::vector<const StarvingPoint*> starving;
    // Asked by preempt, by reclaim, and by gangpreempt and gangreclaim.
    std::vector<const VictimPoint*> preemptable, reclaimable, evictable;
  };
  std::vector<Tier> tiers;
  std::vector<const OrderPoint*> queue_order, job_order, sub_job_order, task_order;
  std::vector<const JobGatePoint*> job_valid, job_ready;
  std::vector<JobGatePoint*> enqueued;
  std::vector<const SubJobGatePoint*> sub_job_ready;
  std::vector<const QuotaPoint*> overused, allocatable;
  NodePoints nodes;
  std::vector<Named<ChainScorePoint>> chains;
  std::vector<Named<HyperNodeScorePoint>> hypernodes;
  std::vector<Named<TaskScorePoint>> tasks;
  const GradientPoint* gradient = nullptr;
  const DevicePoint* devices = nullptr;
};

// The plugins of one configuration. Asks all plugins that serve an extension point and combines
// their answers into one, as Volcano does.
//
// Lives as long as the scheduler. Between two calls of Open every answer is a function of the state
// and of the time that Open was given.
class PluginSet {
 public:
  // `points` point into `plugins`. REQUIRES: `state` outlives the set.
  PluginSet(const ClusterState& state, std::vector<std::unique_ptr<Plugin>> plugins, Points points);
  PluginSet(const PluginSet&) = delete;
  PluginSet& operator=(const PluginSet&) = delete;

  // A cycle begins.
  void Open(Time now);
  // True when the answers of a plugin depend on the time given to Open.
  [[nodiscard]] bool DependsOnTime() const;
  // Another number when nodes that did not change may have other scores than in the cycle before.
  [[nodiscard]] std::uint64_t ScoresVersion() const;

  // For callers that combine the answers themselves: scores, filters, devices, the gradient.
  [[nodiscard]] const Points& points() const { return points_; }

  // ---- gates ----
  // Ready: enough tasks have a node, so that the job can start. Pipelined: enough tasks have a node
  // or wait for resources that are being released.
  [[nodiscard]] bool JobReady(const Job& job) const;
  [[nodiscard]] bool JobPipelined(const Job& job) const;
  // True when pods of others may go for the job: all plugins of the first tier that has any to ask
  // say that it lacks something.
  [[nodiscard]] bool JobStarving(const Job& job) const;
  // True when pods of the job are bound or run, but fewer than its gang needs: after a restart in
  // the middle of its binds, or because a pod was lost.
  [[nodiscard]] bool IsIncompleteGang(const Job& job) const;
  // The same for a sub-job; in a job without sub-groups the answer is that of the job.
  [[nodiscard]] bool SubJobReady(const Job& job, const SubJob& sub_job) const;
  [[nodiscard]] bool SubJobPipelined(const Job& job, const SubJob& sub_job) const;
  // Why the job can never start as it is; none when it can.
  [[nodiscard]] std::optional<Refusal> JobInvalid(const Job& job) const;
  // Why the job may not enter its queue yet; none when it may.
  [[nodiscard]] std::optional<Refusal> NotEnqueueable(const Job& job,
                                                      const Relief& relief = {}) const;
  void TellEnqueued(const Job& job);

  // ---- quotas ----
  // True when the queue gets nothing more in this cycle, except for incomplete gangs.
  [[nodiscard]] bool Overused(QueueId queue) const;
  // Why the queue of a pending task may not have its request, too, now; none when it may. An
  // incomplete gang may use more than the share of its queue until it is ready; and the share does
  // not count what oversized tasks ask for, so they are not measured by it.
  [[nodiscard]] std::optional<Refusal> Exhausted(TaskId task) const;
  // The same about the most that the queue may ever have, whatever its share: for what was already
  // decided by its share.
  [[nodiscard]] bool ExhaustedForGood(TaskId task) const;

  // ---- scores ----
  // True when a plugin gives tasks of one class in this job different scores.
  [[nodiscard]] bool ScoresTasksOf(JobId job) const;

  // ---- orders ----
  // Strict total orders: first the plugins, then creation time, uid and name; jobs after creation
  // time by name ("namespace/podgroup"). Tasks with a number in their name come before that by
  // their number.
  [[nodiscard]] bool QueueBefore(QueueId a, QueueId b) const;
  [[nodiscard]] bool JobBefore(JobId a, JobId b) const;
  [[nodiscard]] bool SubJobBefore(const Job& job, const SubJob& a, const SubJob& b) const;
  [[nodiscard]] bool TaskBefore(TaskId a, TaskId b) const;

 private:
  const ClusterState& state_;
  std::vector<std::unique_ptr<Plugin>> plugins_;
  Points points_;
};

}  // namespace strata
