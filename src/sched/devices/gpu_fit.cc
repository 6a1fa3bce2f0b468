#include "sched/devices/gpu_fit.h"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/check.h"
#include "sched/devices/gpu_filter.h"
#include "sched/devices/gpu_sets.h"

namespace strata {
namespace {

enum class Sets : std::uint8_t { kBest, kFirst };

using Reasons = std::map<std::string_view, std::size_t>;

const GpuPolicy& LeastUsedFirst() {
  static const GpuPolicy policy = {.order = {GpuOrder::kSpread}};
  return policy;
}

// One pod on one node.
class Fitter {
 public:
  Fitter(const GpuRequest& pod, const NodeGpus& node, Sets sets)
      : pod_(pod),
        policy_(sets == Sets::kBest ? pod.policy : LeastUsedFirst()),
        node_(node),
        search_(sets == Sets::kBest && pod.policy.topology_aware) {}

  GpuFit Run(std::span<const GpuUsage> usage, const GpuQuota& quota) {
    GpuFit fit;
    GpuClaim claim;
    std::vector<GpuUsage> apps(usage.begin(), usage.end());
    for (const ContainerGpuRequest& container : pod_.containers) {
      std::vector<GpuUsage> alone;
      if (container.init) {
        ++claim.init_containers;
        alone.assign(usage.begin(), usage.end());
      }
      if (!Place(container, container.init ? alone : apps, claim, fit)) {
        fit.reason = Sentence();
        return fit;
      }
    }
    if (!WithinQuota(claim, quota)) {
      Count(GpuRefusal::kQuotaNotFit, node_.gpus.size());
      fit.reason = Sentence();
      return fit;
    }
    fit.claim = std::move(claim);
    return fit;
  }

 private:
  // Adds the container's GPUs to the claim and to what is used; false when there are too few.
  bool Place(const ContainerGpuRequest& container,
             std::vector<GpuUsage>& usage,
             GpuClaim& claim,
             GpuFit& fit) {
    std::vector<GpuShare>& shares = claim.containers.emplace_back();
    const auto count = static_cast<std::size_t>(container.count);
    if (count == 0) return true;
    if (count > node_.gpus.size() && !HasMig()) {
      reasons_.clear();
      return false;
    }
    const std::vector<std::size_t> candidates = Candidates(container, usage);
    const bool mig = std::any_of(candidates.begin(), candidates.end(), [&](std::size_t at) {
      return node_.gpus[at].IsMig();
    });
    if (mig) {
      return PlaceOnMig(
          container, OrderGpus(pod_, policy_, node_, usage, candidates), usage, shares);
    }
    const std::vector<std::size_t> chosen = Choose(candidates, count, usage, fit);
    if (chosen.empty()) {
      if (pod_.numa_bind && candidates.size() >= count) {
        Count(GpuRefusal::kNumaNotFit, candidates.size());
      } else if (!candidates.empty()) {
        Count(GpuRefusal::kTooFewCards, candidates.size());
      }
      return false;
    }
    for (const std::size_t at : chosen) {
      shares.push_back(ShareOf(container, node_.gpus[at], usage[at]));
      usage[at].Add(shares.back());
    }
    return true;
  }

  [[nodiscard]] bool HasMig() const {
    return std::any_of(
        node_.gpus.begin(), node_.gpus.end(), [](const Gpu& gpu) { return gpu.IsMig(); });
  }

  // Several instances may come from one GPU.
  bool PlaceOnMig(const ContainerGpuRequest& container,
                  const std::vector<std::size_t>& order,
                  std::vector<GpuUsage>& usage,
                  std::vector<GpuShare>& shares) {
    const auto count = static_cast<std::size_t>(container.count);
    for (const std::size_t at : order) {
      const Gpu& gpu = node_.gpus[at];
      do {
        shares.push_back(ShareOf(container, gpu, usage[at]));
        usage[at].Add(shares.back());
        if (shares.size() == count) return true;
      } while (gpu.IsMig() && !CheckGpu(pod_, container, gpu, usage[at]));
    }
    Count(GpuRefusal::kTooFewCards, shares.size());
    return false;
  }

  std::vector<std::size_t> Candidates(const ContainerGpuRequest& container,
                                      const std::vector<GpuUsage>& usage) {
    reasons_.clear();
    std::vector<std::size_t> candidates;
    for (std::size_t i = 0; i < node_.gpus.size(); ++i) {
      if (const auto refusal = CheckGpu(pod_, container, node_.gpus[i], usage[i])) {
        Count(*refusal, 1);
      } else {
        candidates.push_back(i);
      }
    }
    return candidates;
  }

