#pragma once

#include <array>
#include <chrono>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/ids.h"
#include "model/constraints.h"
#include "model/gpu.h"
#include "model/labels.h"
#include "model/node_groups.h"
#include "model/numa.h"
#include "model/pod_rules.h"
#include "model/resources.h"
#include "model/selector.h"
#include "model/volume_rules.h"

// What asks for nodes: queues, jobs (PodGroups) with their sub-jobs, tasks (pods), and the classes
// tasks come in. A *Spec is what the outside said; the struct beside it is the spec plus what
// WorkloadTable keeps up to date.
namespace strata {

// ---- tasks
// --------------------------------------------------------------------------------------------------------

enum class TaskStatus : std::uint8_t {
  kPending,
  kAllocated,  // decided in this cycle, not yet carried out
  kPipelined,  // waits in this cycle for what is being released on its node
  kBinding,    // decided and handed out
  kBound,
  kRunning,
  kReleasing,  // terminating; holds its resources until it is gone
  kSucceeded,
  kFailed,
  kUnknown,
};
inline constexpr std::size_t kTaskStatusCount = 10;

// Bound, Binding, Running, Allocated: holds a node for good.
[[nodiscard]] constexpr bool IsAllocated(TaskStatus status) {
  return status == TaskStatus::kAllocated || status == TaskStatus::kBinding ||
         status == TaskStatus::kBound || status == TaskStatus::kRunning;
}

// Takes room on its node.
[[nodiscard]] constexpr bool HoldsNode(TaskStatus status) {
  return status != TaskStatus::kPending && status != TaskStatus::kSucceeded &&
         status != TaskStatus::kFailed;
}

// Whether a task that holds its node uses its idle resources now, and will in the future.
[[nodiscard]] constexpr bool UsesNode(TaskStatus status) {
  return status != TaskStatus::kPipelined;
}
[[nodiscard]] constexpr bool BlocksFuture(TaskStatus status) {
  return status != TaskStatus::kReleasing;
}

// Counts as allocated to its job and queue.
[[nodiscard]] constexpr bool CountsAsAllocated(TaskStatus status) {
  return IsAllocated(status) || status == TaskStatus::kPipelined;
}

// The kubelet has not started the task, so no report of its node counts it.
[[nodiscard]] constexpr bool IsStillToStart(TaskStatus status) {
  return status == TaskStatus::kPipelined || status == TaskStatus::kAllocated ||
         status == TaskStatus::kBinding || status == TaskStatus::kBound;
}

// What a class of tasks asks of a node and of the pods around it. Tasks with equal ClassSpecs are
// interchangeable to every rule, so filters and scores are worked out once per class and node.
struct ClassSpec {
  Resources request;       // pods: 1 included
  Amount nonzero_cpu = 0;  // kube-scheduler's request with defaults for containers that name none
  Amount nonzero_memory = 0;
  Labels node_selector;
  NodeAffinity affinity;
  std::vector<Toleration> tolerations;
  std::vector<HostPort> host_ports;  // sorted
  PodIdentity identity;
  PodRules rules;
  VolumeRules volumes;
  std::optional<GpuRequest> gpus;  // none: asks for none
  NodeGroupRules node_groups;      // kept by WorkloadTable: of the queue of the task's job
  NumaRules numa;

  // True when what runs on other nodes matters to it, or it to pods there.
  [[nodiscard]] bool HasRules() const { return !rules.empty() || !volumes.exclusive.empty(); }
  auto operator<=>(const ClassSpec&) const = default;
};

// Which sub-group of its job a pod belongs to: the index of the first policy that matches, and the
// values of its keys.
struct SubGroupKey {
  std::size_t policy = 0;
  std::vector<std::string> values;

  // The first value as a number, else 0.
  [[nodiscard]] std::int64_t FirstNumber() const;
  auto operator<=>(const SubGroupKey&) const = default;
};

// What eviction asks about a pod.
struct Disruption {
  // Whole seconds in 32 bits, since every task has two of them. The epoch: not known.
  using Moment = std::chrono::sys_time<std::chrono::duration<std::uint32_t>>;

  Moment runs_since{};                // it has had its node since then
  Moment saved_at{};                  // the last checkpoint of its work
  std::int32_t grace_seconds = 30;    // how long it may take to stop
  std::int32_t cooldown_seconds = 0;  // not evicted before it has run that long
  std::uint32_t budgets = 0;          // which disruption budgets select it: BudgetTable::Group
  bool preemptable = true;
  bool never_preempts = false;  // nobody is evicted for it
  bool critical = false;        // a system pod

