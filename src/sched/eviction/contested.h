#pragma once

#include <vector>

#include "base/ids.h"
#include "model/cluster_state.h"
#include "model/resources.h"
#include "sched/eviction/plan_proof.h"
#include "sched/session.h"
#include "sched/shortage.h"
#include "sched/victim_point.h"

namespace strata {

// Which resources a plan is about: EvictionClaim::contested.

// The resources that the gang needs and the domain does not have, even when everything that is
// being released is gone; all that it needs when each sum is large enough, or without a domain.
[[nodiscard]] std::vector<ResourceId> ShortBelow(const Session& session,
                                                 const Resources& need,
                                                 HyperNodeId domain);

// The same for what the claimant wants, where sums do not tell: counted in pods of each node.
[[nodiscard]] std::vector<ResourceId> ShortBelow(const Session& session,
                                                 const EvictionClaim& claim,
                                                 const Wanted& wanted,
                                                 HyperNodeId domain);

// The resources of which the nodes of a plan do not have enough without its victims' room.
[[nodiscard]] std::vector<ResourceId> TakenFromOthers(const ClusterState& state,
                                                      const Places& places);

}  // namespace strata
