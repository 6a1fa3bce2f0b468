#include "bench/clusters.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/check.h"

namespace strata::bench {
namespace {

HyperNodeMember Member(HyperNodeMember::Kind kind, std::string name) {
  return {.kind = kind, .selector = HyperNodeMember::Exact{std::move(name)}};
}

}  // namespace

void AddFabric(ClusterState& state, const Fabric& fabric) {
  std::vector<std::string> below;
  for (std::size_t i = 0; i < fabric.nodes; ++i) {
    NodeSpec node;
    node.name = fmt::format("node-{:06}", i);
    node.allocatable.Set(kCpu, kNodeCpu);
    node.allocatable.Set(kMemory, kNodeMemory);
    node.allocatable.Set(kPods, 110);
    below.push_back(node.name);
    CHECK(state.UpsertNode(std::move(node)).has_value());
  }
  auto kind = HyperNodeMember::Kind::kNode;
  std::size_t width = fabric.leaf;
  for (std::size_t tier = 1; tier <= fabric.tiers; ++tier) {
    std::vector<std::string> level;
    for (std::size_t i = 0; i < below.size(); i += width) {
      HyperNodeSpec spec;
      spec.name = fmt::format("t{}-{:05}", tier, level.size());
      spec.tier = static_cast<std::int32_t>(tier);
      for (std::size_t k = i; k < std::min(i + width, below.size()); ++k) {
        spec.members.push_back(Member(kind, below[k]));
      }
      level.push_back(spec.name);
      state.UpsertHyperNode(std::move(spec));
    }
    below = std::move(level);
    kind = HyperNodeMember::Kind::kHyperNode;
    width = fabric.fanout;
  }
}

void AddGang(ClusterState& state, const Gang& gang) {
  state.UpsertQueue({.name = "default",
                     .uid = "default",
                     .capability = {},
                     .guarantee = {},
                     .deserved = {},
                     .parent = ""});
  JobSpec job;
  job.name = "bench/" + gang.name;
  job.uid = gang.name;
  job.queue = "default";
  job.min_available = static_cast<std::int32_t>(gang.pods);
  job.topology = gang.topology;
  const JobId id = state.UpsertJob(std::move(job));
  for (std::size_t i = 0; i < gang.pods; ++i) {
    TaskSpec task;
    task.name = fmt::format("bench/{}-worker-{}", gang.name, i);
    task.uid = task.name;
    task.job = id;
    task.role = "worker";
    task.constraints.request.Set(kCpu, gang.milli_cpu);
    task.constraints.request.Set(kMemory, gang.memory);
    task.constraints.request.Set(kPods, 1);
    task.constraints.nonzero_cpu = gang.milli_cpu;
    task.constraints.nonzero_memory = gang.memory;
    CHECK(state.AddTask(std::move(task)).has_value());
  }
}

}  // namespace strata::bench