  bool operator==(const Disruption&) const = default;
};
// Cut to whole seconds; what is before the epoch is the epoch.
[[nodiscard]] Disruption::Moment ToMoment(Time time);

struct TaskSpec {
  std::string name;  // "namespace/pod"
  std::string uid;
  JobId job;         // none: a pod of another scheduler, which only takes room
  std::string role;  // annotation volcano.sh/task-spec, "" if none
  ClassSpec constraints;
  std::optional<SubGroupKey> sub_group;
  std::optional<std::uint32_t> missed_policy = std::nullopt;  // without sub_group: PolicyMissed
  std::int32_t priority = 1;
  Time created{};
  TaskStatus status = TaskStatus::kPending;
  std::string node_name;  // "" while pending
  bool gated = false;     // has scheduling gates
  GpuClaim gpus;          // what it holds on its node
  Disruption disruption = {};
};

struct Task {
  std::string name;
  std::string uid;
  JobId job;
  ClassId class_id;
  NodeId node;  // none while pending, and when its node is not in the cluster
  std::uint32_t sub_job = 0;
  std::uint32_t place = 0;  // index into SubJob::tasks
  std::uint32_t role = 0;   // index into Job::roles
  std::int64_t index =
      -1;  // the number after the last '-' of a name of three or more parts, else -1
  std::int32_t priority = 1;
  TaskStatus status = TaskStatus::kPending;
  bool best_effort = false;
  bool gated = false;
  bool alive = false;           // false: a free slot of the table
  bool exceeds_nodes = false;   // asks for more of a resource than any node has
  bool came_with_node = false;  // its request is a part of what such tasks use together
  bool counts_apart = false;    // by the GPUs it got: as something else than its class
  Time created{};
  // When it got its node: 0 when what is reported of the node counts it already, kCameWithNode when
  // it had the node as it came, else more with every placement.
  std::uint64_t placed = 0;
  static constexpr std::uint64_t kCameWithNode = 1;
  std::optional<std::uint32_t> missed_policy = std::nullopt;  // index into JobSpec::sub_groups
  Disruption disruption = {};

  // Waits, and no node could hold it: it is not in the sums of what waits.
  [[nodiscard]] bool IsOversized() const { return exceeds_nodes && status == TaskStatus::kPending; }
};

// ---- jobs
// ---------------------------------------------------------------------------------------------------------

struct TopologySpec {
  enum class Mode : std::uint8_t { kNone, kHard, kSoft } mode = Mode::kNone;
  std::optional<std::int32_t> highest_tier;
  std::string highest_tier_name;  // "" if not given

  [[nodiscard]] bool present() const { return mode != Mode::kNone; }
  bool operator==(const TopologySpec&) const = default;
};

struct SubGroupPolicy {
  std::string name;
  std::optional<LabelSelector> selector;  // none: every pod
  std::vector<std::string> match_label_keys;
  std::int32_t size = 1;  // the gang of one sub-group
  std::int32_t min_sub_groups = 0;
  TopologySpec topology;

  bool operator==(const SubGroupPolicy&) const = default;
};

// The first policy whose selector matches and all of whose keys have a non-empty value; none for
// the default sub-job.
[[nodiscard]] std::optional<SubGroupKey> SubGroupOf(const std::vector<SubGroupPolicy>& policies,
                                                    const Labels& pod_labels);

// For a pod that no policy takes: the first policy with a topology and keys whose selector matches
// the pod, so that a label is all that the pod lacks. None when there is no such policy.
[[nodiscard]] std::optional<std::uint32_t> PolicyMissed(const std::vector<SubGroupPolicy>& policies,
                                                        const Labels& pod_labels);

// Which roles of a job want to share nodes and which do not (annotations of task-topology). A group
// of one role is about its own tasks.
struct RoleAffinity {
  std::vector<std::vector<std::string>> together;
  std::vector<std::vector<std::string>> apart;
  std::vector<std::string> order;  // roles, the first first

