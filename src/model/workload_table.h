#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "model/class_table.h"
#include "model/hypernode_sums.h"
#include "model/node_table.h"
#include "model/resources.h"
#include "model/touch_log.h"
#include "model/workload.h"

namespace strata {

// What asks for nodes: queues, jobs and tasks, with the counts and sums that follow from them.
//
// Contract: every change of a task reaches all that counts it before the call returns: its job,
// sub-job, role and queue here, its node in the node table, the HyperNodes above that node in their
// sums, and its class in the class table. This is the only place that changes those on behalf of a
// task.
//
// What invalidates what:
//   - an id is valid until its task, job or queue is removed; then it is given to another one
//   - a reference to a Task, Job or Queue is valid until one of its kind is added
//   - class ids of tasks are those of the class table's epoch
//
// Events from outside come between cycles. Inside a cycle tasks and domains are changed through the
// journal (journal.h), which calls Move, SetGpus and SetAllocatedHyperNode and can take them back.
class WorkloadTable {
 public:
  WorkloadTable(const ResourceNames& names,
                NodeTable& nodes,
                HyperNodeSums& sums,
                ClassTable& classes)
      : names_(names), nodes_(nodes), sums_(sums), classes_(classes) {}

  // ---- tasks
  [[nodiscard]] const Task& task(TaskId id) const { return tasks_[id.index()]; }
  // Every task, also of no job (pods of other schedulers), ascending by id.
  [[nodiscard]] std::vector<TaskId> AllTasks() const;
  // What the task counts as for its job, its queue and its node. That is its request, but for
  // shares of GPUs: those count as the part that they take of the GPU that the task got, or, before
  // it has one, of the smallest that it may use. Never more than the request.
  [[nodiscard]] const Resources& CountedOf(TaskId id) const {
    const Task& task = tasks_[id.index()];
    return task.counts_apart ? counted_apart_.find(id)->second : classes_.counted(task.class_id);
  }
  // The GPUs that the task holds, empty when it is not known to hold any.
  [[nodiscard]] const GpuClaim& GpusOf(TaskId id) const;
  // The GPUs that the tasks of a namespace hold in total.
  [[nodiscard]] GpuTotals GpusIn(std::string_view ns) const;

  // A task that waits may ask for any amount. One that has its node counts there with what it asks
  // for. Only where such tasks use kMaxHeld of a resource together, it counts with less: with what
  // its node has at least, as long as that is left.
  TaskId AddTask(TaskSpec spec);
  void RemoveTask(TaskId task);
  // A binding task runs, a running one terminates. The task keeps its node if it still holds one.
  void SetTaskStatus(TaskId task, TaskStatus status);
  // Gives the task another status and node. A task that holds no node loses its GPUs.
  void Move(TaskId task, TaskStatus status, NodeId node);
  void SetGpus(TaskId task, GpuClaim gpus);
  // The budgets that select the task count it from now on.
  void SetDisruption(TaskId task, const Disruption& disruption);

  // The tasks of one BudgetTable::Group, pods of other schedulers included.
  struct BudgetCounts {
    std::int32_t expected = 0;   // not over
    std::int32_t healthy = 0;    // running
    std::int32_t releasing = 0;  // on their way out
  };
  [[nodiscard]] BudgetCounts InBudgetGroup(std::uint32_t group) const {
    return group < budget_counts_.size() ? budget_counts_[group] : BudgetCounts{};
  }

  // ---- jobs
  [[nodiscard]] const Job& job(JobId id) const { return jobs_[id.index()]; }
  [[nodiscard]] std::optional<JobId> FindJob(std::string_view name) const;
  // Ascending by name. COST: O(jobs) for the first question after one was added or removed.
  [[nodiscard]] std::span<const JobId> jobs() const {
    if (live_jobs_.size() != job_ids_.size()) ListJobs();
    return live_jobs_;
  }
  // The jobs that a cycle may have something to decide about: not admitted yet, with pending tasks,
  // or with no task at all; in no particular order. The others hold what they asked for.
  [[nodiscard]] std::vector<JobId> WaitingJobs() const { return waiting_jobs_; }
  // The version that the next change of a job, of its tasks or of its queue will have; and the jobs
  // changed since a version: each once, ascending, removed ones included. None when that is too
  // long ago to be remembered.
  [[nodiscard]] std::uint64_t NextJobVersion() const { return touched_jobs_.Next(); }
  [[nodiscard]] std::optional<std::vector<JobId>> JobsTouchedSince(std::uint64_t version) const;

  // The job's tasks find their sub-jobs by spec.sub_groups, so a job is added before its tasks.
  JobId UpsertJob(JobSpec spec);
  void RemoveJob(JobId job);  // and its tasks
  void SetJobPhase(JobId job, JobPhase phase);
  // The HyperNode that the job, or one of its sub-jobs, spans; "" for none.
  void SetAllocatedHyperNode(JobId job, std::string name);
  void SetAllocatedHyperNode(JobId job, std::size_t sub_job, std::string name);

  // ---- queues
  [[nodiscard]] const Queue& queue(QueueId id) const { return queues_[id.index()]; }
  [[nodiscard]] std::optional<QueueId> FindQueue(std::string_view name) const;
  [[nodiscard]] std::span<const QueueId> queues() const { return live_queues_; }  // by name
  // Moves when a queue is added, removed or described anew.
  [[nodiscard]] std::uint64_t queues_version() const { return queues_version_; }
  QueueId UpsertQueue(QueueSpec spec);
  // Its jobs stay, in no queue, until a queue of that name is added.
  void RemoveQueue(QueueId queue);

