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
#include "base/result.h"
#include "model/hypernode_tree.h"
#include "model/node.h"
#include "model/resources.h"
#include "model/topology_domains.h"
#include "model/touch_log.h"
#include "model/workload.h"

namespace strata {

// The cluster as the scheduler sees it: nodes, HyperNodes, queues, jobs and tasks, with every sum
// kept up to date.
//
// Events from outside (Upsert*, Remove*, SetTask) come between cycles and cost what they change.
// Decisions inside a cycle are changes of tasks in a journal: take a Savepoint, Allocate and
// Pipeline, and RollbackTo it, which restores every sum to the last unit (tests/property). There is
// one writer and no lock.
//
// Sums are exact 64-bit integers. The grand totals (allocatable of all nodes, requests of all tasks
// with and without defaults) are checked for overflow as objects come in; every other sum is a part
// of one of them and cannot overflow.
//
// Ids are small, stable while the object lives, and reused afterwards.
class ClusterState {
 public:
  using Savepoint = std::size_t;

  // ---- events ----
  // Whoever adds a name calls GrowTables before the next read.
  ResourceNames& resource_names() { return resource_names_; }
  void GrowTables();
  [[nodiscard]] const ResourceNames& resource_names() const { return resource_names_; }

  // Adds the node or replaces what is known of it; tasks on it stay. kInvalidArgument when a grand
  // total would overflow.
  Result<NodeId> UpsertNode(NodeSpec spec);
  // Its tasks stay, on no node, until they are removed or the node comes back.
  void RemoveNode(NodeId node);

  void UpsertHyperNode(HyperNodeSpec spec);
  void RemoveHyperNode(std::string_view name);

  QueueId UpsertQueue(QueueSpec spec);
  void RemoveQueue(QueueId queue);  // its jobs stay, in no queue, until one of that name comes
  void UpsertQuota(QuotaSpec spec);
  void RemoveQuota(std::string_view name);  // nothing when there is none
  // Raises what every quota of the namespace counts as used.
  void ChargeQuotas(std::string_view name_space, const Resources& amount);
  // The job's tasks find their sub-jobs by spec.sub_groups, so a job comes before its tasks.
  JobId UpsertJob(JobSpec spec);
  void RemoveJob(JobId job);  // and its tasks

  // kInvalidArgument when a grand total would overflow.
  Result<TaskId> AddTask(TaskSpec spec);
  void RemoveTask(TaskId task);
  // The world moved on: a binding task runs, a running one terminates.
  void SetTaskStatus(TaskId task, TaskStatus status);
  void SetJobPhase(JobId job, JobPhase phase);
  void SetAllocatedHyperNode(JobId job, std::string name);
  void SetAllocatedHyperNode(JobId job, std::size_t sub_job, std::string name);

  // Does now what the first read after HyperNode and node events would do: resolve the tree, sum
  // up.
  void Settle() const { static_cast<void>(Sums()); }

  // ---- decisions ----
  [[nodiscard]] Savepoint Mark() const { return journal_.size(); }
  // The task gets `gpus` with its node, and loses them when the step is taken back.
  // REQUIRES: the task is pending; for Allocate it fits the idle resources of the node.
  void Allocate(TaskId task, NodeId node, GpuClaim gpus = {});
  void Pipeline(TaskId task, NodeId node, GpuClaim gpus = {});
  void RollbackTo(Savepoint savepoint);
  // Tasks changed since `savepoint`, oldest first.
  [[nodiscard]] std::vector<TaskId> ChangedSince(Savepoint savepoint) const;
  // Makes what was decided final: allocated tasks become binding; pipelined ones are held. The
  // journal is empty afterwards.
  void Commit();
  // Keeps what was decided as a reservation for the rest of the cycle. The journal is empty
  // afterwards.
  void Hold();
  // Ends the cycle: every task that was held is pending again.
  void ReleaseHeld();
  [[nodiscard]] std::vector<TaskId> HeldTasks() const;  // oldest first

