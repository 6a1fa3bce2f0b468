#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/gpu.h"
#include "objects/pod.h"

namespace strata {

// What the pod asks of GPUs by HAMi's resources and annotations; none when it asks for none.
//
// As HAMi's webhook would: a container that names only shares of a GPU asks for one, and one that
// asks for whole GPUs has them to itself. A number that is none (or a weights annotation that is
// none) becomes the `problem` of the request. `warnings`, if not null, gets a sentence for every
// policy that nobody knows.
[[nodiscard]] std::optional<GpuRequest> ReadGpuRequest(const objects::Pod& pod,
                                                       std::vector<std::string>* warnings);

// True when a container names shares of a GPU but no count of GPUs.
[[nodiscard]] bool LacksGpuCounts(const objects::PodSpec& spec);
// Gives such containers the count that they leave out: 1.
void AddDefaultGpuCounts(objects::PodSpec& spec);

}  // namespace strata
