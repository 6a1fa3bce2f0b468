#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "model/resources.h"

// How much of what is free nobody can use: the definitions of docs/fragmentation.md, once, for
// scores, reports, metrics and the lab. Pure functions of numbers.
namespace strata {

// What a pod asks of one node, as far as these measures look at it.
struct GpuAsk {
  Amount cpu_milli = 0;
  std::int64_t gpus = 0;   // 0: none
  std::int32_t milli = 0;  // of each, in thousandths

  auto operator<=>(const GpuAsk&) const = default;
};

// What is idle of a node. `sum` is that of `gpus`, which are thousandths, by GPU.
struct IdleNode {
  Amount cpu_milli = 0;
  std::span<const std::int32_t> gpus;
  std::int64_t sum = 0;
};

// What of the idle GPUs such a pod cannot use, in thousandths of GPUs: all of it where the pod asks
// for no GPU, or for more CPU or GPUs than there are; else what is idle on GPUs with less than it
// asks of each. That is F_n(m) of FGD for a pod that accepts the model of the node.
[[nodiscard]] inline std::int64_t UnusableFor(const GpuAsk& pod, const IdleNode& node) {
  if (pod.gpus == 0 || pod.cpu_milli > node.cpu_milli) return node.sum;
  std::int64_t gpus = 0;
  std::int64_t usable = 0;
  for (const std::int32_t idle : node.gpus) {
    if (idle < pod.milli) continue;
    ++gpus;
    usable += idle;
  }
  return gpus < pod.gpus ? node.sum : node.sum - usable;
}

// FGD's score from 0 to 100, rounded down, where a placement makes `gained` thousandths of GPUs
// less unusable. `gained` is a sum over pods that weigh `weight` together. REQUIRES: weight > 0.
[[nodiscard]] std::int64_t WholeFgdScore(std::int64_t gained, std::int64_t weight);

// ---- free slots of pods of one shape, in the domains of one tier ----

// How many gangs of `k` pods could start, each inside one domain. REQUIRES: k > 0.
[[nodiscard]] std::int64_t PlaceableGangs(std::span<const std::int64_t> slots, std::int64_t k);

// The share of the free slots that no gang of `k` pods can use inside one domain; 0 where there are
// no free slots.
[[nodiscard]] double RackLoss(std::span<const std::int64_t> slots, std::int64_t k);

// The Gini coefficient of the free slots: 0 where all domains have as many, near 1 where few have
// all. COST: a sort.
[[nodiscard]] double Gini(std::vector<std::int64_t> slots);

// The share of free GPUs that lie on nodes of which a part is in use.
[[nodiscard]] double StrandedShare(std::int64_t stranded, std::int64_t free);

}  // namespace strata
