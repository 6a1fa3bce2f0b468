#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

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
// How the queues of one plugin take from each other.
struct ReclaimRules {
  // What a queue, with all below it, has and may have.
  std::function<QueuePart(QueueId, ResourceId)> part_of;
  // The queue, then those of its ancestors that count like it, the nearest first; never the root.
  std::function<std::vector<QueueId>(QueueId)> line_of;
};

// True when the queue of the unit has more than it deserves of a contested resource that the unit
// has, and so have those of its line that are not in the line of the claimant. A surplus pod may
// take them down to that, a whole gang also below it. Neither takes one of them below its
// guarantee.
[[nodiscard]] bool MayReclaim(const ClusterState& state,
                              const EvictionClaim& claim,
                              const VictimUnit& unit,
                              const ReclaimRules& rules);

// True when the queue has more than it deserves of a contested resource.
[[nodiscard]] bool HasTooMuch(const EvictionClaim& claim, QueueId queue, const ReclaimRules& rules);

// Why the queue of the claimant may reclaim nothing: with what the gang needs it, and each queue of
// its line, would have more than it deserves of a contested resource. None when it may.
[[nodiscard]] std::optional<std::string> WhyNotReclaim(const ClusterState& state,
                                                       const EvictionClaim& claim,
                                                       const ReclaimRules& rules);

}  // namespace strata
