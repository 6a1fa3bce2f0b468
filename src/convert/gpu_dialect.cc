#include "convert/gpu_dialect.h"

#include <algorithm>

#include "model/gpu_amounts.h"

namespace strata {
namespace {

constexpr GpuNames kHamiNames = {
    .dialect = GpuDialect::kHami,
    .prefix = kGpuResource,
    .count = kGpuResource,
    .memory = "nvidia.com/gpumem",
    .percent = "nvidia.com/gpumem-percentage",
    .cores = "nvidia.com/gpucores",
    .use_uuids = "nvidia.com/use-gpuuuid",
    .avoid_uuids = "nvidia.com/nouse-gpuuuid",
    .mode = "nvidia.com/vgpu-mode",
    .registered = "hami.io/node-nvidia-register",
    .lock = "hami.io/mutex.lock",
    .node = "hami.io/vgpu-node",
    .time = "hami.io/vgpu-time",
    .allocated = "hami.io/vgpu-devices-allocated",
    .to_allocate = "hami.io/vgpu-devices-to-allocate",
    .bind_phase = "hami.io/bind-phase",
    .bind_time = "hami.io/bind-time",
};

constexpr GpuNames kVolcanoNames = {
    .dialect = GpuDialect::kVolcano,
    .prefix = "volcano.sh/vgpu-",
    .count = kVgpuResource,
    .memory = "volcano.sh/vgpu-memory",
    .percent = "volcano.sh/vgpu-memory-percentage",
    .cores = "volcano.sh/vgpu-cores",
    .use_uuids = "volcano.sh/vgpu-use-gpuuuid",
    .avoid_uuids = "volcano.sh/vgpu-nouse-gpuuuid",
    .mode = "volcano.sh/vgpu-mode",
    .registered = "volcano.sh/node-vgpu-register",
    .lock = "volcano.sh/mutex.lock",
    .node = "volcano.sh/vgpu-node",
    .time = "volcano.sh/vgpu-time",
    .allocated = "volcano.sh/vgpu-ids-new",
    .to_allocate = "volcano.sh/devices-to-allocate",
    .bind_phase = "volcano.sh/bind-phase",
    .bind_time = "volcano.sh/bind-time",
};

}  // namespace

const GpuNames& NamesOf(GpuDialect dialect) {
  return dialect == GpuDialect::kHami ? kHamiNames : kVolcanoNames;
}

// Requests include what only limits name.
bool NamesGpus(const objects::Container& container, const GpuNames& names) {
  const auto first = container.requests.lower_bound(names.prefix);
  return first != container.requests.end() && first->first.starts_with(names.prefix);
}

bool NamesGpus(const objects::PodSpec& spec, const GpuNames& names) {
  const auto any = [&](const auto& containers) {
    return std::any_of(containers.begin(), containers.end(), [&](const auto& container) {
      return NamesGpus(container, names);
    });
  };
  return any(spec.containers) || any(spec.init_containers);
}

}  // namespace strata
