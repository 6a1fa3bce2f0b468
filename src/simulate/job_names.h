#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "simulate/cluster.h"

namespace strata {

// The "ns/podgroup" that a person means by `name`: a PodGroup of that name, else that of the Job.
// kNotFound with one line that names what comes nearest. A run may let a PodGroup go that was made
// for a lone pod.
[[nodiscard]] Result<std::string> FindJobByName(const SimulatedCluster& cluster,
                                                std::string_view name);

// Up to `count` of `names`, those first that take the fewest typing errors to get from `wanted`;
// equal ones by name.
[[nodiscard]] std::vector<std::string> NearestNames(const std::vector<std::string>& names,
                                                    std::string_view wanted,
                                                    std::size_t count);

// "s0, s1 and 8 more".
[[nodiscard]] std::string NameSome(const std::vector<std::string>& names);

}  // namespace strata
