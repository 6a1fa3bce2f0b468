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

std::string NodeName(std::size_t i) {
  return fmt::format("node-{:06}", i);
}

// What every node has without anybody's doing.
NodeLabels LabelsOfKubelet(const std::string& name) {
  return {{"beta.kubernetes.io/arch", "amd64"},
          {"beta.kubernetes.io/os", "linux"},
          {"kubernetes.io/arch", "amd64"},
          {"kubernetes.io/hostname", name},
          {"kubernetes.io/os", "linux"}};
}

void NeedQueue(ClusterState& state) {
  if (state.workload().FindQueue("default")) return;
  QueueSpec queue;
  queue.name = "default";
  queue.uid = "default";
  state.workload().UpsertQueue(std::move(queue));
}

JobId AddJob(ClusterState& state, const Gang& gang) {
  NeedQueue(state);
  JobSpec job;
  job.name = "bench/" + gang.name;
  job.uid = gang.name;
  job.queue = "default";
  job.min_available = static_cast<std::int32_t>(gang.pods);
  job.topology = gang.topology;
  if (gang.part_size > 0) {
    SubGroupPolicy policy;
    policy.name = "part";
    policy.match_label_keys = {"part"};
    policy.size = static_cast<std::int32_t>(gang.part_size);
    policy.topology = gang.part_topology;
    job.sub_groups.push_back(std::move(policy));
  }
  return state.workload().UpsertJob(std::move(job));
}

// Running pods of one `slices`th of the node, a job each.
void AddRunningOn(ClusterState& state, std::size_t node, std::size_t pods, Amount slices) {
  for (std::size_t k = 0; k < pods; ++k) {
    const std::string name = fmt::format("running-{}-{}", node, k);
    const JobId job = AddJob(state, {.name = name, .topology = {}, .part_topology = {}});
    state.workload().SetJobPhase(job, JobPhase::kRunning);
    TaskSpec pod = Pod(job, "bench/" + name + "-worker-0", slices);
    pod.status = TaskStatus::kRunning;
    pod.node_name = NodeName(node);
    state.workload().AddTask(std::move(pod));
  }
}

}  // namespace

void AddFabric(ClusterState& state, const Fabric& fabric) {
  std::vector<std::string> below;
  for (std::size_t i = 0; i < fabric.nodes; ++i) {
    NodeSpec node;
    node.name = NodeName(i);
    node.labels = LabelsOfKubelet(node.name);
    node.allocatable.Set(kCpu, kNodeCpu);
    node.allocatable.Set(kMemory, kNodeMemory);
    node.allocatable.Set(kPods, 110);
    below.push_back(node.name);
    CHECK(state.UpsertNode(std::move(node)).has_value());
  }
  auto kind = HyperNodeMember::Kind::kNode;
  for (std::size_t level = 0; level < fabric.widths.size(); ++level) {
    std::vector<std::string> made;
    for (std::size_t i = 0; i < below.size(); i += fabric.widths[level]) {
      HyperNodeSpec spec;
      spec.name = fmt::format("t{}-{:05}", level + 1, made.size());
      spec.tier = static_cast<std::int32_t>(level + 1);
      const std::size_t end = std::min(i + fabric.widths[level], below.size());
      for (std::size_t k = i; k < end; ++k) spec.members.push_back(Member(kind, below[k]));
      made.push_back(spec.name);
      state.UpsertHyperNode(std::move(spec));
    }
    below = std::move(made);
    kind = HyperNodeMember::Kind::kHyperNode;
  }
}

TaskSpec Pod(JobId job, std::string name, Amount slices) {
  TaskSpec task;
  task.name = std::move(name);
  task.uid = task.name;
  task.job = job;
  task.role = "worker";
  task.constraints.request.Set(kCpu, kNodeCpu / slices);
  task.constraints.request.Set(kMemory, kNodeMemory / slices);
  task.constraints.request.Set(kPods, 1);
  task.constraints.nonzero_cpu = kNodeCpu / slices;
  task.constraints.nonzero_memory = kNodeMemory / slices;
  return task;
}

JobId AddGang(ClusterState& state, const Gang& gang) {
  const JobId job = AddJob(state, gang);
  for (std::size_t i = 0; i < gang.pods; ++i) {
    TaskSpec pod = Pod(job, fmt::format("bench/{}-worker-{}", gang.name, i), gang.slices);
    if (gang.part_size > 0) pod.sub_group = SubGroupKey{0, {std::to_string(i / gang.part_size)}};
    state.workload().AddTask(std::move(pod));
  }
  return job;
}

void AddRunning(ClusterState& state, std::size_t nodes, std::size_t pods_per_node) {
  for (std::size_t i = 0; i < nodes; ++i) {
    AddRunningOn(state, i, pods_per_node, static_cast<Amount>(2 * pods_per_node));
  }
}

void AddUneven(ClusterState& state, std::size_t nodes) {
  std::uint32_t random = 1;
  for (std::size_t i = 0; i < nodes; ++i) {
    random = random * 1'664'525U + 1'013'904'223U;
    AddRunningOn(state, i, random >> 28U, 20);
  }
}

TopologySpec Hard(std::int32_t tier) {
  return {.mode = TopologySpec::Mode::kHard, .highest_tier = tier, .highest_tier_name = ""};
}

}  // namespace strata::bench
