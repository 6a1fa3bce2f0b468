#pragma once

#include <string>
#include <vector>

#include "discovery/tree.h"

namespace strata::discovery {

// Where a node is, as labels or a cloud's API say it: from its lowest domain upwards.
struct NodePath {
  std::string node;
  std::vector<std::string> values;  // lowest first; ends at the first level that is not known
};

// The tree of such paths. A domain is its whole path from the top, so that one value under two
// parents is two groups. A node whose upper values are missing joins the domain of the same lower
// values when there is exactly one longer path; else it stands alone.
//
// `tier_names` by level, lowest first; its last one serves all levels above. Nodes without any
// value are in no group. The anchor of a group is its value, its identity the path.
[[nodiscard]] Tree TreeOfPaths(const std::vector<NodePath>& paths,
                               const std::vector<std::string>& tier_names);

}  // namespace strata::discovery
