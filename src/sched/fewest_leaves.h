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

// A cheap necessary condition for FewerLeaves, by what the nodes of each leaf have in all: true
// when fewer leaves than the pods of the class have opened might hold them. COST: O(leaves of the
// shape), up to the first that is large enough.
[[nodiscard]] bool MayNeedFewer(const Session& session,
                                const DomainShape& shape,
                                ClassId class_id,
                                const PlaceOutcome& placed);
// The fewest leaves of the shape that hold as many equal pods as are placed there now, if that is
// less than the pods have opened: the largest, and as the last one the smallest that is enough; of
// equal ones the first in the order of the tree. None for pods with rules about other pods or about
// more than their node.
//
// REQUIRES: `placed` are all tasks that were placed there, of one class.
// COST: O(nodes of the shape).
[[nodiscard]] std::optional<LeafChoice> FewerLeaves(Session& session,
                                                    const DomainShape& shape,
                                                    std::span<const TaskId> placed);

}  // namespace strata
