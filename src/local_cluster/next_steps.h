#pragma once

#include <cstdint>
#include <string>

namespace strata {

// Whether the cluster has anything that a pod could run on.
enum class ClusterNodes : std::uint8_t { kNone, kPerhaps };

// What `strata up` says on a terminal when the cluster is up: what to type next. Pure.
[[nodiscard]] std::string NextSteps(const std::string& kubeconfig, ClusterNodes nodes);

}  // namespace strata
