#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/check.h"
#include "model/cluster_state.h"

// Small clusters in few words, for tests. Names have no namespace; the i-th task of job "train" is
// "train-w-i", so that it has a rank.
namespace strata::testing {

[[nodiscard]] constexpr Amount Cores(Amount cores) {
  return cores * 1000;
}
[[nodiscard]] constexpr Amount GiB(Amount gib) {
  return gib * (Amount{1} << 30U);
}

struct NodeArgs {
  Amount cpu = 8;      // cores
  Amount memory = 32;  // GiB
  Amount gpu = 0;
  Amount pods = 110;
  Labels labels = {};
  std::vector<Taint> taints = {};
  bool unschedulable = false;
  VolumeLimits volume_limits = {};
};

struct TaskArgs {
  Amount cpu = 1;     // cores
  Amount memory = 1;  // GiB
  Amount gpu = 0;
  Labels selector = {};
  std::vector<Toleration> tolerations = {};
  std::vector<HostPort> ports = {};
  std::string role = "w";
  std::int32_t priority = 1;
  TaskStatus status = TaskStatus::kPending;
  std::string node = "";
  bool gated = false;
  std::optional<SubGroupKey> sub_group = std::nullopt;
  std::optional<std::uint32_t> missed_policy = std::nullopt;
  Labels labels = {};
  PodRules rules = {};
  VolumeRules volumes = {};
  Disruption disruption = {};
};

// A node of NodeArgs{} holds one of these.
inline const TaskArgs kWholeNode = {.cpu = 8};

struct JobArgs {
  int tasks = 1;  // equal ones; ClusterBuilder::Task adds others
  TaskArgs task = {};
  std::optional<std::int32_t> min_available = std::nullopt;  // all `tasks` unless given
  TopologySpec topology = {};
  std::string queue = "default";
  std::int32_t priority = 0;
  std::vector<SubGroupPolicy> sub_groups = {};
  std::map<std::string, std::int32_t, std::less<>> min_task_member = {};
  std::optional<Resources> min_resources = std::nullopt;
  std::optional<bool> preemptable = std::nullopt;
};

struct QueueArgs {
  std::int32_t weight = 1;
  std::optional<Amount> cpu_capability = std::nullopt;  // cores
  bool open = true;
  bool reclaimable = true;
  std::optional<Amount> cpu_deserved = std::nullopt;  // cores
  Amount cpu_guarantee = 0;                           // cores
  std::string parent = {};
};

[[nodiscard]] inline TopologySpec Hard(std::int32_t tier) {
  return {.mode = TopologySpec::Mode::kHard, .highest_tier = tier, .highest_tier_name = ""};
}
[[nodiscard]] inline TopologySpec HardAnyTier() {
  return {.mode = TopologySpec::Mode::kHard, .highest_tier = std::nullopt, .highest_tier_name = ""};
}
[[nodiscard]] inline TopologySpec HardByName(std::string name) {
  return {.mode = TopologySpec::Mode::kHard,
          .highest_tier = std::nullopt,
          .highest_tier_name = std::move(name)};
}
[[nodiscard]] inline TopologySpec Soft() {
  return {.mode = TopologySpec::Mode::kSoft, .highest_tier = std::nullopt, .highest_tier_name = ""};
}

// Pods that have this label, in the domains of a topology key.
[[nodiscard]] inline PodTerm Pods(const std::string& label,
                                  const std::string& value,
                                  const std::string& topology_key) {
  return {.selector = LabelSelector{{{label, SelectorOp::kIn, {value}}}},
          .namespaces = {""},
          .every_namespace = false,
          .topology_key = topology_key};
}

[[nodiscard]] inline TaskArgs BestEffort() {
  return {.cpu = 0, .memory = 0};
}

class ClusterBuilder {
 public:
  ClusterBuilder() { Queue("default"); }

