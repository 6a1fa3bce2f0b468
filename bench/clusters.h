#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "model/cluster_state.h"

// The clusters and jobs that the benchmarks run on (bench/README.md).
namespace strata::bench {

inline constexpr Amount kNodeCpu = 64'000;
inline constexpr Amount kNodeMemory = Amount{256} << 30U;

// Nodes of 64 CPUs and 256 GiB below one level of HyperNodes per entry of `widths`: widths[0] nodes
// in each of tier 1, widths[1] of those in each of tier 2, and so on.
struct Fabric {
  std::size_t nodes = 0;
  std::vector<std::size_t> widths = {10, 10, 10};
};

// A job of `pods` pods that ask for one `slices`th of a node each. With `part_size`, every
// `part_size` pods are a sub-group.
struct Gang {
  std::string name;
  std::size_t pods = 1;
  Amount slices = 1;
  TopologySpec topology;
  std::size_t part_size = 0;
  TopologySpec part_topology;
};

void AddFabric(ClusterState& state, const Fabric& fabric);
JobId AddGang(ClusterState& state, const Gang& gang);
// One running pod of a job of its own on each of `nodes`, `pods_per_node` times.
void AddRunning(ClusterState& state, std::size_t nodes, std::size_t pods_per_node);
// Running pods of one twentieth of a node, on each node another number of them, from none to 15.
void AddUneven(ClusterState& state, std::size_t nodes);
// A pod that asks for one `slices`th of a node.
[[nodiscard]] TaskSpec Pod(JobId job, std::string name, Amount slices);

[[nodiscard]] TopologySpec Hard(std::int32_t tier);

}  // namespace strata::bench
