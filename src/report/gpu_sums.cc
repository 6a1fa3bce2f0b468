#include "report/gpu_sums.h"

#include <algorithm>

#include "report/topology_report.h"
#include "sched/node_fragmentation.h"

namespace strata {
namespace {

constexpr std::int64_t kMilli = 1000;

void AddRegistered(const ClusterState& state, NodeId node, GpuSums& sums) {
  const std::vector<GpuUsage> usage = GpuUsageOn(state, node);
  sums.gpus += static_cast<std::int64_t>(usage.size());
  sums.used +=
      std::count_if(usage.begin(), usage.end(), [](const GpuUsage& gpu) { return gpu.slots > 0; });
}

std::int64_t FreeOf(const ClusterState& state, NodeId node) {
  const NodeSpec& spec = state.nodes().spec(node);
  if (MarkOf(spec) != NodeMark::kOpen) return 0;
  if (spec.gpus) return static_cast<std::int64_t>(FreeGpus(state, node).size());
  return GpusIn(state.resource_names(), state.nodes().Idle(node));
}

}  // namespace

GpuSums SumGpus(const ClusterState& state) {
  GpuSums sums;
  for (const NodeId node : state.nodes().all()) {
    const std::int64_t before = sums.gpus;
    if (state.nodes().spec(node).gpus) {
      AddRegistered(state, node, sums);
    } else {
      sums.gpus += GpusIn(state.resource_names(), state.nodes().Allocatable(node));
      sums.used += GpusIn(state.resource_names(), state.nodes().Used(node));
    }
    const std::int64_t free = FreeOf(state, node);
    const bool is_whole = free > 0 && free == sums.gpus - before;
    sums.free += free;
    sums.whole_nodes += is_whole ? 1 : 0;
    sums.stranded += is_whole ? 0 : free;
  }
  return sums;
}

std::int64_t GpusIn(const ResourceNames& names, std::span<const Amount> amounts) {
  std::int64_t gpus = 0;
  for (std::size_t i = 0; i < amounts.size(); ++i) {
    if (amounts[i] <= 0 || !names.name(IdAt<ResourceId>(i)).ends_with("/gpu")) continue;
    gpus += amounts[i] / kMilli + (amounts[i] % kMilli == 0 ? 0 : 1);
  }
  return gpus;
}

std::vector<std::size_t> FreeGpus(const ClusterState& state, NodeId node) {
  const NodeGpus& gpus = *state.nodes().spec(node).gpus;
  const std::vector<GpuUsage> usage = GpuUsageOn(state, node);
  std::vector<std::size_t> free;
  for (std::size_t i = 0; i < usage.size(); ++i) {
    const Gpu& gpu = gpus.gpus[i];
    if (gpu.healthy && !gpu.cordoned && usage[i].slots == 0) free.push_back(i);
  }
  return free;
}

}  // namespace strata
