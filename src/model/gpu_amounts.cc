#include "model/gpu_amounts.h"

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "base/ascii.h"

namespace strata {
namespace {

bool Contains(const std::vector<std::string>& list, const std::string& item) {
  return std::find(list.begin(), list.end(), item) != list.end();
}

// The most that the containers of a pod hold at a time.
class PodTotal {
 public:
  // In the order of the pod. What an init container holds is free again behind it.
  void Add(Amount amount, bool init) {
    const Amount sum = held_ + amount;
    most_ = std::max(most_, sum);
    if (!init) held_ = sum;
  }
  [[nodiscard]] Amount most() const { return most_; }

 private:
  Amount held_ = 0;
  Amount most_ = 0;
};

// `part` of `whole` in thousandths, rounded up.
Amount Thousandths(std::int64_t part, std::int64_t whole) {
  if (part <= 0) return 0;
  if (part >= whole) return kWholeGpu;
  return (part * kWholeGpu + whole - 1) / whole;
}

// The part of one GPU that serves the container.
std::optional<Amount> PartFor(const ContainerGpuRequest& container, const Gpu& gpu) {
  const std::int64_t memory = MemoryOf(container, gpu);
  if (!gpu.IsMig()) {
    if (memory > gpu.memory_mib || container.cores > gpu.cores) return std::nullopt;
    return PartOf(gpu, memory, container.cores);
  }
  const MigProfile* smallest = nullptr;
  for (const MigProfile& profile : gpu.mig_profiles) {
    const bool fits = profile.memory_mib >= memory && !profile.placements.empty();
    if (fits && (smallest == nullptr || profile.memory_mib < smallest->memory_mib)) {
      smallest = &profile;
    }
  }
  if (smallest == nullptr) return std::nullopt;
  return PartOf(gpu, smallest->memory_mib, smallest->cores);
}

}  // namespace

Amount NamedGpus(const ResourceNames& names, const Resources& amounts) {
  const auto named = [&](std::string_view name) {
    const auto id = names.Find(name);
    return id ? amounts.Get(*id) : 0;
  };
  Amount gpus = 0;
  const bool overflows = __builtin_add_overflow(named(kGpuResource), named(kVgpuResource), &gpus);
  return overflows ? std::numeric_limits<Amount>::max() : gpus;
}

Resources WithGpus(const ResourceNames& names, Resources amounts, Amount gpus) {
  const auto counted = names.Find(kGpuResource);
  if (!counted) return amounts;
  if (const auto vgpu = names.Find(kVgpuResource)) amounts.Set(*vgpu, 0);
  amounts.Set(*counted, gpus);
  return amounts;
}

bool IsWantedMode(const GpuRequest& pod, const Gpu& gpu) {
  if (!gpu.IsIn(pod.dialect)) return false;
  if (pod.dialect == GpuDialect::kVolcano) {
    return !gpu.IsMig() && (pod.mode.empty() || pod.mode == gpu.mode);
  }
  return pod.mode.empty() || pod.mode.find(gpu.mode) != std::string::npos;
}

bool IsWantedType(const GpuRequest& pod, const Gpu& gpu) {
  if (pod.use_types.empty() && pod.avoid_types.empty()) return true;
  const std::string type = LowerCase(gpu.type);
  const auto is_part = [&](const std::string& part) {
    return type.find(part) != std::string::npos;
  };
  const auto& use = pod.use_types;
  const auto& avoid = pod.avoid_types;
  if (!use.empty() && std::none_of(use.begin(), use.end(), is_part)) return false;
  return std::none_of(avoid.begin(), avoid.end(), is_part);
}

bool IsWantedKind(const GpuRequest& pod, const Gpu& gpu) {
  return IsWantedMode(pod, gpu) && IsWantedType(pod, gpu);
}

bool IsWantedUuid(const GpuRequest& pod, const Gpu& gpu) {
  if (!pod.use_uuids.empty() && !Contains(pod.use_uuids, gpu.uuid)) return false;
  return !Contains(pod.avoid_uuids, gpu.uuid);
}

std::int64_t MemoryOf(const ContainerGpuRequest& container, const Gpu& gpu) {
  if (container.memory_mib > 0) return container.memory_mib;
  return gpu.memory_mib * container.memory_percent / 100;
}

Amount PartOf(const Gpu& gpu, std::int64_t memory_mib, std::int32_t cores) {
  return std::max(Thousandths(memory_mib, gpu.memory_mib), Thousandths(cores, gpu.cores));
}

std::optional<Amount> AmountOn(const GpuRequest& pod, const Gpu& gpu) {
  if (!IsWantedKind(pod, gpu)) return std::nullopt;
  PodTotal total;
  for (const ContainerGpuRequest& container : pod.containers) {
    if (container.count == 0) continue;
    const auto part = PartFor(container, gpu);
    if (!part) return std::nullopt;
    total.Add(*part * container.count, container.init);
  }
  return total.most();
}

std::optional<Amount> AmountOf(const GpuClaim& claim, const NodeGpus& node) {
  if (claim.empty()) return std::nullopt;
  PodTotal total;
  for (std::size_t i = 0; i < claim.containers.size(); ++i) {
    Amount amount = 0;
    for (const GpuShare& share : claim.containers[i]) {
      const auto at = node.Find(share.uuid);
      if (!at) return std::nullopt;
      amount += PartOf(node.gpus[*at], share.memory_mib, share.cores);
    }
    total.Add(amount, claim.IsInit(i));
  }
  return total.most();
}

Amount AmountOf(const NodeGpus& node) {
  const auto serves = [](const Gpu& gpu) { return gpu.healthy && !gpu.cordoned; };
  return std::count_if(node.gpus.begin(), node.gpus.end(), serves) * kWholeGpu;
}

}  // namespace strata
