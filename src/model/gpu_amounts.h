#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "model/gpu.h"
#include "model/resources.h"

// How much of GPUs a pod takes, in thousandths of a GPU.
//
// A share is the part of its GPU that it takes: of the memory or of the cores, the larger, rounded
// up. A pod takes what its containers hold together, or its largest init container, with the
// sidecars before it, where that is more.
namespace strata {

// What GPUs are counted by, and asked for in HAMi's dialect; and what they are asked for in
// Volcano's.
inline constexpr std::string_view kGpuResource = kGpuParts[0].resource;
inline constexpr std::string_view kVgpuResource = "volcano.sh/vgpu-number";
inline constexpr Amount kWholeGpu = 1000;

// What the amounts name of GPUs, in both dialects together; at most what 64 bits hold.
[[nodiscard]] Amount NamedGpus(const ResourceNames& names, const Resources& amounts);
// The amounts with so many GPUs, by the name that they are counted by alone.
[[nodiscard]] Resources WithGpus(const ResourceNames& names, Resources amounts, Amount gpus);

// Whether the GPU is handed out in the dialect of the pod, in a mode that the pod wants; a pod of
// Volcano's dialect gets no MIG instances.
[[nodiscard]] bool IsWantedMode(const GpuRequest& pod, const Gpu& gpu);
// Whether the model is what the pod wants; both; and whether the UUID is.
[[nodiscard]] bool IsWantedType(const GpuRequest& pod, const Gpu& gpu);
[[nodiscard]] bool IsWantedKind(const GpuRequest& pod, const Gpu& gpu);
[[nodiscard]] bool IsWantedUuid(const GpuRequest& pod, const Gpu& gpu);

// The memory that the container wants of each such GPU, in MiB.
[[nodiscard]] std::int64_t MemoryOf(const ContainerGpuRequest& container, const Gpu& gpu);

// The part that so much memory and cores are of a GPU; never more than all of it.
[[nodiscard]] Amount PartOf(const Gpu& gpu, std::int64_t memory_mib, std::int32_t cores);

// What the pod would take of GPUs of this kind that nobody else uses; none when they cannot serve
// it.
[[nodiscard]] std::optional<Amount> AmountOn(const GpuRequest& pod, const Gpu& gpu);

// What a pod takes with the GPUs that it holds; none when the node does not register all of them,
// or the pod is not known to hold any.
[[nodiscard]] std::optional<Amount> AmountOf(const GpuClaim& claim, const NodeGpus& node);

// What the GPUs of a node are together: those that work and that new pods may use.
[[nodiscard]] Amount AmountOf(const NodeGpus& node);

}  // namespace strata
