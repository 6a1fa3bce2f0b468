#include "sched/devices/gpu_fit.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/check.h"
#include "sched/devices/gpu_filter.h"
#include "sched/devices/gpu_sets.h"

namespace strata {
namespace {

using Reasons = std::map<std::string_view, std::size_t>;

bool HasMig(const NodeGpus& node) {
  return std::any_of(
      node.gpus.begin(), node.gpus.end(), [](const Gpu& gpu) { return gpu.IsMig(); });
}

// One pod on one node.
class Fitter {
 public:
  Fitter(const GpuRequest& pod, const GpuPolicy& policy, const NodeGpus& node)
      : pod_(pod), policy_(policy), node_(node) {}

  GpuFit Run(std::span<const GpuUsage> usage) {
    GpuFit fit;
    GpuClaim claim;
    claim.dialect = pod_.dialect;
    std::vector<GpuUsage> taken(usage.begin(), usage.end());
    for (const ContainerGpuRequest& container : pod_.containers) {
      std::vector<GpuUsage> for_now;  // what an init container takes is free again behind it
      if (container.init) {
        claim.init_containers.push_back(claim.containers.size());
        for_now = taken;
      }
      if (!Place(container, container.init ? for_now : taken, claim, fit)) {
        fit.reason = Sentence();
        return fit;
      }
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
    if (count > node_.gpus.size() && !HasMig(node_)) {
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
    const Chosen chosen = Choose(candidates, count, usage, fit);
    claim.proven = claim.proven && chosen.proven;
    if (chosen.gpus.empty()) {
      if (pod_.numa_bind && candidates.size() >= count) {
        Count(GpuRefusal::kNumaNotFit, candidates.size());
      } else if (!candidates.empty()) {
        Count(GpuRefusal::kTooFewCards, candidates.size());
      }
      return false;
    }
    for (const std::size_t at : chosen.gpus) {
      shares.push_back(ShareOf(container, node_.gpus[at], usage[at]));
      usage[at].Add(shares.back());
    }
    return true;
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
    found_.clear();
    std::vector<std::size_t> candidates;
    for (std::size_t i = 0; i < node_.gpus.size(); ++i) {
      if (const auto refusal = CheckGpu(pod_, container, node_.gpus[i], usage[i])) {
        Count(*refusal, 1);
        if (*refusal == GpuRefusal::kTypeMismatch) NoteMismatch(node_.gpus[i]);
      } else {
        candidates.push_back(i);
      }
    }
    return candidates;
  }

  struct Chosen {
    std::vector<std::size_t> gpus;
    bool proven = true;
  };

  // `count` of the candidates, or none when there are too few.
  Chosen Choose(const std::vector<std::size_t>& candidates,
                std::size_t count,
                const std::vector<GpuUsage>& usage,
                GpuFit& fit) const {
    if (candidates.size() < count) return {{}, true};
    if (!policy_.topology_aware) {
      return {FirstInOrder(OrderGpus(pod_, policy_, node_, usage, candidates), count), true};
    }
    GpuSet best;
    for (const std::vector<std::size_t>& group : Groups(candidates)) {
      if (group.size() < count) continue;
      GpuSet set = BestGpuSet(node_.scores, group, count, candidates);
      const bool better =
          best.members.empty() || std::tuple(-set.score, set.damage, set.members) <
                                      std::tuple(-best.score, best.damage, best.members);
      const bool proven = best.proven && set.proven;
      if (better) best = std::move(set);
      best.proven = proven;
    }
    fit.score += best.score;
    fit.damage += best.damage;
    return {std::move(best.members), best.proven};
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

  void Count(GpuRefusal refusal, std::size_t cards) { reasons_[ToString(refusal)] += cards; }

  // Most nodes have one model.
  void NoteMismatch(const Gpu& gpu) {
    if (std::find_if(found_.begin(), found_.end(), [&](const Gpu* known) {
          return known->type == gpu.type && known->mode == gpu.mode;
        }) == found_.end()) {
      found_.push_back(&gpu);
    }
  }

  // " (want h100, found NVIDIA A100)".
  [[nodiscard]] std::string DescribeMismatch() const {
    std::vector<std::string> wanted;
    if (!pod_.mode.empty()) wanted.push_back("mode " + pod_.mode);
    if (!pod_.use_types.empty()) {
      wanted.push_back(fmt::format("{}", fmt::join(pod_.use_types, " or ")));
    }
    if (!pod_.avoid_types.empty()) {
      wanted.push_back(fmt::format("not {}", fmt::join(pod_.avoid_types, " or ")));
    }
    std::vector<std::string> found;
    for (const Gpu* gpu : found_) {
      found.push_back(pod_.mode.empty() ? gpu->type : gpu->type + " in mode " + gpu->mode);
    }
    return fmt::format(" (want {}, found {})", fmt::join(wanted, " and "), fmt::join(found, ", "));
  }

  [[nodiscard]] std::string Sentence() const {
    std::vector<std::string> parts;
    for (const auto& [reason, cards] : reasons_) {
      const bool mismatch = reason == ToString(GpuRefusal::kTypeMismatch);
      parts.push_back(fmt::format("{}/{} {}{}",
                                  cards,
                                  node_.gpus.size(),
                                  reason,
                                  mismatch ? DescribeMismatch() : std::string()));
    }
    return parts.empty() ? "NodeInsufficientDevice" : fmt::format("{}", fmt::join(parts, ", "));
  }

  const GpuRequest& pod_;
  const GpuPolicy& policy_;
  const NodeGpus& node_;
  Reasons reasons_;
  std::vector<const Gpu*> found_;  // of another type or mode than wanted, one of each
};

// How many containers like this one find room on the GPU, at most `max`.
std::uint64_t CountShares(const GpuRequest& pod,
                          const ContainerGpuRequest& container,
                          const Gpu& gpu,
                          GpuUsage usage,
                          std::uint64_t max) {
  std::uint64_t shares = 0;
  if (!pod.spread_group.empty()) max = std::min<std::uint64_t>(max, 1);
  while (shares < max && !CheckGpu(pod, container, gpu, usage)) {
    usage.Add(ShareOf(container, gpu, usage));
    ++shares;
  }
  return shares;
}

// GPUs that may serve a container together, by the shares that each has to give.
using Group = std::vector<std::uint64_t>;

// How many containers of `count` GPUs the group serves. Without MIG a container takes one share of
// a GPU, so m of them take at most m; whenever that leaves enough there is a way.
std::uint64_t CountSets(const Group& group, std::uint64_t count, bool mig, std::uint64_t max) {
  const auto enough = [&](std::uint64_t sets) {
    std::uint64_t usable = 0;
    for (const std::uint64_t shares : group) usable += mig ? shares : std::min(shares, sets);
    return usable >= sets * count;
  };
  std::uint64_t sets = 0;
  while (sets < max && enough(sets + 1)) ++sets;
  return sets;
}

}  // namespace

GpuFit FitGpus(const GpuRequest& pod, const NodeGpus& node, std::span<const GpuUsage> usage) {
  return FitGpus(pod, pod.policy, node, usage);
}

GpuFit FitGpus(const GpuRequest& pod,
               const GpuPolicy& policy,
               const NodeGpus& node,
               std::span<const GpuUsage> usage) {
  CHECK(usage.size() == node.gpus.size());
  return Fitter(pod, policy, node).Run(usage);
}

std::uint32_t CountGpuFits(const GpuRequest& pod,
                           const NodeGpus& node,
                           std::span<const GpuUsage> usage,
                           std::uint32_t max) {
  const bool mig = HasMig(node);
  std::uint64_t fits = max;
  for (const ContainerGpuRequest& container : pod.containers) {
    if (container.count == 0) continue;
    const auto count = static_cast<std::uint64_t>(container.count);
    std::map<std::int32_t, Group> groups;  // one, or one per NUMA node
    for (std::size_t i = 0; i < node.gpus.size(); ++i) {
      const Gpu& gpu = node.gpus[i];
      groups[pod.numa_bind && !mig ? gpu.numa : 0].push_back(
          CountShares(pod, container, gpu, usage[i], mig ? fits * count : fits));
    }
    std::uint64_t sets = 0;
    for (const auto& [numa, group] : groups) sets += CountSets(group, count, mig, fits - sets);
    fits = std::min(fits, sets);
  }
  return static_cast<std::uint32_t>(fits);
}

}  // namespace strata
