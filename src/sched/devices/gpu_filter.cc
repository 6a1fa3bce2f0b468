#include "sched/devices/gpu_filter.h"

#include <algorithm>
#include <array>
#include <string>
#include <tuple>
#include <vector>

#include "base/check.h"
#include "model/gpu_amounts.h"

namespace strata {
namespace {

constexpr std::int32_t kAllCores = 100;

bool Overlaps(const MigPlacement& a, const MigPlacement& b) {
  return a.start < b.start + b.size && b.start < a.start + a.size;
}

struct MigChoice {
  const MigProfile* profile = nullptr;
  MigPlacement placement;
};

// The smallest profile with that much memory and a free place; 1g and 3g instances go to the end
// of the GPU, others to its beginning, so that large ones still find room.
MigChoice ChooseMig(const Gpu& gpu, const GpuUsage& usage, std::int64_t memory_mib) {
  MigChoice best;
  for (const MigProfile& profile : gpu.mig_profiles) {
    if (profile.memory_mib < memory_mib) continue;
    if (best.profile != nullptr && std::tie(best.profile->memory_mib, best.profile->name) <=
                                       std::tie(profile.memory_mib, profile.name)) {
      continue;
    }
    const bool at_end = profile.name.starts_with("1g") || profile.name.starts_with("3g");
    std::optional<MigPlacement> place;
    for (const MigPlacement& placement : profile.placements) {
      const bool taken = std::any_of(usage.mig.begin(), usage.mig.end(), [&](const auto& used) {
        return Overlaps(used, placement);
      });
      if (taken) continue;
      if (!place || (at_end ? placement.start > place->start : placement.start < place->start)) {
        place = placement;
      }
    }
    if (place) best = {&profile, *place};
  }
  return best;
}

// A MIG GPU that somebody uses without a record of where.
bool IsOpaque(const Gpu& gpu, const GpuUsage& usage) {
  return gpu.IsMig() && static_cast<std::size_t>(usage.slots) > usage.mig.size();
}

std::optional<GpuRefusal> CheckCores(const ContainerGpuRequest& container,
                                     const Gpu& gpu,
                                     const GpuUsage& usage) {
  if (gpu.cores - usage.cores < container.cores) return GpuRefusal::kInsufficientCores;
  if (gpu.cores == kAllCores && container.cores == kAllCores && usage.slots > 0) {
    return GpuRefusal::kExclusiveConflict;
  }
  if (gpu.cores != 0 && usage.cores == gpu.cores && container.cores == 0) {
    return GpuRefusal::kCoresExhausted;
  }
  return std::nullopt;
}

}  // namespace

std::string_view ToString(GpuRefusal refusal) {
  constexpr std::array<std::string_view, 15> kNames = {"CardNotHealth",
                                                       "CardCordoned",
                                                       "CardTypeMismatch",
                                                       "CardUuidMismatch",
                                                       "CardTimeSlicingExhausted",
                                                       "ExclusiveDeviceAllocateConflict",
                                                       "CardInsufficientMemory",
                                                       "CardInsufficientCore",
                                                       "CardComputeUnitsExhausted",
                                                       "CardMigTopologyInfeasible",
                                                       "NumaNotFit",
                                                       "ResourceQuotaNotFit",
                                                       "AllocatedCardsInsufficientRequest",
                                                       "CardUsedByPodGroup",
                                                       "CardInUse"};
  return kNames.at(static_cast<std::size_t>(refusal));
}

bool IsGpuShortage(std::string_view sentence) {
  using enum GpuRefusal;
  constexpr std::array kShortages = {kSlotsExhausted,
                                     kExclusiveConflict,
                                     kInsufficientMemory,
                                     kInsufficientCores,
                                     kCoresExhausted,
                                     kNoMigPlacement,
                                     kSameGroup,
                                     kInUse};
  return std::any_of(kShortages.begin(), kShortages.end(), [&](GpuRefusal refusal) {
    return sentence.find(ToString(refusal)) != std::string_view::npos;
  });
}

std::optional<GpuRefusal> CheckGpu(const GpuRequest& pod,
                                   const ContainerGpuRequest& container,
                                   const Gpu& gpu,
                                   const GpuUsage& usage) {
  if (!gpu.healthy || IsOpaque(gpu, usage)) return GpuRefusal::kNotHealthy;
  if (gpu.cordoned) return GpuRefusal::kCordoned;
  const bool type_first = pod.dialect == GpuDialect::kHami;
  if (!IsWantedMode(pod, gpu)) return GpuRefusal::kTypeMismatch;
  if (type_first && !IsWantedType(pod, gpu)) return GpuRefusal::kTypeMismatch;
  if (!IsWantedUuid(pod, gpu)) return GpuRefusal::kUuidMismatch;
  if (gpu.slots <= usage.slots) {
    return gpu.slots == 1 ? GpuRefusal::kInUse : GpuRefusal::kSlotsExhausted;
  }
  if (pod.policy.unused_only && usage.slots > 0) return GpuRefusal::kExclusiveConflict;
  if (usage.by_own_group) return GpuRefusal::kSameGroup;
  const std::int64_t memory = MemoryOf(container, gpu);
  if (gpu.IsMig()) {
    const bool fits = ChooseMig(gpu, usage, memory).profile != nullptr;
    return fits ? std::nullopt : std::optional(GpuRefusal::kNoMigPlacement);
  }
  if (gpu.memory_mib - usage.memory_mib < memory) {
    const bool wants_all = memory == gpu.memory_mib;  // it would fit if nobody used the GPU
    return wants_all ? GpuRefusal::kInUse : GpuRefusal::kInsufficientMemory;
  }
  if (const auto refusal = CheckCores(container, gpu, usage)) return refusal;
  if (!type_first && !IsWantedType(pod, gpu)) return GpuRefusal::kTypeMismatch;
  return std::nullopt;
}

GpuShare ShareOf(const ContainerGpuRequest& container, const Gpu& gpu, const GpuUsage& usage) {
  GpuShare share;
  share.uuid = gpu.uuid;
  share.memory_mib = MemoryOf(container, gpu);
  share.cores = container.cores;
  if (!gpu.IsMig()) return share;
  const MigChoice mig = ChooseMig(gpu, usage, share.memory_mib);
  CHECK(mig.profile != nullptr);
  share.memory_mib = mig.profile->memory_mib;
  share.cores = mig.profile->cores;
  share.mig_profile = mig.profile->name;
  share.mig_placement = mig.placement;
  return share;
}

}  // namespace strata