  // ---- nodes ----
  [[nodiscard]] std::span<const NodeId> nodes() const { return live_nodes_; }  // ascending by id
  [[nodiscard]] const NodeSpec& node(NodeId id) const { return nodes_[id.index()]; }
  [[nodiscard]] std::optional<NodeId> FindNode(std::string_view name) const;
  [[nodiscard]] std::size_t node_slots() const { return nodes_.size(); }  // ids are below this
  // Neither tainted nor cordoned. Kept beside the specs: of 100,000 nodes nearly all are, and
  // whoever goes through all of them need not fetch each one's spec.
  [[nodiscard]] bool IsOpen(NodeId id) const { return open_[id.index()]; }
  [[nodiscard]] std::span<const Amount> Allocatable(NodeId id) const {
    return allocatable_[id.index()];
  }
  [[nodiscard]] std::span<const Amount> Used(NodeId id) const { return used_[id.index()]; }
  // allocatable - used; negative when a node shrank under its tasks.
  [[nodiscard]] std::span<const Amount> Idle(NodeId id) const { return idle_[id.index()]; }
  // idle + releasing - pipelined.
  [[nodiscard]] std::span<const Amount> FutureIdle(NodeId id) const {
    return future_idle_[id.index()];
  }
  [[nodiscard]] Amount NonzeroCpu(NodeId id) const { return nonzero_[id.index()].cpu; }
  [[nodiscard]] Amount NonzeroMemory(NodeId id) const { return nonzero_[id.index()].memory; }
  // What takes room there, in no particular order.
  [[nodiscard]] std::span<const TaskId> TasksOn(NodeId id) const { return tasks_on_[id.index()]; }
  [[nodiscard]] std::span<const HostPort> PortsInUse(NodeId id) const { return ports_[id.index()]; }
  // Moves with every change of the node or of what is on it; SpecVersion with every change of its
  // spec. Never 0.
  [[nodiscard]] std::uint64_t Version(NodeId id) const { return versions_[id.index()]; }
  [[nodiscard]] std::uint64_t SpecVersion(NodeId id) const { return spec_versions_[id.index()]; }
  // The version that the next change will have, and the nodes changed since one (with repetitions);
  // none when that is too long ago to be remembered.
  [[nodiscard]] std::uint64_t NextVersion() const { return touched_nodes_.Next(); }
  [[nodiscard]] std::optional<std::span<const NodeId>> TouchedSince(std::uint64_t version) const {
    return touched_nodes_.Since(version);
  }
  // Nodes that carry a PreferNoSchedule taint.
  [[nodiscard]] std::size_t nodes_with_preferences() const { return nodes_with_preferences_; }
  // Moves with every node that comes, goes or has its spec replaced.
  [[nodiscard]] std::uint64_t node_epoch() const { return node_epoch_; }
  // The nodes by their value of this label. Valid until node_epoch() moves. COST: O(nodes) for the
  // first question after that, then a lookup.
  [[nodiscard]] const TopologyDomains& Domains(std::string_view label) const;
  // True when something in the cluster is being released.
  [[nodiscard]] bool HasReleasing() const { return releasing_tasks_ > 0; }

  // ---- HyperNodes ----
  [[nodiscard]] const HyperNodeTree& tree() const { return tree_; }
  [[nodiscard]] std::span<const Amount> Allocatable(HyperNodeId id) const {
    return Sums().allocatable[id.index()];
  }
  // Used and pipelined of its nodes: what the HyperNode scores count.
  [[nodiscard]] std::span<const Amount> Used(HyperNodeId id) const {
    return Sums().used[id.index()];
  }
  [[nodiscard]] std::span<const Amount> Idle(HyperNodeId id) const {
    return Sums().idle[id.index()];
  }
  [[nodiscard]] std::span<const Amount> FutureIdle(HyperNodeId id) const {
    return Sums().future_idle[id.index()];
  }

  // Another number whenever one of the four may have changed.
  [[nodiscard]] std::uint64_t SumsVersion(HyperNodeId id) const {
    return Sums().versions[id.index()];
  }

