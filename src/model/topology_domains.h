#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "base/ids.h"

namespace strata {

// The nodes of a cluster by their value of one label, the values as small numbers.
struct TopologyDomains {
  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

  std::vector<std::uint32_t> of_node;  // by id; kNone where the node does not have the label
  std::uint32_t count = 0;

  [[nodiscard]] std::uint32_t Of(NodeId node) const { return of_node[node.index()]; }
};

}  // namespace strata
