#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/gpu.h"
#include "model/labels.h"
#include "objects/pod.h"

// The annotations in which HAMi keeps GPUs: what nodes register, what pods hold.
namespace strata {

inline constexpr std::string_view kGpuRegisterAnnotation = "hami.io/node-nvidia-register";
inline constexpr std::string_view kGpuScoreAnnotation = "hami.io/node-nvidia-score";
inline constexpr std::string_view kGpuCordonAnnotation = "hami.io/device-cordon";
inline constexpr std::string_view kGpuNodeAnnotation = "hami.io/vgpu-node";
inline constexpr std::string_view kGpuAllocatedAnnotation = "hami.io/vgpu-devices-allocated";
inline constexpr std::string_view kGpuToAllocateAnnotation = "hami.io/vgpu-devices-to-allocate";
inline constexpr std::string_view kMigAllocationsAnnotation = "hami.io/vgpu-mig-allocations";

// What was read, and what is wrong with it: one sentence each, naming the annotation.
struct ReadGpus {
  NodeGpus node;
  std::vector<std::string> warnings;
};
struct ReadClaim {
  GpuClaim claim;
  std::vector<std::string> warnings;
};

// The GPUs of a node; none when it registers none. If the register annotation cannot be read
// nothing is believed: the node then has no GPUs and a `problem`. A score annotation that cannot be
// read means no table. Never fails, whatever the text.
[[nodiscard]] std::optional<ReadGpus> ReadNodeGpus(const Labels& annotations);

// What a pod holds by its annotations; an empty claim when they say nothing. A share whose numbers
// cannot be read counts as the whole GPU. The text has the containers of `spec` in their order,
// init containers and sidecars first.
[[nodiscard]] ReadClaim ReadGpuClaim(const Labels& annotations, const objects::PodSpec& spec);

// The annotations to be written with a bind to `node`: the same text that ReadGpuClaim reads.
[[nodiscard]] Labels WriteGpuClaim(const GpuClaim& claim, std::string_view node);

}  // namespace strata
