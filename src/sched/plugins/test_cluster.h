#pragma once

#include <algorithm>
#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "model/cluster_state.h"
#include "sched/registry.h"

// A small cluster for the plugins' tests, described in cores, gigabytes and GPUs.
namespace strata {

inline constexpr Amount kGiga = 1'000'000'000;

struct Shape {
  double cpu = 0;     // cores
  double memory = 0;  // gigabytes (10^9)
  double gpu = 0;
};

struct TestCluster {
  ClusterState state;
  ResourceId gpu = state.resource_names().Intern("nvidia.com/gpu");

  [[nodiscard]] Resources Amounts(const Shape& shape, Amount pods = 0) const {
    Resources resources;
    resources.Set(kCpu, static_cast<Amount>(shape.cpu * 1000));
    resources.Set(kMemory, static_cast<Amount>(shape.memory * static_cast<double>(kGiga)));
    resources.Set(gpu, static_cast<Amount>(shape.gpu * 1000));
    resources.Set(kPods, pods);
    return resources;
  }

  NodeId AddNode(const std::string& name, const Shape& shape) {
    NodeSpec spec;
    spec.name = name;
    spec.allocatable = Amounts(shape, 110);
    return AddNode(std::move(spec));
  }
  NodeId AddNode(NodeSpec spec) {
    const auto id = state.UpsertNode(std::move(spec));
    CHECK(id.has_value());
    return *id;
  }

  void AddLeaf(const std::string& name,
               std::int32_t tier,
               std::initializer_list<const char*> nodes) {
    AddHyperNode(name, tier, HyperNodeMember::Kind::kNode, nodes);
  }
  void AddParent(const std::string& name,
                 std::int32_t tier,
                 std::initializer_list<const char*> children) {
    AddHyperNode(name, tier, HyperNodeMember::Kind::kHyperNode, children);
  }
  [[nodiscard]] HyperNodeId HyperNode(std::string_view name) const {
    const auto id = state.tree().Find(name);
    CHECK(id.has_value());
    return *id;
  }

  QueueId AddQueue(const std::string& name, std::int32_t weight = 1) {
    QueueSpec spec;
    spec.name = name;
    spec.weight = weight;
    return state.workload().UpsertQueue(std::move(spec));
  }

  JobId AddJob(const std::string& name, const std::string& queue, std::int32_t min_available = 1) {
    JobSpec spec;
    spec.name = name;
    spec.queue = queue;
    spec.min_available = min_available;
    return state.workload().UpsertJob(std::move(spec));
  }

  // A pod of one shape; on a node when one is named.
  TaskId AddTask(JobId job, const Shape& shape, const std::string& node = "") {
    TaskSpec spec;
    spec.constraints = ClassOf(shape);
    return AddTask(job, std::move(spec), node);
  }
  TaskId AddTask(JobId job, TaskSpec spec, const std::string& node = "") {
    spec.name = "ns/pod-" + std::to_string(next_pod_++);
    spec.uid = spec.name;
    spec.job = job;
    if (!node.empty()) {
      spec.node_name = node;
      spec.status = TaskStatus::kRunning;
    }
    return state.workload().AddTask(std::move(spec));
  }

  // Pods that wait and ask for so many cores together, each at most for what a node has: what is
  // larger than every node does not count.
  void AddWaiting(JobId job, double cores) {
    const double max = static_cast<double>(state.nodes().Largest()[kCpu.index()]) / 1000;
    for (; cores > 0; cores -= max) AddTask(job, {.cpu = std::min(cores, max)});
  }

  [[nodiscard]] ClassSpec ClassOf(const Shape& shape) const {
    ClassSpec spec;
    spec.request = Amounts(shape, 1);
    spec.nonzero_cpu = spec.request.Get(kCpu);
    spec.nonzero_memory = spec.request.Get(kMemory);
    return spec;
  }

 private:
  void AddHyperNode(const std::string& name,
                    std::int32_t tier,
                    HyperNodeMember::Kind kind,
                    std::initializer_list<const char*> members) {
    HyperNodeSpec spec;
    spec.name = name;
    spec.tier = tier;
    for (const char* member : members) {
      HyperNodeMember& added = spec.members.emplace_back();
      added.kind = kind;
      added.selector.emplace<HyperNodeMember::Exact>().name = member;
    }
    state.UpsertHyperNode(std::move(spec));
  }

  int next_pod_ = 0;
};

// A plugin made from its name and arguments, and its points by cast.
struct TestPlugin {
  std::unique_ptr<Plugin> plugin;
  std::vector<std::string> warnings;

  template <typename Point>
  [[nodiscard]] Point& As() const {
    auto* point = dynamic_cast<Point*>(plugin.get());
    CHECK(point != nullptr);
    return *point;
  }
};

using TestArguments = std::vector<std::pair<std::string, ArgumentValue>>;

inline Result<MadePlugin> TryPlugin(const std::string& name,
                                    const TestArguments& arguments,
                                    ResourceNames& names) {
  PluginConfig config{.name = name, .switches = {}, .arguments = {}};
  for (const auto& [key, value] : arguments) config.arguments.Set(key, value);
  return MakePlugin(config, names);
}

// Made and opened on the cluster as it is now.
inline TestPlugin OpenPlugin(TestCluster& cluster,
                             const std::string& name,
                             const TestArguments& arguments = {}) {
  auto made = TryPlugin(name, arguments, cluster.state.resource_names());
  CHECK(made.has_value());
  made->plugin->Open(cluster.state, Time{});
  return {std::move(made->plugin), std::move(made->warnings)};
}

}  // namespace strata
