#pragma once

#include <cstddef>
#include <string>

#include "model/cluster_state.h"
#include "sched/eviction/victim_finder.h"

// Why nobody goes for a claim.
namespace strata {

// How many pods of the candidate may go, by its minimums.
[[nodiscard]] std::size_t MayLose(const ClusterState& state,
                                  const VictimFinder::Candidate& candidate);

// "2 pods of the system, 3 pods that their gangs need": the pods in the reach of a claim that may
// take none of them. COST: O(pods in scope).
[[nodiscard]] std::string WhoStays(const ClusterState& state,
                                   const VictimFinder& finder,
                                   const EvictionClaim& claim,
                                   const VictimFinder::Found& found);

}  // namespace strata
