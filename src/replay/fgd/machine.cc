#include "replay/fgd/machine.h"

#include <algorithm>
#include <limits>

#include "base/check.h"

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
  cpu_milli -= kind.cpu_milli;
  memory -= kind.memory;
  idle_sum -= kind.TotalMilli();
  CHECK(cpu_milli >= 0 && memory >= 0);
  if (kind.gpus == 0) return;
  const std::int32_t affinity = AffinityOf(kind);
  if (std::find(holds.begin(), holds.end(), affinity) == holds.end()) holds.push_back(affinity);
  if (kind.Shares()) {
    std::int32_t& here = idle[static_cast<std::size_t>(gpu)];
    CHECK(here >= kind.milli);
    here -= kind.milli;
    return;
  }
  std::int32_t left = kind.gpus;
  for (std::int32_t& here : idle) {
    if (left == 0 || here < kind.milli) continue;
    here -= kind.milli;
    --left;
  }
  CHECK(left == 0);
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
  for (const TypicalPod& typical : list.typical) {
    const PodKind& kind = typical.kind;
    std::int64_t unusable = machine.idle_sum;
    if (kind.gpus > 0 && kind.cpu_milli <= machine.cpu_milli && kind.Accepts(machine.model)) {
      std::int32_t gpus = 0;
      std::int64_t usable = 0;
      for (const std::int32_t here : machine.idle) {
        if (here < kind.milli) continue;
        ++gpus;
        usable += here;
      }
      if (gpus >= kind.gpus) unusable -= usable;
    }
    sum += typical.weight * unusable;
  }
  return sum;
}

}  // namespace strata::replay::fgd
