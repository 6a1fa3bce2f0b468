#include "replay/fgd/machine.h"

#include <algorithm>
#include <limits>

#include "base/check.h"
#include "model/fragmentation.h"

namespace strata::replay::fgd {

std::int32_t Machine::GpusWith(std::int32_t milli) const {
  std::int32_t gpus = 0;
  for (const std::int32_t here : idle) gpus += here >= milli ? 1 : 0;
  return gpus;
}

bool Machine::Fits(const PodKind& kind) const {
  return kind.cpu_milli <= cpu_milli && kind.memory <= memory && kind.TotalMilli() <= idle_sum &&
         kind.Accepts(model) && (kind.gpus == 0 || GpusWith(kind.milli) >= kind.gpus);
}

void Machine::Take(const PodKind& kind, std::int32_t gpu) {
  std::vector<std::int32_t> gpus;
  if (kind.Shares()) {
    gpus.push_back(gpu);
  } else {
    for (std::size_t i = 0; i < idle.size(); ++i) {
      if (gpus.size() == static_cast<std::size_t>(kind.gpus)) break;
      if (idle[i] >= kind.milli) gpus.push_back(static_cast<std::int32_t>(i));
    }
  }
  TakeThese(kind, gpus);
}

void Machine::TakeThese(const PodKind& kind, std::span<const std::int32_t> gpus) {
  CHECK(gpus.size() == static_cast<std::size_t>(kind.gpus));
  cpu_milli -= kind.cpu_milli;
  memory -= kind.memory;
  idle_sum -= kind.TotalMilli();
  CHECK(cpu_milli >= 0 && memory >= 0);
  if (kind.gpus == 0) return;
  const std::int32_t affinity = AffinityOf(kind);
  if (std::find(holds.begin(), holds.end(), affinity) == holds.end()) holds.push_back(affinity);
  for (const std::int32_t gpu : gpus) {
    std::int32_t& here = idle[static_cast<std::size_t>(gpu)];
    CHECK(here >= kind.milli);
    here -= kind.milli;
  }
}

std::vector<Machine> EmptyMachines(const Fabric& fabric, const PodList& list) {
  constexpr std::int64_t kUncounted = std::numeric_limits<std::int64_t>::max() / 2;
  std::vector<Machine> machines;
  machines.reserve(fabric.nodes.size());
  for (const Fabric::Node& node : fabric.nodes) {
    machines.push_back(
        {.cpu_milli = node.cpu_milli > 0 ? node.cpu_milli : kUncounted,
         .memory = node.memory > 0 ? node.memory : kUncounted,
         .model = list.ModelOf(node),
         .idle = std::vector<std::int32_t>(static_cast<std::size_t>(node.gpus), kWholeGpu),
         .idle_sum = std::int64_t{node.gpus} * kWholeGpu,
         .holds = {}});
  }
  return machines;
}

std::int64_t WeightedFragmentation(const Machine& machine, const PodList& list) {
  std::int64_t sum = 0;
  const IdleNode node{
      .cpu_milli = machine.cpu_milli, .gpus = machine.idle, .sum = machine.idle_sum};
  for (const TypicalPod& typical : list.typical) {
    const PodKind& kind = typical.kind;
    const GpuAsk ask{.cpu_milli = kind.cpu_milli, .gpus = kind.gpus, .milli = kind.milli};
    const bool accepts = kind.Accepts(machine.model);
    sum += typical.weight * (accepts ? UnusableFor(ask, node) : machine.idle_sum);
  }
  return sum;
}

}  // namespace strata::replay::fgd