  // ---- workload ----
  [[nodiscard]] const Task& task(TaskId id) const { return tasks_[id.index()]; }
  [[nodiscard]] const Job& job(JobId id) const { return jobs_[id.index()]; }
  [[nodiscard]] const Queue& queue(QueueId id) const { return queues_[id.index()]; }
  [[nodiscard]] const ClassSpec& task_class(ClassId id) const { return *classes_[id.index()].spec; }
  [[nodiscard]] std::size_t class_count() const { return classes_.size(); }
  // A class comes with its first task and stays when the last has gone: what is remembered of it
  // serves the next. This forgets those without a task once they are more than `most`. Ids of
  // classes mean others then, and the epoch is another number. COST: O(tasks + classes) if so.
  void ForgetIdleClasses(std::size_t most);
  [[nodiscard]] std::uint64_t class_epoch() const { return class_epoch_; }
  // Classes with rules about other pods, in the order they came; within an epoch it only grows.
  [[nodiscard]] std::span<const ClassId> classes_with_rules() const { return classes_with_rules_; }
  // Another number when one of them got its first task, or lost its last.
  [[nodiscard]] std::uint64_t rules_version() const { return rules_version_; }
  [[nodiscard]] bool HasTasks(ClassId id) const { return classes_[id.index()].tasks > 0; }
  // Ascending by name. COST: O(jobs) for the first question after one came or went.
  [[nodiscard]] std::span<const JobId> jobs() const {
    if (live_jobs_.size() != job_ids_.size()) ListJobs();
    return live_jobs_;
  }
  // The jobs that a cycle may have something to say about: not let in yet, with pending tasks, or
  // with no task at all; in no particular order. The others hold what they asked for.
  [[nodiscard]] std::vector<JobId> WaitingJobs() const { return waiting_jobs_; }
  // The same as for nodes: the version that the next change of a job, its tasks or its queue will
  // have, and the jobs changed since one: each once, ascending, those included that are gone.
  [[nodiscard]] std::uint64_t NextJobVersion() const { return touched_jobs_.Next(); }
  [[nodiscard]] std::optional<std::vector<JobId>> JobsTouchedSince(std::uint64_t version) const;
  [[nodiscard]] std::span<const QueueId> queues() const {
    return live_queues_;
  }  // ascending by name
  [[nodiscard]] std::optional<JobId> FindJob(std::string_view name) const;
  [[nodiscard]] std::optional<QueueId> FindQueue(std::string_view name) const;
  // The quotas of a namespace, ascending by name.
  [[nodiscard]] std::vector<const QuotaSpec*> QuotasOf(std::string_view name_space) const;
  // The GPUs that the task holds, empty when it is not known to hold any.
  [[nodiscard]] const GpuClaim& GpusOf(TaskId id) const;
  // What the tasks of a namespace hold of GPUs, on whatever node.
  [[nodiscard]] GpuTotals GpusIn(std::string_view name_space) const;
  // Tasks of no job (other schedulers' pods), and tasks of all jobs: everything alive, ascending by
  // id.
  [[nodiscard]] std::vector<TaskId> AllTasks() const;

 private:
  struct Nonzero {
    Amount cpu = 0;
    Amount memory = 0;
  };
  struct Change {
    TaskId task;
    TaskStatus status;
    NodeId node;
  };
  struct HyperNodeSums {
    bool stale = true;  // rebuilt from the nodes at the next read
    ResourceTable allocatable, used, idle, future_idle;
    std::uint64_t last_version = 0;
    std::vector<std::uint64_t> versions;  // by HyperNode
  };