  ClusterBuilder& Node(const std::string& name, const NodeArgs& args = {}) {
    const auto added = state.UpsertNode(SpecOf(name, args));
    CHECK(added.has_value());
    return *this;
  }
  // node0, node1, ...
  ClusterBuilder& Nodes(int count, const NodeArgs& args = {}) {
    for (int i = 0; i < count; ++i) Node("node" + std::to_string(i), args);
    return *this;
  }

  // A HyperNode of nodes, and one of HyperNodes, by exact names.
  ClusterBuilder& Leaf(const std::string& name,
                       std::int32_t tier,
                       std::initializer_list<std::string> nodes,
                       const std::string& tier_name = "") {
    return HyperNode(name, tier, HyperNodeMember::Kind::kNode, nodes, tier_name);
  }
  ClusterBuilder& Above(const std::string& name,
                        std::int32_t tier,
                        std::initializer_list<std::string> children,
                        const std::string& tier_name = "") {
    return HyperNode(name, tier, HyperNodeMember::Kind::kHyperNode, children, tier_name);
  }

  ClusterBuilder& Queue(const std::string& name, const QueueArgs& args = {}) {
    QueueSpec spec;
    spec.name = name;
    spec.uid = "uid-" + name;
    spec.weight = args.weight;
    spec.open = args.open;
    spec.reclaimable = args.reclaimable;
    if (args.cpu_capability) spec.capability[kCpu] = Cores(*args.cpu_capability);
    if (args.cpu_deserved) spec.deserved[kCpu] = Cores(*args.cpu_deserved);
    spec.guarantee.Set(kCpu, Cores(args.cpu_guarantee));
    spec.parent = args.parent;
    state.workload().UpsertQueue(std::move(spec));
    return *this;
  }

  ClusterBuilder& Job(const std::string& name, const JobArgs& args) {
    JobSpec spec;
    spec.name = name;
    spec.uid = "uid-" + name;
    spec.queue = args.queue;
    spec.priority = args.priority;
    spec.min_available = args.min_available.value_or(args.tasks);
    spec.min_task_member = args.min_task_member;
    spec.min_resources = args.min_resources;
    spec.topology = args.topology;
    spec.sub_groups = args.sub_groups;
    spec.preemptable = args.preemptable;
    state.workload().UpsertJob(std::move(spec));
    for (int i = 0; i < args.tasks; ++i) Task(name, args.task);
    return *this;
  }
  // The next task of a job, or of no job ("") under its own name.
  ClusterBuilder& Task(const std::string& job, const TaskArgs& args, const std::string& name = "") {
    const auto id = job.empty() ? JobId{} : FindJob(job);
    TaskSpec spec;
    spec.name = !name.empty() ? name : job + "-w-" + std::to_string(TaskCount(id));
    spec.uid = "uid-" + spec.name;
    spec.job = id;
    spec.role = args.role;
    spec.constraints = ClassOf(args);
    spec.sub_group = args.sub_group;
    spec.missed_policy = args.missed_policy;
    spec.priority = args.priority;
    spec.status = args.status;
    spec.node_name = args.node;
    spec.gated = args.gated;
    spec.disruption = args.disruption;
    state.workload().AddTask(std::move(spec));
    return *this;
  }
  // Tasks of the job that run already, one per node named.
  ClusterBuilder& Running(const std::string& job,
                          std::initializer_list<std::string> nodes,
                          TaskArgs args = {}) {
    args.status = TaskStatus::kRunning;
    for (const std::string& node : nodes) {
      args.node = node;
      Task(job, args);
    }
    return *this;
  }
  // A pod of another scheduler that takes `args` of a node.
  ClusterBuilder& Occupy(const std::string& node,
                         TaskArgs args,
                         TaskStatus status = TaskStatus::kRunning) {
    args.status = status;
    args.node = node;
    return Task(
        "", args, "pod-on-" + node + "-" + std::to_string(state.workload().AllTasks().size()));
  }

