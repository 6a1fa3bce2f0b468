#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "model/cluster_state.h"
#include "model/gpu.h"
#include "model/resources.h"

namespace strata {

// The GPUs of a cluster, and how the free ones lie.
struct GpuSums {
  std::int64_t gpus = 0;
  std::int64_t used = 0;         // wholly or in part
  std::int64_t free = 0;         // used by nobody, on nodes that take pods
  std::int64_t whole_nodes = 0;  // nodes that have GPUs, all of them free
  std::int64_t stranded = 0;     // free GPUs of the other nodes

  bool operator==(const GpuSums&) const = default;
};

// Counts GPUs that nodes register, else resources whose names end in "/gpu". REQUIRES: between
// cycles.
[[nodiscard]] GpuSums SumGpus(const ClusterState& state);

// How many GPUs the amounts are: resources whose names end in "/gpu", rounded up.
[[nodiscard]] std::int64_t GpusIn(const ResourceNames& names, std::span<const Amount> amounts);

// Positions of the GPUs that nobody uses and anybody may. REQUIRES: the node registers them.
[[nodiscard]] std::vector<std::size_t> FreeGpus(const ClusterState& state, NodeId node);

}  // namespace strata