  [[nodiscard]] const HyperNodeSums& Sums() const {
    if (sums_.stale) RebuildSums();
    return sums_;
  }
  void RebuildSums() const;
  // The allocatable of a node that stays where it is.
  void ReplaceInSums(NodeId node, const Resources& out, const Resources& in);
  void BeginNodeEpoch();
  std::uint64_t Touch(NodeId node) { return versions_[node.index()] = touched_nodes_.Touch(node); }
  // To be called after every change of a job or of its tasks.
  void Touch(JobId job);
  void ListJobs() const;
  void SetQueueOf(Job& job, QueueId queue);
  void FollowQueueName(Job& job);
  // The new grand total when `out` of it is replaced by `in`; kInvalidArgument when a resource
  // would overflow.
  [[nodiscard]] Result<Resources> Replace(const Resources& total,
                                          const Resources& out,
                                          const Resources& in) const;
  // Adds (+1) or removes (-1) the task's part in every sum, by its present status and node.
  void Account(TaskId id, int sign);
  void AccountOnNode(TaskId id, int sign);
  void AccountOnWorkload(const Task& task, int sign);
  void Move(TaskId task, TaskStatus status, NodeId node);
  void SetGpus(TaskId task, GpuClaim gpus);
  [[nodiscard]] NodeGroupRules NodeGroupsOf(const Job& job) const;
  // Gives the task the class that the node groups of its queue make of it.
  void BindToNodeGroups(TaskId task);
  // The task is on a node that is not there, until it comes or the task is forgotten.
  void AwaitHome(TaskId task, const std::string& node);
  void ForgetHome(TaskId task);
  // The class with this spec, which has one task more now; and one less.
  ClassId JoinClass(ClassSpec spec);
  void LeaveClass(ClassId id);
  QueueId PutQueue(QueueSpec spec);
  std::uint32_t SubJobOf(Job& job, const std::optional<SubGroupKey>& key);
  static void FreeSubJob(Job& job, std::uint32_t index);
  void JoinSubJob(TaskId task, std::uint32_t sub_job);
  void LeaveSubJob(TaskId task);
  std::uint32_t RoleOf(Job& job, const std::string& name);

  ResourceNames resource_names_;
  HyperNodeTree tree_;

  std::vector<NodeSpec> nodes_;
  std::vector<bool> open_;
  std::vector<NodeId> live_nodes_;
  std::vector<std::uint32_t> free_nodes_;
  std::map<std::string, NodeId, std::less<>> node_ids_;
  ResourceTable allocatable_, used_, idle_, future_idle_;
  std::vector<std::vector<TaskId>> tasks_on_;
  std::vector<Nonzero> nonzero_;
  std::vector<std::vector<HostPort>> ports_;
  std::vector<std::uint64_t> versions_, spec_versions_;
  TouchLog<NodeId> touched_nodes_;
  std::size_t nodes_with_preferences_ = 0;
  std::uint64_t node_epoch_ = 1;
  mutable std::map<std::string, TopologyDomains, std::less<>> domains_;  // of this epoch
  std::size_t releasing_tasks_ = 0;
  mutable HyperNodeSums sums_;

  std::vector<Task> tasks_;
  std::map<std::string, std::set<TaskId>, std::less<>> homeless_;  // by the name of a node to come
  std::map<TaskId, std::string> homes_;                            // the same, by task
  std::vector<std::uint32_t> free_tasks_;
  std::vector<GpuClaim> gpu_claims_;  // by task, as far as one was ever made
  std::map<std::string, GpuTotals, std::less<>> gpu_totals_;  // by namespace
  std::vector<Job> jobs_;
  mutable std::vector<JobId> live_jobs_;  // ascending by name; of another size: to be listed anew
  std::vector<JobId> waiting_jobs_;
  std::vector<std::uint32_t> waiting_at_;  // by job, its place in waiting_jobs_ + 1; 0: in none
  TouchLog<JobId> touched_jobs_;
  std::vector<std::uint32_t> free_jobs_;
  std::map<std::string, JobId, std::less<>> job_ids_;
  std::vector<Queue> queues_;
  std::vector<QueueId> live_queues_;
  std::vector<std::uint32_t> free_queues_;
  std::map<std::string, QueueId, std::less<>> queue_ids_;
  std::map<std::string, QuotaSpec, std::less<>> quotas_;
  std::map<ClassSpec, ClassId> class_ids_;
  struct Class {
    const ClassSpec* spec = nullptr;  // in class_ids_, whose nodes never move
    std::size_t tasks = 0;
  };
  std::vector<Class> classes_;
  std::vector<ClassId> classes_with_rules_;
  std::uint64_t rules_version_ = 1;
  std::size_t idle_classes_ = 0;  // without a task
  std::uint64_t class_epoch_ = 1;

  Resources total_allocatable_;
  Resources total_requests_;
  Resources total_nonzero_;  // the same with kube-scheduler's defaults, cpu and memory only
  std::vector<Change> journal_;
  std::vector<Change> held_;
  std::size_t pipelined_tasks_ = 0;
  std::uint64_t placements_ = Task::kCameWithNode;
  bool has_node_groups_ = false;  // a queue has had terms about them
};

}  // namespace strata