  [[nodiscard]] bool empty() const { return together.empty() && apart.empty() && order.empty(); }
  bool operator==(const RoleAffinity&) const = default;
};

enum class JobPhase : std::uint8_t { kPending, kInqueue, kRunning, kUnknown, kCompleted };
[[nodiscard]] const char* ToString(JobPhase phase);

struct JobSpec {
  std::string name;  // "namespace/podgroup"
  std::string uid;
  std::string queue;
  std::int32_t priority = 0;
  std::int32_t min_available = 0;
  std::map<std::string, std::int32_t, std::less<>> min_task_member;  // by role
  std::optional<Resources> min_resources;
  // What minResources say of shares of GPUs, as the request of one pod; none: nothing.
  std::optional<GpuRequest> min_gpus = std::nullopt;
  // What minResources say under names that only quotas have: limits.cpu and its like, count/pods.
  Resources min_quota = {};
  TopologySpec topology;
  std::vector<SubGroupPolicy> sub_groups;
  Time created{};
  JobPhase phase = JobPhase::kPending;
  std::optional<Duration> sla_waiting_time;  // annotation sla-waiting-time; above 0
  RoleAffinity role_affinity = {};
  std::optional<bool> preemptable = std::nullopt;  // none: it says nothing about its eviction
  bool was_whole = false;  // the gang had its minimum on nodes since it began

  bool operator==(const JobSpec&) const = default;
};

// Tasks counted by status, and what follows from the counts.
struct TaskCounts {
  std::array<std::int32_t, kTaskStatusCount> by_status{};
  std::int32_t pending_best_effort = 0;

  [[nodiscard]] std::int32_t Of(TaskStatus status) const {
    return by_status[static_cast<std::size_t>(status)];
  }
  [[nodiscard]] std::int32_t Total() const;
  // Bound, Binding, Running, Allocated.
  [[nodiscard]] std::int32_t Allocated() const;
  // Allocated and Succeeded, and BestEffort tasks, which need no room.
  [[nodiscard]] std::int32_t Ready() const;
  // Ready, Pipelined and Pending (BestEffort ones once).
  [[nodiscard]] std::int32_t Valid() const;
};

struct SubJob {
  std::string name;  // "" for the default sub-job, else "<policy>-<values>"
  std::optional<SubGroupKey> key;
  std::int32_t min_available = 1;
  std::int64_t match_index = 0;  // the first value as a number, else 0
  TopologySpec topology;
  std::vector<TaskId> tasks;  // in no particular order
  TaskCounts counts;
  std::string allocated_hypernode;  // "" if none
};

struct Role {
  std::string name;
  std::int32_t min_member = 0;
  TaskCounts counts;
};

struct Job {
  JobSpec spec;
  QueueId queue;  // none: the queue does not exist
  JobPhase phase = JobPhase::kPending;
  std::vector<SubJob> sub_jobs;  // [0] is the default sub-job, also when it is empty
  std::map<SubGroupKey, std::uint32_t> sub_job_of;  // index into sub_jobs; those with a key
  std::set<std::uint32_t> free_sub_jobs;            // those without, [0] aside
  std::vector<Role> roles;
  TaskCounts counts;
  std::int32_t oversized = 0;       // tasks
  std::int32_t sharers = 0;         // tasks that take shares of GPUs
  Resources allocated;              // of allocated and pipelined tasks
  std::string allocated_hypernode;  // "" if none
  bool alive = false;

  [[nodiscard]] bool HasTopology() const;
  [[nodiscard]] bool HasHardTopology() const;
};

// ---- queues
// -------------------------------------------------------------------------------------------------------

// Limits for the resources that are named, 0 included.
using ResourceLimits = std::map<ResourceId, Amount>;

// What a namespace may have in all: a ResourceQuota.
struct QuotaSpec {
  std::string name;  // "namespace/quota"
  ResourceLimits hard;
  Resources used;
  GpuLimits gpus = {};  // what `limits.nvidia.com/...` say

  bool operator==(const QuotaSpec&) const = default;
};

struct QueueSpec {
  std::string name;
  std::string uid;
  std::int32_t weight = 1;
  std::int32_t priority = 0;
  bool open = true;
  bool reclaimable = true;
  ResourceLimits capability;  // a resource that is not named is not limited
  Resources guarantee;
  ResourceLimits deserved;
  std::string parent;
  Time created{};
  std::string state = "Open";     // the word; `open` is what counts
  std::string hierarchy;          // annotation volcano.sh/hierarchy: "root/a/b", "" if none
  std::string hierarchy_weights;  // annotation volcano.sh/hierarchy-weights: "1/2/8", "" if none
  NodeGroupTerms node_groups = {};
  std::map<std::string, ResourceLimits, std::less<>> node_group_limits = {};  // by group

  bool operator==(const QueueSpec&) const = default;
};

struct Queue {
  QueueSpec spec;
  Resources allocated;    // of allocated and pipelined tasks of its jobs
  WideResources pending;  // asked for by pending tasks of its jobs, oversized ones aside
  std::size_t jobs = 0;
  bool alive = false;
};

}  // namespace strata
