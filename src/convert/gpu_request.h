#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/gpu.h"
#include "objects/pod.h"

namespace strata {

// What the pod asks of GPUs by the resources and annotations of its dialect, which follows from the
// names of its resources; none when it asks for none.
//
// A container that names only shares of a GPU asks for one; and as HAMi's webhook would have it,
// one that asks for whole GPUs in HAMi's dialect has them to itself. A number that is none (or a
// weights annotation that is none), and what is not supported, becomes the `problem` of the
// request. `warnings`, if not null, gets a sentence for every policy that nobody knows.
[[nodiscard]] std::optional<GpuRequest> ReadGpuRequest(const objects::Pod& pod,
                                                       std::vector<std::string>* warnings);

// What the minResources of a PodGroup say of shares of GPUs, as if every GPU that they name were
// shared alike; none when they say nothing of shares. Their amounts are sums over pods: 10
// nvidia.com/gpu and 80000 nvidia.com/gpumem are ten shares of 8000 MiB.
[[nodiscard]] std::optional<GpuRequest> ReadMinGpus(const objects::ResourceList& min_resources);

// True when a container names shares of a GPU but no count of GPUs.
[[nodiscard]] bool LacksGpuCounts(const objects::PodSpec& spec);
// Gives such containers the count that they leave out: 1.
void AddDefaultGpuCounts(objects::PodSpec& spec);

}  // namespace strata