  // `count` of the candidates, or none when there are too few.
  std::vector<std::size_t> Choose(const std::vector<std::size_t>& candidates,
                                  std::size_t count,
                                  const std::vector<GpuUsage>& usage,
                                  GpuFit& fit) const {
    if (candidates.size() < count) return {};
    if (!search_) return FirstInOrder(OrderGpus(pod_, policy_, node_, usage, candidates), count);
    GpuSet best;
    for (const std::vector<std::size_t>& group : Groups(candidates)) {
      if (group.size() < count) continue;
      GpuSet set = BestGpuSet(node_.scores, group, count);
      const bool better = best.members.empty() || set.score > best.score ||
                          (set.score == best.score && set.members < best.members);
      const bool proven = best.proven && set.proven;
      if (better) best = std::move(set);
      best.proven = proven;
    }
    fit.score += best.score;
    fit.proven = fit.proven && best.proven;
    for (const std::size_t at : best.members) {
      for (const std::size_t other : candidates) fit.damage += Link(at, other);
    }
    fit.damage -= 2 * best.score;
    return best.members;
  }

  [[nodiscard]] std::int64_t Link(std::size_t a, std::size_t b) const {
    return a == b ? 0 : node_.scores.Get(a, b);
  }

  // The candidates that may serve one container together.
  [[nodiscard]] std::vector<std::vector<std::size_t>> Groups(
      const std::vector<std::size_t>& candidates) const {
    if (!pod_.numa_bind) return {candidates};
    std::map<std::int32_t, std::vector<std::size_t>> by_numa;
    for (const std::size_t at : candidates) by_numa[node_.gpus[at].numa].push_back(at);
    std::vector<std::vector<std::size_t>> groups;
    groups.reserve(by_numa.size());
    for (auto& [numa, group] : by_numa) groups.push_back(std::move(group));
    return groups;
  }

  [[nodiscard]] std::vector<std::size_t> FirstInOrder(std::vector<std::size_t> order,
                                                      std::size_t count) const {
    if (!pod_.numa_bind) {
      order.resize(count);
      return order;
    }
    std::map<std::int32_t, std::vector<std::size_t>> by_numa;
    for (const std::size_t at : order) {
      std::vector<std::size_t>& group = by_numa[node_.gpus[at].numa];
      group.push_back(at);
      if (group.size() == count) return group;
    }
    return {};
  }

  [[nodiscard]] static bool WithinQuota(const GpuClaim& claim, const GpuQuota& quota) {
    std::int64_t memory = 0;
    std::int64_t cores = 0;
    for (std::size_t i = claim.init_containers; i < claim.containers.size(); ++i) {
      for (const GpuShare& share : claim.containers[i]) {
        memory += share.memory_mib;
        cores += share.cores;
      }
    }
    return memory <= quota.memory_mib.value_or(memory) && cores <= quota.cores.value_or(cores);
  }

  void Count(GpuRefusal refusal, std::size_t cards) { reasons_[ToString(refusal)] += cards; }

  [[nodiscard]] std::string Sentence() const {
    std::vector<std::string> parts;
    for (const auto& [reason, cards] : reasons_) {
      parts.push_back(fmt::format("{}/{} {}", cards, node_.gpus.size(), reason));
    }
    return parts.empty() ? "NodeInsufficientDevice" : fmt::format("{}", fmt::join(parts, ", "));
  }

  const GpuRequest& pod_;
  const GpuPolicy& policy_;
  const NodeGpus& node_;
  bool search_;
  Reasons reasons_;
};

}  // namespace

GpuFit FitGpus(const GpuRequest& pod,
               const NodeGpus& node,
               std::span<const GpuUsage> usage,
               const GpuQuota& quota) {
  CHECK(usage.size() == node.gpus.size());
  return Fitter(pod, node, Sets::kBest).Run(usage, quota);
}

std::uint32_t CountGpuFits(const GpuRequest& pod,
                           const NodeGpus& node,
                           std::span<const GpuUsage> usage,
                           std::uint32_t most) {
  std::vector<GpuUsage> used(usage.begin(), usage.end());
  Fitter fitter(pod, node, Sets::kFirst);
  std::uint32_t fits = 0;
  while (fits < most) {
    const GpuFit fit = fitter.Run(used, {});
    if (!fit.claim) break;
    AddClaim(node, *fit.claim, used);
    ++fits;
  }
  return fits;
}

}  // namespace strata
