#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/ids.h"
#include "model/cluster_state.h"
#include "sched/class_view.h"
#include "sched/extension.h"
#include "sched/scheduler.h"
#include "sched/topology_limit.h"
#include "sched/trace.h"

namespace strata {

// The plugins of a configuration, sorted by what they are asked. Tiers matter where votes do.
struct Points {
  template <typename Point>
  using Named = NodePoints::Named<Point>;

  struct Tier {
    std::vector<const JobGatePoint*> enqueueable;
    std::vector<const JobGatePoint*> job_pipelined;
    std::vector<const SubJobGatePoint*> sub_job_pipelined;
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

// One cycle: the state, the plugins' answers combined as Volcano combines them, and what has been
// decided so far.
class Session {
 public:
  Session(ClusterState& state,
          std::vector<std::unique_ptr<Plugin>> plugins,
          Points points,
          std::vector<ActionConfig> actions);

  // Lets go of what is remembered by class when it has become too much; between cycles also when
  // ids of classes mean others now. True when it did: no View of before may be used again.
  [[nodiscard]] bool ForgetViews();
  [[nodiscard]] bool ForgetSurplusViews();
  void Open(Time now, TraceSink* trace);
  [[nodiscard]] CycleResult Close();

  ClusterState& state() { return state_; }
  [[nodiscard]] const ClusterState& state() const { return state_; }
  [[nodiscard]] const HyperNodeTree& tree() const { return state_.tree(); }
  [[nodiscard]] const Points& points() const { return points_; }
  [[nodiscard]] const std::vector<ActionConfig>& actions() const { return actions_; }
  [[nodiscard]] bool HasAction(std::string_view name) const;

  // ---- questions to the plugins ----
  [[nodiscard]] bool JobReady(const Job& job) const;
  [[nodiscard]] bool JobPipelined(const Job& job) const;
  // Of a job without sub-groups: the job's own.
  [[nodiscard]] bool SubJobReady(const Job& job, const SubJob& sub_job) const;
  [[nodiscard]] bool SubJobPipelined(const Job& job, const SubJob& sub_job) const;
  [[nodiscard]] std::optional<Refusal> JobInvalid(const Job& job) const;
  [[nodiscard]] std::optional<Refusal> NotEnqueueable(const Job& job) const;
  void TellEnqueued(const Job& job);
  [[nodiscard]] bool Overused(QueueId queue) const;
  [[nodiscard]] std::optional<Refusal> Exhausted(QueueId queue, const Resources& request) const;

  // Strict total orders: plugins first, then creation and uid (tasks: the number in their name
  // before that).
  [[nodiscard]] bool QueueBefore(QueueId a, QueueId b) const;
  [[nodiscard]] bool JobBefore(JobId a, JobId b) const;
  [[nodiscard]] bool SubJobBefore(const Job& job, const SubJob& a, const SubJob& b) const;
  [[nodiscard]] bool TaskBefore(TaskId a, TaskId b) const;

  // ---- what this cycle knows ----
  // The highest tier the job (sub_job none) or one of its sub-jobs may span, or why there is no
  // answer.
  [[nodiscard]] const TopologyLimit& LimitOf(JobId job) const;
  [[nodiscard]] const TopologyLimit& LimitOf(JobId job, std::size_t sub_job) const;
  // Why the topology that the job or a sub-job asks for cannot even be looked up, if so.
  [[nodiscard]] std::optional<Refusal> ImpossibleTopology(JobId job) const;
  ClassView& View(ClassId class_id);

  // ---- decisions ----
  [[nodiscard]] bool tracing() const { return trace_ != nullptr; }
  // Whether the listener, if there is one, also wants to hear of every node.
  [[nodiscard]] bool tracing_nodes() const { return tracing() && trace_->WantsNodes(); }
  void Trace(TraceRecord record) { trace_->Record(std::move(record)); }
  // Nothing is recorded while one lives.
  class Silence {
   public:
    explicit Silence(Session& session)
        : session_(session), trace_(std::exchange(session.trace_, nullptr)) {}
    Silence(const Silence&) = delete;
    Silence& operator=(const Silence&) = delete;
    ~Silence() { session_.trace_ = trace_; }

   private:
    Session& session_;
    TraceSink* trace_;
  };
  // Allocates or pipelines the task, with the GPUs it asks for (or those given), and tells the
  // listener. REQUIRES: the node takes it so.
  void Place(TaskId task,
             NodeId node,
             DevicePoint::When when,
             HyperNodeId domain,
             std::optional<GpuClaim> given = std::nullopt);
  // Makes the journal final and notes its binds.
  void Commit(JobId job);
  void SetVerdict(JobId job, Refusal refusal) {
    verdicts_.insert_or_assign(job, std::move(refusal));
  }
  [[nodiscard]] bool HasVerdict(JobId job) const { return verdicts_.contains(job); }
  void SetPhase(JobId job, JobPhase phase);

 private:
  ClusterState& state_;
  std::vector<std::unique_ptr<Plugin>> plugins_;
  Points points_;
  std::vector<ActionConfig> actions_;
  std::vector<std::unique_ptr<ClassView>> views_;  // by class of this epoch, kept between cycles
  std::size_t views_made_ = 0;
  std::uint64_t class_epoch_ = 0;
  TraceSink* trace_ = nullptr;

  // Object, reason, message.
  using Warning = std::tuple<std::string, std::string, std::string>;
  struct Limits {
    TopologyLimit job;
    std::vector<TopologyLimit> sub_jobs;
  };
  // What follows from the topology of jobs is kept between cycles: only jobs that changed are
  // looked at again, and all of them when the tree did.
  void ResolveTopologies();
  void ResolveTopology(JobId id);
  void Warn(JobId id, const char* reason, const std::string& message);
  // Of topologies of sub-group policies that pods are not bound by.
  void WarnOfPolicies(JobId id);
  [[nodiscard]] std::shared_ptr<const std::vector<CycleResult::Warning>> ListWarnings() const;
  // Gives jobs that changed since the last cycle the phase they have come to.
  void MovePhases();
  [[nodiscard]] std::vector<JobId> AllJobs() const;

  std::map<JobId, Limits> limits_;              // of jobs with topology that binds
  std::map<JobId, std::set<Warning>> unbound_;  // of jobs with topology that does not, or not all
  std::shared_ptr<const std::vector<CycleResult::Warning>> warnings_;  // these; null: to be made
  std::uint64_t limits_tree_ = 0;  // the version of the tree of the two
  std::uint64_t limits_seen_ = 0;  // changes of jobs before this one are in them
  std::uint64_t phases_seen_ = 0;  // changes of jobs before this one are in the phases
  std::map<JobId, Refusal> verdicts_;
  std::vector<CycleResult::Bind> binds_;
  bool phases_changed_ = false;
};

}  // namespace strata
