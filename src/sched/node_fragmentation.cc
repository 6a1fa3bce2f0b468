#include "sched/node_fragmentation.h"

#include <algorithm>
#include <numeric>

#include "model/gpu_amounts.h"
#include "sched/devices/gpu_fit.h"

namespace strata {
namespace {

constexpr auto kWhole = static_cast<std::int32_t>(kWholeGpu);

// Whole GPUs of any vendor.
std::size_t CountGpus(const ResourceNames& names, std::span<const Amount> amounts) {
  Amount gpus = 0;
  for (std::size_t i = 0; i < amounts.size(); ++i) {
    if (amounts[i] <= 0 || !names.name(IdAt<ResourceId>(i)).ends_with("/gpu")) continue;
    gpus += amounts[i] / kWholeGpu;
  }
  return static_cast<std::size_t>(gpus);
}

std::vector<std::int32_t> IdleOf(const NodeGpus& node, const std::vector<GpuUsage>& usage) {
  std::vector<std::int32_t> idle(node.gpus.size());
  for (std::size_t i = 0; i < node.gpus.size(); ++i) {
    const Gpu& gpu = node.gpus[i];
    if (!gpu.healthy || gpu.cordoned || usage[i].slots >= gpu.slots) continue;
    const Amount used = PartOf(gpu, usage[i].memory_mib, usage[i].cores);
    idle[i] = kWhole - static_cast<std::int32_t>(used);
  }
  return idle;
}

bool IsRegistered(const NodeGpus& node) {
  return node.hami.registered || node.volcano.registered;
}

Amount FreeCpu(const ClusterState& state, NodeId node) {
  return std::min(state.nodes().Idle(node)[kCpu.index()],
                  state.nodes().FutureIdle(node)[kCpu.index()]);
}

}  // namespace

std::int64_t IdleGpus::Sum() const {
  return std::accumulate(gpus.begin(), gpus.end(), std::int64_t{0});
}

std::vector<GpuUsage> GpuUsageOn(const ClusterState& state, NodeId node) {
  const NodeGpus& gpus = *state.nodes().spec(node).gpus;
  std::vector<GpuUsage> usage(gpus.gpus.size());
  for (const TaskId task : state.nodes().TasksOn(node)) {
    AddClaim(gpus, state.workload().GpusOf(task), usage);
  }
  return usage;
}

IdleGpus IdleGpusOf(const ClusterState& state, NodeId node) {
  IdleGpus out;
  out.cpu_milli = FreeCpu(state, node);
  const auto& gpus = state.nodes().spec(node).gpus;
  if (gpus && IsRegistered(*gpus)) {
    out.gpus = IdleOf(*gpus, GpuUsageOn(state, node));
    if (!gpus->gpus.empty()) out.kind = gpus->gpus.data();
    return out;
  }
  out.gpus.assign(CountGpus(state.resource_names(), state.nodes().Idle(node)), kWhole);
  return out;
}

std::optional<IdleGpus> IdleGpusAfter(const ClusterState& state,
                                      NodeId node,
                                      const ClassSpec& pod) {
  const auto& gpus = state.nodes().spec(node).gpus;
  IdleGpus out;
  if (gpus && IsRegistered(*gpus)) {
    std::vector<GpuUsage> usage = GpuUsageOn(state, node);
    if (pod.gpus) {
      const GpuFit fit = FitGpus(*pod.gpus, *gpus, usage);
      if (!fit.claim) return std::nullopt;
      AddClaim(*gpus, *fit.claim, usage);
    }
    out.gpus = IdleOf(*gpus, usage);
    if (!gpus->gpus.empty()) out.kind = gpus->gpus.data();
  } else {
    const std::size_t idle = CountGpus(state.resource_names(), state.nodes().Idle(node));
    const std::size_t taken = CountGpus(state.resource_names(), pod.request.amounts());
    if (taken > idle) return std::nullopt;
    out.gpus.assign(idle - taken, kWhole);
  }
  out.cpu_milli = FreeCpu(state, node) - pod.request.Get(kCpu);
  return out;
}

FragmentationMeter::FragmentationMeter(TypicalPods pods)
    : pods_(std::move(pods)), weight_(pods_.Weight()) {}

FragmentationMeter::Row FragmentationMeter::MakeRow(const Gpu* kind) const {
  Row row;
  for (const TypicalPods::Weighted& one : pods_.pods) {
    const auto ask = AskOf(one.pod, kind);
    if (ask && ask->gpus > 0) {
      row.asks.emplace_back(*ask, one.weight);
    } else {
      row.refused += one.weight;
    }
  }
  return row;
}

const FragmentationMeter::Row& FragmentationMeter::RowOf(const Gpu* kind) const {
  if (kind == nullptr) {
    if (!counted_) counted_ = MakeRow(nullptr);
    return *counted_;
  }
  Kind key{kind->type, kind->memory_mib, kind->cores, kind->mode, kind->in_hami, kind->in_volcano};
  const auto known = registered_.find(key);
  if (known != registered_.end()) return known->second;
  return registered_.emplace(std::move(key), MakeRow(kind)).first->second;
}

std::int64_t FragmentationMeter::Of(const IdleGpus& idle) const {
  const IdleNode node{.cpu_milli = idle.cpu_milli, .gpus = idle.gpus, .sum = idle.Sum()};
  if (node.sum == 0) return 0;
  const Row& row = RowOf(idle.kind);
  std::int64_t unusable = row.refused * node.sum;
  for (const auto& [ask, weight] : row.asks) unusable += weight * UnusableFor(ask, node);
  return unusable;
}

}  // namespace strata
