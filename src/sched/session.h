#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/ids.h"
#include "model/cluster_state.h"
#include "sched/attempts.h"
#include "sched/caches.h"
#include "sched/config.h"
#include "sched/cycle_result.h"
#include "sched/plugin_set.h"
#include "sched/trace.h"
#include "sched/work_meter.h"

namespace strata {

class CycleClaims;

// One cycle, from its beginning to its result: what has been decided so far, and where the
// decisions are recorded. It owns nothing that outlives the cycle; the state, the plugins and the
// caches that it hands out belong to the scheduler.
class Session {
 public:
  // `trace` may be null. REQUIRES: all of them outlive the session.
  Session(ClusterState& state,
          PluginSet& plugins,
          Caches& caches,
          std::span<const ActionConfig> actions,
          TraceSink* trace,
          Time now = Time{})
      : state_(state),
        plugins_(plugins),
        caches_(caches),
        actions_(actions),
        trace_(trace),
        now_(now) {}
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // Ends the cycle: held tasks are pending again, jobs get their phases. The session is not to be
  // used afterwards.
  [[nodiscard]] CycleResult Close();

  ClusterState& state() { return state_; }
  [[nodiscard]] const ClusterState& state() const { return state_; }
  [[nodiscard]] const HyperNodeTree& tree() const { return state_.tree(); }
  PluginSet& plugins() { return plugins_; }
  [[nodiscard]] const PluginSet& plugins() const { return plugins_; }
  [[nodiscard]] const JobTopologies& topologies() const { return caches_.topologies(); }
  ClassViewCache& views() { return caches_.views(); }
  Caches& caches() { return caches_; }
  [[nodiscard]] std::span<const ActionConfig> actions() const { return actions_; }
  [[nodiscard]] bool HasAction(std::string_view name) const;
  // When the cycle began.
  [[nodiscard]] Time now() const { return now_; }

  // ---- work ----
  // Gives the cycle a budget, with what is remembered of the jobs that found no place. Without a
  // budget every job gets its turns. REQUIRES: `attempts` outlives the session.
  void LimitWork(Attempts& attempts, std::uint64_t budget) {
    attempts_ = &attempts;
    meter_ = WorkMeter(budget);
  }
  // Null when the cycle has no budget.
  [[nodiscard]] Attempts* attempts() { return attempts_; }
  [[nodiscard]] WorkMeter& meter() { return meter_; }
  // So many HyperNodes or nodes are looked at.
  void Look(std::size_t count) { meter_.Look(count); }
  // A cycle at that time may decide otherwise though nothing has changed.
  void DecideAgainAt(Time time) { again_at_ = std::min(again_at_.value_or(time), time); }
  // The budget did not reach a job.
  void LeaveOver(CycleResult::Left left) { left_ = std::max(left_, left); }

  // ---- claims ----
  // REQUIRES: `claims` outlives the session.
  void UseClaims(CycleClaims& claims) { claims_ = &claims; }
  // Null before the cycle has them.
  [[nodiscard]] CycleClaims* claims() { return claims_; }

  // ---- decisions ----
  // Allocates the task, or pipelines it (kFuture), with the GPUs it asks for, or with those in
  // `given`. REQUIRES: the node takes the task.
  void Place(TaskId task,
             NodeId node,
             DevicePoint::When when,
             HyperNodeId domain,
             std::optional<GpuClaim> given = std::nullopt);
  // The task has to go.
  void Evict(TaskId task);
  // Makes the placements in the journal final; those that were allocated become binds.
  // REQUIRES: the journal evicts nobody.
  void Commit(JobId job);
  // Makes the evictions in the journal final; what was pipelined is held until the end of the
  // cycle. The trace has no record of it: pods are evicted there only when that is decided.
  // A second plan for a job becomes a part of its first one.
  // REQUIRES: the journal has just the evictions of the plan, and allocates nothing.
  void CommitEvictions(CycleResult::EvictionPlan plan);
  // Replaces the verdict that the job had in this cycle, if any.
  void SetVerdict(JobId job, Refusal refusal) {
    verdicts_.insert_or_assign(job, std::move(refusal));
  }
  // From now on only the verdict on `job` says why (nobody's when it is invalid): the others cost
  // nothing. For a run that is asked about one job alone.
  void ExplainOnly(JobId job) {
    explains_all_ = false;
    explained_ = job;
  }
  [[nodiscard]] bool Explains(JobId job) const { return explains_all_ || job == explained_; }
  [[nodiscard]] bool HasVerdict(JobId job) const { return verdicts_.contains(job); }
  // The verdict so far; null when there is none.
  [[nodiscard]] const Refusal* VerdictOf(JobId job) const {
    const auto it = verdicts_.find(job);
    return it == verdicts_.end() ? nullptr : &it->second;
  }
  void SetPhase(JobId job, JobPhase phase);

  // ---- trace ----
  [[nodiscard]] bool tracing() const { return trace_ != nullptr; }
  // True when the listener also wants a record for every node.
  [[nodiscard]] bool tracing_nodes() const { return tracing() && trace_->WantsNodes(); }
  // REQUIRES: tracing().
  void Trace(TraceRecord record) { trace_->Record(std::move(record)); }
  // No record is made while one lives.
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

 private:
  ClusterState& state_;
  PluginSet& plugins_;
  Caches& caches_;
  std::span<const ActionConfig> actions_;
  TraceSink* trace_;
  Attempts* attempts_ = nullptr;
  CycleClaims* claims_ = nullptr;
  WorkMeter meter_;
  CycleResult::Left left_ = CycleResult::Left::kNone;
  Time now_;
  std::optional<Time> again_at_;
  std::map<JobId, Refusal> verdicts_;
  std::vector<CycleResult::Bind> binds_;
  std::vector<CycleResult::EvictionPlan> evictions_;
  bool phases_changed_ = false;
  bool explains_all_ = true;
  JobId explained_;
};

}  // namespace strata
