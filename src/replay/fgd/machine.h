#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "replay/fgd/pod_list.h"

namespace strata::replay::fgd {

// What is left of a node.
struct Machine {
  std::int64_t cpu_milli = 0;
  std::int64_t memory = 0;
  std::uint32_t model = 0;          // of PodList::models
  std::vector<std::int32_t> idle;   // thousandths, by GPU
  std::int64_t idle_sum = 0;        // of all of them
  std::vector<std::int32_t> holds;  // the kinds of pods on it as Clustering tells them apart

  [[nodiscard]] bool Fits(const PodKind& kind) const;
  // How many GPUs have `milli` idle.
  [[nodiscard]] std::int32_t GpusWith(std::int32_t milli) const;
  // A share goes to GPU `gpu`; otherwise the first idle GPUs are taken. REQUIRES: it fits there.
  void Take(const PodKind& kind, std::int32_t gpu);
  // The same on these GPUs. REQUIRES: as many as the kind asks for, each with enough idle.
  void TakeThese(const PodKind& kind, std::span<const std::int32_t> gpus);
};

// The nodes of a cluster, nothing in use. What a node does not say about CPU or memory is not
// counted.
[[nodiscard]] std::vector<Machine> EmptyMachines(const Fabric& fabric, const PodList& list);

// What Clustering calls the kind of a pod: 0 for a share, else the number of GPUs.
[[nodiscard]] inline std::int32_t AffinityOf(const PodKind& kind) {
  return kind.Shares() ? 0 : kind.gpus;
}

// How much of what is idle typical pods cannot use, in thousandths of GPUs: the mean over
// `list.typical`, times their weights, so that it is a whole number. All that is idle for a pod
// that wants no GPU, another model, more CPU or more GPUs than there are; else what is idle on GPUs
// with less than it wants. COST: typical pods x GPUs.
[[nodiscard]] std::int64_t WeightedFragmentation(const Machine& machine, const PodList& list);

}  // namespace strata::replay::fgd
