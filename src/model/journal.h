#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <variant>
#include <vector>

#include "base/ids.h"
#include "model/class_table.h"
#include "model/gpu.h"
#include "model/hypernode_sums.h"
#include "model/node_table.h"
#include "model/workload_table.h"

namespace strata {

// What a cycle decided about the cluster, step by step: done at once, and taken back or made final
// later.
//
// A step changes the state, every sum included, and appends what its undo needs. A search takes a
// Savepoint, makes steps, and rolls back to the savepoint when they lead nowhere: that restores
// everything to the last unit (tests/property/rollback_property_test.cc). What is left in the end
// is committed, or held for the rest of the cycle:
//
//   step      | RollbackTo          | Commit                           | Hold
//   ----------|---------------------|----------------------------------|------------------------
//   Allocate  | pending, on no node | binding, listed in `bound`       | reserved for the cycle
//   Pipeline  | pending, on no node | reserved for the cycle           | reserved for the cycle
//   Evict     | as it was, GPUs too | releasing for good, in `evicted` | releasing for the cycle
//   SetDomain | the former domain   | see below                        | the former domain
//
// A committed domain stays if the commit binds a task of that job or sub-job; otherwise the former
// domain is restored. "For the cycle" means until ReleaseHeld.
//
// ReleaseHeld undoes what is held, newest first. Events from outside come between cycles, when the
// journal is empty and nothing is held.
class Journal {
 public:
  using Savepoint = std::size_t;  // valid until a rollback to an earlier one, Commit or Hold

  // A running task that has to go. Its status is kReleasing until the world says that it is gone.
  struct Eviction {
    TaskId task;
    NodeId node;
    TaskStatus was = TaskStatus::kRunning;

    bool operator==(const Eviction&) const = default;
  };
  // What a commit made final, oldest first, for those who carry it out.
  struct Committed {
    std::vector<TaskId> bound;
    std::vector<Eviction> evicted;
  };

  Journal(WorkloadTable& workload,
          const NodeTable& nodes,
          const ClassTable& classes,
          const HyperNodeSums& sums)
      : workload_(workload), nodes_(nodes), classes_(classes), sums_(sums) {}

  // ---- steps
  // The task gets the node now, with `gpus` of it.
  // REQUIRES: the task is pending and fits the idle resources of the node.
  void Allocate(TaskId task, NodeId node, GpuClaim gpus = {});
  // The task waits for what is being released on the node, and for `gpus` of it.
  // REQUIRES: the task is pending and fits the future idle resources of the node.
  void Pipeline(TaskId task, NodeId node, GpuClaim gpus = {});
  // The task has to go. It keeps its node and its GPUs until it is gone; its resources count as
  // being released, and no longer for its job and queue.
  // REQUIRES: the task is bound or running, on a node of the cluster.
  void Evict(TaskId task);
  // The job, or one sub-job of it, spans this HyperNode ("": none).
  void SetDomain(JobId job, const std::string& hypernode);
  void SetDomain(JobId job, std::size_t sub_job, const std::string& hypernode);

  // ---- what becomes of them
  [[nodiscard]] Savepoint Mark() const { return steps_.size(); }
  void RollbackTo(Savepoint savepoint);
  // Tasks allocated or pipelined since `savepoint`, oldest first.
  [[nodiscard]] std::vector<TaskId> PlacedSince(Savepoint savepoint) const;
  // The journal is empty afterwards.
  Committed Commit();
  void Hold();
  // Ends the cycle. REQUIRES: the journal is empty.
  void ReleaseHeld();
  // Ends for these tasks alone that their pipelining is held: they are pending again.
  // REQUIRES: the journal is empty, and it is held.
  void GiveBack(const std::vector<TaskId>& tasks);
  // Tasks whose allocation or pipelining is held, oldest first.
  [[nodiscard]] std::vector<TaskId> HeldTasks() const;

 private:
  // What the undo of each type of step needs to know.
  struct AllocateStep {
    TaskId task;
  };
  struct PipelineStep {
    TaskId task;
  };
  struct EvictStep {
    TaskId task;
    TaskStatus was;
  };
  static constexpr std::uint32_t kWholeJob = std::numeric_limits<std::uint32_t>::max();
  struct SetDomainStep {
    JobId job;
    std::uint32_t sub_job;  // kWholeJob: the job itself
  };
  using Step = std::variant<AllocateStep, PipelineStep, EvictStep, SetDomainStep>;

  // What undo and commit do, with one function for each type of step.
  struct Undo;
  struct Commitment;

  void Place(TaskId task, TaskStatus status, NodeId node, GpuClaim gpus);
  static void ListPlaced(const Step& step, std::vector<TaskId>& tasks);

  WorkloadTable& workload_;
  const NodeTable& nodes_;
  const ClassTable& classes_;
  const HyperNodeSums& sums_;
  std::vector<Step> steps_;
  std::vector<std::string> former_domains_;  // of the SetDomainSteps in steps_, oldest first
  std::vector<Step> held_;
};

}  // namespace strata
