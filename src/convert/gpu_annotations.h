#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/gpu.h"
#include "model/labels.h"
#include "objects/node.h"
#include "objects/pod.h"

// The annotations in which HAMi and Volcano keep GPUs: what nodes register, what pods hold. The
// names that differ between the dialects are in gpu_dialect.h.
namespace strata {

inline constexpr std::string_view kGpuScoreAnnotation = "hami.io/node-nvidia-score";
inline constexpr std::string_view kGpuCordonAnnotation = "hami.io/device-cordon";
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

// The GPUs of a node; none when it registers none. If a register annotation cannot be read nothing
// of it is believed: the node then has no GPUs in that dialect and a `problem`. A score annotation
// that cannot be read means no table. Never fails, whatever the text.
[[nodiscard]] std::optional<ReadGpus> ReadNodeGpus(const Labels& annotations);
// The same, and nothing is offered in Volcano's dialect unless the kubelet has something of each of
// its resources to hand out.
[[nodiscard]] std::optional<ReadGpus> ReadNodeGpus(const objects::Node& node);

// What a pod holds by the annotations of its dialect; an empty claim when they say nothing. A share
// whose numbers cannot be read counts as the whole GPU. The text has the containers of `spec` in
// their order, in HAMi's dialect init containers and sidecars first.
[[nodiscard]] ReadClaim ReadGpuClaim(const Labels& annotations, const objects::PodSpec& spec);

// The annotations to be written with a bind to `node`: the same text that ReadGpuClaim reads.
[[nodiscard]] Labels WriteGpuClaim(const GpuClaim& claim, std::string_view node);
// Removes them, of whatever dialect.
void EraseGpuClaim(Labels& annotations);

}  // namespace strata
