#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "model/gpu.h"

// Which GPUs of a node a pod gets. Pure.
namespace strata {

struct GpuFit {
  std::optional<GpuClaim> claim;  // none: it does not fit
  std::string reason;             // then: "2/8 CardInsufficientMemory, 6/8 CardNotHealth"
  // With a claim: the pair scores inside its containers' sets, and how much its GPUs have to do
  // with those that would have served as well.
  std::int64_t score = 0;
  std::int64_t damage = 0;
};

// GPUs for every container in turn, each by the pod's policy given what the previous containers
// got; the GPUs of an init container are free again for the containers after it. With the policy
// topology-aware the best set (gpu_sets.h); else the first that serve in the order of the policy.
// With NUMA binding all of a container's GPUs are of one NUMA node: the best set over all of them,
// or the first in order that has enough. REQUIRES: `usage` has an entry per GPU of the node.
[[nodiscard]] GpuFit FitGpus(const GpuRequest& pod,
                             const NodeGpus& node,
                             std::span<const GpuUsage> usage);
// The same by `policy` instead of the pod's, which may leave it open.
[[nodiscard]] GpuFit FitGpus(const GpuRequest& pod,
                             const GpuPolicy& policy,
                             const NodeGpus& node,
                             std::span<const GpuUsage> usage);

// How many such pods could fit one after the other, at most `max`, if all chose well: exact for
// pods of one container, too many at worst for others. Quick: no sets are looked for.
[[nodiscard]] std::uint32_t CountGpuFits(const GpuRequest& pod,
                                         const NodeGpus& node,
                                         std::span<const GpuUsage> usage,
                                         std::uint32_t max);

// The candidates in the order in which the policy takes them.
[[nodiscard]] std::vector<std::size_t> OrderGpus(const GpuRequest& pod,
                                                 const GpuPolicy& policy,
                                                 const NodeGpus& node,
                                                 std::span<const GpuUsage> usage,
                                                 std::vector<std::size_t> candidates);

}  // namespace strata
