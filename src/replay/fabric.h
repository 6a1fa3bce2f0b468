#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/cluster_state.h"

// The cluster that a trace is replayed on: nodes, and the switches above them.
namespace strata::replay {

using NodeIndex = std::uint32_t;
using DomainIndex = std::uint32_t;

// What any node takes, however little they ask for.
inline constexpr std::int32_t kMaxPodsPerNode = 1000;

struct Fabric {
  static constexpr DomainIndex kNoDomain = std::numeric_limits<DomainIndex>::max();

  struct Node {
    std::string name;
    std::int32_t gpus = 0;
    std::int64_t cpu_milli = 0;  // 0: not counted, as with `memory`
    std::int64_t memory = 0;     // bytes
    std::string gpu_model;
  };
  // What connects nodes at one tier: every node is in one domain of it, or in none.
  struct Level {
    std::int32_t tier = 1;
    std::string name;                  // "ASW", "" for none
    std::vector<std::string> domains;  // names
    std::vector<DomainIndex> of_node;  // by node
  };

  std::vector<Node> nodes;    // in the order in which they were given: ties go to the first
  std::vector<Level> levels;  // ascending by tier; above them is the cluster as a whole

  [[nodiscard]] std::int64_t TotalGpus() const;
  // The tier of level `level`; one above the highest for levels.size(), the cluster as a whole.
  [[nodiscard]] std::int32_t TierOf(std::size_t level) const;
};

// "ip,DSW,PSW,ASW" of Alibaba's Lingjun: ASW are the leaves. Only hosts of `psw` if it is not "".
// Every node has `gpus`.
[[nodiscard]] Result<Fabric> ReadLingjun(std::string_view path,
                                         std::string_view text,
                                         std::string_view psw,
                                         std::int32_t gpus);

// "sn,cpu_milli,memory_mib,gpu,model" of Alibaba's openb: no network. Nodes without GPUs are left
// out.
[[nodiscard]] Result<Fabric> ReadOpenbNodes(std::string_view path, std::string_view text);

// Spines of racks of nodes, named as `strata up --generate` does. REQUIRES: all are above 0.
[[nodiscard]] Fabric MakeFabric(std::int64_t spines,
                                std::int64_t racks,
                                std::int64_t nodes,
                                std::int32_t gpus);

// The nodes and HyperNodes of a state; what runs there is not looked at. A node in several
// HyperNodes of a tier counts for the first by name.
[[nodiscard]] Fabric FabricOf(const ClusterState& state);

// Fills an empty state with the nodes, and with a HyperNode for each domain. kInvalidArgument when
// the nodes have more in all than can be counted.
[[nodiscard]] Status FillState(const Fabric& fabric, ClusterState& state);

}  // namespace strata::replay