  [[nodiscard]] NodeSpec SpecOf(const std::string& name, const NodeArgs& args) {
    NodeSpec spec;
    spec.name = name;
    spec.labels = args.labels;
    spec.taints = args.taints;
    spec.unschedulable = args.unschedulable;
    spec.volume_limits = args.volume_limits;
    spec.allocatable.Set(kCpu, Cores(args.cpu));
    spec.allocatable.Set(kMemory, GiB(args.memory));
    spec.allocatable.Set(kPods, args.pods);
    spec.allocatable.Set(Gpu(), args.gpu * 1000);
    return spec;
  }
  [[nodiscard]] ClassSpec ClassOf(const TaskArgs& args) {
    ClassSpec spec;
    spec.request.Set(kCpu, Cores(args.cpu));
    spec.request.Set(kMemory, GiB(args.memory));
    spec.request.Set(kPods, 1);
    spec.request.Set(Gpu(), args.gpu * 1000);
    spec.nonzero_cpu = args.cpu > 0 ? Cores(args.cpu) : 100;
    spec.nonzero_memory = args.memory > 0 ? GiB(args.memory) : 200 * (Amount{1} << 20U);
    spec.node_selector = args.selector;
    spec.tolerations = args.tolerations;
    spec.host_ports = args.ports;
    spec.identity.labels = args.labels;
    spec.rules = args.rules;
    spec.volumes = args.volumes;
    return spec;
  }
  ResourceId Gpu() { return state.resource_names().Intern("nvidia.com/gpu"); }

  [[nodiscard]] NodeId FindNode(std::string_view name) const {
    const auto id = state.nodes().Find(name);
    CHECK(id.has_value());
    return *id;
  }
  [[nodiscard]] JobId FindJob(std::string_view name) const {
    const auto id = state.workload().FindJob(name);
    CHECK(id.has_value());
    return *id;
  }
  [[nodiscard]] const strata::Job& JobNamed(std::string_view name) const {
    return state.workload().job(FindJob(name));
  }
  [[nodiscard]] TaskId FindTask(std::string_view name) const {
    for (const TaskId id : state.workload().AllTasks()) {
      if (state.workload().task(id).name == name) return id;
    }
    CHECK(false);
    return {};
  }
  [[nodiscard]] HyperNodeId FindHyperNode(std::string_view name) const {
    const auto id = state.tree().Find(name);
    CHECK(id.has_value());
    return *id;
  }

  ClusterState state;

 private:
  ClusterBuilder& HyperNode(const std::string& name,
                            std::int32_t tier,
                            HyperNodeMember::Kind kind,
                            std::initializer_list<std::string> members,
                            const std::string& tier_name) {
    HyperNodeSpec spec{.name = name, .tier = tier, .tier_name = tier_name, .members = {}};
    for (const std::string& member : members) {
      spec.members.emplace_back().kind = kind;
      spec.members.back().selector = HyperNodeMember::Exact{member};
    }
    state.UpsertHyperNode(std::move(spec));
    return *this;
  }
  [[nodiscard]] std::int32_t TaskCount(JobId job) const {
    return job.valid() ? state.workload().job(job).counts.Total() : 0;
  }
};

// Eight nodes below three tiers of switches, the tree of examples/training:
//
//   tier 3                    s6
//   tier 2          s4                  s5
//   tier 1      s0      s1          s2      s3
//   node        0 1     2 3         4 5     6 7
inline void AddExampleTree(ClusterBuilder& cluster, const NodeArgs& node = {}) {
  cluster.Nodes(8, node)
      .Leaf("s0", 1, {"node0", "node1"}, "rack")
      .Leaf("s1", 1, {"node2", "node3"}, "rack")
      .Leaf("s2", 1, {"node4", "node5"}, "rack")
      .Leaf("s3", 1, {"node6", "node7"}, "rack")
      .Above("s4", 2, {"s0", "s1"}, "spine")
      .Above("s5", 2, {"s2", "s3"}, "spine")
      .Above("s6", 3, {"s4", "s5"}, "core");
}

}  // namespace strata::testing
