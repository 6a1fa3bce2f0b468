#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/ids.h"
#include "base/result.h"
#include "model/cluster_state.h"
#include "sched/config.h"
#include "sched/scheduler.h"

namespace strata {

// A cluster in which running pods are taken off their nodes, and the scheduler itself places them
// anew, to see what comes of it; then everything is put back.
//
// Whatever waits in the cluster takes part in every cycle, so that nothing is planned on room that
// somebody else would get first. Phases of PodGroups that a cycle moved stay as they are.
class Board {
 public:
  // `state` must outlive it, and is at rest: another cycle would bind nobody.
  // kInvalidArgument as Scheduler::Make.
  [[nodiscard]] static Result<std::unique_ptr<Board>> Make(ClusterState& state,
                                                           const SchedulerConfig& config,
                                                           Time now);

  [[nodiscard]] const ClusterState& state() const { return state_; }
  [[nodiscard]] Time now() const { return now_; }
  // Jobs that run and have to stay where they are, with the kind of pod that keeps them there.
  [[nodiscard]] const std::map<JobId, std::string>& staying() const { return staying_; }

  // ---- changes, all of which RollbackTo undoes, the last one first
  using Mark = std::size_t;
  [[nodiscard]] Mark Here() const { return log_.size(); }
  void RollbackTo(Mark mark);
  // The pods are gone for now: they hold nothing and ask for nothing.
  void TakeOff(std::span<const TaskId> tasks);
  // The pods are gone, and their controllers have made new ones, which wait.
  void Recreate(std::span<const TaskId> tasks);
  // The scheduler decides once, and what it binds runs.
  void RunCycle();

  // No pod may go to these nodes until UncordonAll.
  void Cordon(std::span<const NodeId> nodes);
  void UncordonAll();

  // The node of each task; none for those that have none.
  [[nodiscard]] std::vector<NodeId> NodesOf(std::span<const TaskId> tasks) const;

 private:
  // A task as it was before a change.
  struct Former {
    TaskId task;
    TaskStatus status = TaskStatus::kPending;
    NodeId node;
    GpuClaim gpus;
  };

  Board(ClusterState& state, std::unique_ptr<Scheduler> scheduler, Time now)
      : state_(state), scheduler_(std::move(scheduler)), now_(now) {}

  void Remember(TaskId task);
  void SetUnschedulable(NodeId node, bool unschedulable);

  ClusterState& state_;
  std::unique_ptr<Scheduler> scheduler_;
  Time now_;
  std::map<JobId, std::string> staying_;
  std::vector<Former> log_;
  std::vector<NodeId> cordoned_;  // that were open
};

}  // namespace strata