  // ---- what other rooms ask for
  // Drops classes without a task once they are more than `max`. Class ids are renumbered then.
  // COST: O(tasks + classes) if so.
  void ForgetIdleClasses(std::size_t max);
  // A node was added or its spec replaced: tasks that wait for a node of its name are on it now.
  // With a new report of its NUMA nodes, the report counts the tasks that run there. With other
  // GPUs, tasks with shares of them count as something else.
  void FollowUpsert(const NodeTable::Upserted& node);
  // Classes that take shares of GPUs count by those that nodes register now. COST: O(classes), and
  // O(tasks + nodes) if one counts as something else; nothing when the kinds of GPUs are the same.
  void FollowGpus();
  // To be called after every change of what nodes have: a task that waits is oversized or not by
  // the largest nodes. COST: O(tasks) when NodeTable::Largest changed, else nothing.
  void FollowLargest();
  // The node is about to be removed: its tasks are on no node until one of its name is added.
  void FollowRemoval(NodeId node);

 private:
  // To be called after every change of a job or of its tasks.
  void Touch(JobId job);
  void ListJobs() const;
  void SetQueueOf(Job& job, QueueId queue);
  void FollowQueueName(Job& job);
  void FollowPolicies(Job& job);
  QueueId PutQueue(QueueSpec spec);
  void CountJobs(QueueId queue);
  // Adds (+1) or removes (-1) the task's part in every sum, by its present status and node.
  void Account(TaskId id, int sign);
  void AccountOnJob(TaskId id, int sign);
  void AccountOnBudgets(const Task& task, int sign);
  [[nodiscard]] bool ExceedsNodes(const Task& task) const;
  // The class with this spec, which has one task more now.
  ClassId JoinClass(ClassSpec spec);
  // What a task of the class counts as by the GPUs that nodes register now.
  [[nodiscard]] Resources CountedByKinds(const ClassSpec& spec) const;
  // Finds out what the task counts as, by its class, its node and its GPUs. To be called while it
  // is in no sum.
  void CountAgain(TaskId id);
  void FollowGpusOf(NodeId node);
  // `amount` of GPUs, and otherwise the request; never more than that. None: as many GPUs as the
  // request names.
  [[nodiscard]] Resources CountedWith(const ClassSpec& spec, std::optional<Amount> amount) const;
  // Limits what the task counts with, for one that comes with its node, and adds that to the total.
  void EnterTotals(ClassSpec& spec, std::span<const Amount> node);
  [[nodiscard]] NodeGroupRules NodeGroupsOf(const Job& job) const;
  // Gives the task the class that the node groups of its queue make of it.
  void BindToNodeGroups(TaskId task);
  // The task is on a node that is not in the cluster, until it is added or the task is removed.
  void AwaitNode(TaskId task, const std::string& node);
  void StopAwaiting(TaskId task);
  std::uint32_t SubJobOf(Job& job, const std::optional<SubGroupKey>& key);
  static void FreeSubJob(Job& job, std::uint32_t index);
  void JoinSubJob(TaskId task, std::uint32_t sub_job);
  void LeaveSubJob(TaskId task);
  static std::uint32_t RoleOf(Job& job, const std::string& name);

  const ResourceNames& names_;
  NodeTable& nodes_;
  HyperNodeSums& sums_;
  ClassTable& classes_;

  std::vector<Task> tasks_;
  std::vector<std::uint32_t> free_tasks_;
  std::map<std::string, std::set<TaskId>, std::less<>> tasks_awaiting_node_;  // by its name
  std::map<TaskId, std::string> awaited_node_;                                // the same, by task
  std::vector<GpuClaim> gpu_claims_;           // by task, as far as one was ever made
  std::map<TaskId, Resources> counted_apart_;  // Task::counts_apart
  std::uint64_t gpu_kinds_seen_ = 0;           // GpuKinds::version
  std::vector<BudgetCounts> budget_counts_;    // by group; 0 is not counted
  std::map<std::string, GpuTotals, std::less<>> gpu_totals_;  // by namespace
  std::uint64_t placements_ = Task::kCameWithNode;
  Resources held_;                  // requests of tasks that came with their node
  Resources held_nonzero_;          // the same with kube-scheduler's defaults, cpu and memory only
  std::uint64_t largest_seen_ = 0;  // NodeTable::largest_version

  std::vector<Job> jobs_;
  std::vector<std::uint32_t> free_jobs_;
  std::map<std::string, JobId, std::less<>> job_ids_;
  mutable std::vector<JobId> live_jobs_;  // ascending by name; of another size: to be listed anew
  std::vector<JobId> waiting_jobs_;
  std::vector<std::uint32_t> waiting_at_;  // by job, its index in waiting_jobs_ + 1; 0: in none
  TouchLog<JobId> touched_jobs_;

  std::vector<Queue> queues_;
  std::vector<QueueId> live_queues_;
  std::vector<std::uint32_t> free_queues_;
  std::map<std::string, QueueId, std::less<>> queue_ids_;
  std::uint64_t queues_version_ = 1;
  bool has_node_groups_ = false;  // a queue has had terms about them
};

}  // namespace strata
