#include <algorithm>
#include <array>

#include "base/check.h"
#include "sched/devices/gpu_fit.h"
#include "sched/score.h"

namespace strata {
namespace {

double Ratio(double used, double total) {
  return total > 0 ? used / total : 0;
}

// How full the GPU is, in the pod's weights.
Score Fullness(const GpuScoreWeights& weights, const Gpu& gpu, const GpuUsage& usage) {
  const double slot = static_cast<double>(weights.slot) * Ratio(usage.slots, gpu.slots);
  const double core = static_cast<double>(weights.core) * Ratio(usage.cores, gpu.cores);
  const double memory =
      static_cast<double>(weights.memory) *
      Ratio(static_cast<double>(usage.memory_mib), static_cast<double>(gpu.memory_mib));
  return ToScore(10.0 * (slot + core + memory));
}

constexpr std::size_t kMaxKeys = 5;
using Keys = std::array<Score, kMaxKeys>;  // ascending: what is taken first

class KeyMaker {
 public:
  KeyMaker(const GpuRequest& pod,
           const GpuPolicy& policy,
           const NodeGpus& node,
           std::span<const GpuUsage> usage)
      : pod_(pod), policy_(policy), node_(node), usage_(usage) {}

  [[nodiscard]] Keys Of(std::size_t at) const {
    const Gpu& gpu = node_.gpus[at];
    const Score fullness = Fullness(pod_.weights, gpu, usage_[at]);
    Keys keys{};
    std::size_t next = 0;
    const bool packs = policy_.order.front() == GpuOrder::kBinpack;
    if (pod_.numa_bind && policy_.order.front() != GpuOrder::kNuma) {
      // NUMA nodes one after the other.
      keys[next++] = packs && !policy_.chain ? gpu.numa : -gpu.numa;
    }
    for (std::size_t i = 0; i < std::min(policy_.order.size(), kMaxKeys - 2); ++i) {
      keys[next++] = Key(policy_.order[i], fullness, at);
    }
    if (!policy_.chain) keys[next] = -gpu.numa;
    return keys;
  }

 private:
  [[nodiscard]] Score Key(GpuOrder order, Score fullness, std::size_t at) const {
    switch (order) {
      case GpuOrder::kBinpack:
        return -fullness;
      case GpuOrder::kSpread:
        return fullness;
      case GpuOrder::kNuma:
        return -node_.gpus[at].numa;
      case GpuOrder::kByUsedMemory:
        return -usage_[at].memory_mib;
      case GpuOrder::kByShares:
        return usage_[at].slots;
      case GpuOrder::kLastToFirst:
        return -static_cast<Score>(at);
    }
    return 0;
  }

  const GpuRequest& pod_;
  const GpuPolicy& policy_;
  const NodeGpus& node_;
  std::span<const GpuUsage> usage_;
};

}  // namespace

std::vector<std::size_t> OrderGpus(const GpuRequest& pod,
                                   const GpuPolicy& policy,
                                   const NodeGpus& node,
                                   std::span<const GpuUsage> usage,
                                   std::vector<std::size_t> candidates) {
  CHECK(!policy.order.empty());
  const KeyMaker keys(pod, policy, node, usage);
  std::vector<std::pair<Keys, std::size_t>> ranked;
  ranked.reserve(candidates.size());
  for (const std::size_t at : candidates) ranked.emplace_back(keys.Of(at), at);
  std::sort(ranked.begin(), ranked.end());
  for (std::size_t i = 0; i < ranked.size(); ++i) candidates[i] = ranked[i].second;
  return candidates;
}

}  // namespace strata
