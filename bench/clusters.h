#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "model/cluster_state.h"

// The clusters and jobs that the benchmarks run on (bench/README.md).
namespace strata::bench {

// A tree of HyperNodes: `fanout` children each, `leaf` nodes per tier-1 HyperNode, all nodes alike.
struct Fabric {
  std::size_t nodes = 0;
  std::size_t leaf = 10;
  std::size_t fanout = 10;
  std::size_t tiers = 3;
};

struct Gang {
  std::string name;
  std::size_t pods = 0;
  Amount milli_cpu = 0;
  Amount memory = 0;
  TopologySpec topology;
};

// Nodes of 64 CPUs and 256 GiB, below `fabric.tiers` levels of HyperNodes.
void AddFabric(ClusterState& state, const Fabric& fabric);
void AddGang(ClusterState& state, const Gang& gang);

inline constexpr Amount kNodeCpu = 64'000;
inline constexpr Amount kNodeMemory = Amount{256} << 30U;

}  // namespace strata::bench
