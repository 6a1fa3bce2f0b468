#pragma once

#include <string_view>

#include "model/gpu.h"
#include "objects/pod.h"

// The names by which nodes, pods and agents speak of GPUs.
namespace strata {

struct GpuNames {
  GpuDialect dialect = GpuDialect::kHami;
  // Resources of containers: how all of them begin, GPUs, MiB, percent of the memory, and percent
  // of the cores; but for the count, of each GPU.
  std::string_view prefix, count, memory, percent, cores;
  // Annotations of pods: what they want.
  std::string_view use_uuids, avoid_uuids, mode;
  // Annotations of nodes: their GPUs, and the pod that the agent serves.
  std::string_view registered, lock;
  // Annotations of pods: what they got, and how far the agent is.
  std::string_view node, time, allocated, to_allocate, bind_phase, bind_time;
};

[[nodiscard]] const GpuNames& NamesOf(GpuDialect dialect);

// Whether a container names resources of the dialect. One lookup: most name none.
[[nodiscard]] bool NamesGpus(const objects::Container& container, const GpuNames& names);
[[nodiscard]] bool NamesGpus(const objects::PodSpec& spec, const GpuNames& names);

}  // namespace strata
