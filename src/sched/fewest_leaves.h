#pragma once

#include <optional>
#include <span>
#include <vector>

#include "base/ids.h"
#include "sched/domain_index.h"
#include "sched/place_request.h"
#include "sched/session.h"

namespace strata {

// Some of the leaves of a HyperNode.
struct LeafChoice {
  std::vector<NodeId> nodes;  // in the order of the tree
  std::vector<DomainShape::Group> groups;
};

// The fewest leaves below request.domain that hold as many equal pods as are placed there now, if
// that is less than the pods have opened: the largest, and as the last one the smallest that is
// enough; of equal ones the first in the order of the tree. None for pods with rules about other
// pods or about more than their node.
//
// REQUIRES: `placed` are all tasks that the request has placed, of one class.
// COST: O(placed) when they are in one leaf; O(leaves below the domain) when idle sums say that
// fewer leaves cannot hold them; else O(nodes below the domain).
[[nodiscard]] std::optional<LeafChoice> FewerLeaves(Session& session,
                                                    const PlaceRequest& request,
                                                    std::span<const TaskId> placed);

}  // namespace strata
