#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "whatif/cluster.h"

namespace strata {

// The "ns/podgroup" that a person means by `name`: a PodGroup of that name, else that of the Job.
// kNotFound with one line that names what comes nearest. A run may let a PodGroup go that was made
// for a lone pod.
[[nodiscard]] Result<std::string> FindJobByName(const LoadedCluster& cluster,
                                                std::string_view name);

}  // namespace strata
