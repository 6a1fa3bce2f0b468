#pragma once

#include <functional>
#include <optional>
#include <string>

#include "base/ids.h"
#include "model/cluster_state.h"
#include "sched/victim_point.h"

// What queues take from each other by reclaim: shared by proportion and capacity.
//
// A queue reclaims up to what it deserves, from queues that have more than they deserve. Both are
// asked about the resources that have to be taken from others (EvictionClaim::contested). So the
// amounts that queues have beyond what they deserve fall with every plan, and no queue can reclaim
// what was reclaimed from it.
namespace strata {

// What one queue has and may have of one resource.
struct QueuePart {
  double has = 0;
  double deserved = 0;
  double guarantee = 0;
};
using PartOf = std::function<QueuePart(QueueId, ResourceId)>;

// True when the queue of the unit has more than it deserves of a contested resource that the unit
// has. A surplus pod may take it down to that, a whole gang also below it. Neither takes the queue
// below its guarantee.
[[nodiscard]] bool MayReclaim(const ClusterState& state,
                              const EvictionClaim& claim,
                              const VictimUnit& unit,
                              const PartOf& part_of);

// Why the queue of the claimant may reclaim nothing: with what the gang needs it would have more
// than it deserves of a contested resource. None when it may.
[[nodiscard]] std::optional<std::string> WhyNotReclaim(const ClusterState& state,
                                                       const EvictionClaim& claim,
                                                       const PartOf& part_of);

}  // namespace strata
