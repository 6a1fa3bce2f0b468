#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "sched/need.h"
#include "sched/obstacles.h"
#include "sched/search.h"
#include "sched/session.h"

// What a gang lacks and where: the numbers behind verdicts, counted by free slots. The gang is
// rehearsed only where one of its tasks decides where the next may go: rules about other pods,
// volumes, several classes that compete for the same slots.
namespace strata {

// How many tasks of each class a gang still misses, classes in task order.
using Wanted = std::vector<std::pair<ClassId, std::uint64_t>>;
// Amounts by resource, resources by name.
using Shortages = std::vector<std::pair<ResourceId, Amount>>;

// What is searched for: how many tasks of each class, and the request of a rehearsal (none when it
// has no tasks). Lives while one verdict is made; the state does not change meanwhile.
struct Demand {
  Wanted wanted;
  PlaceRequest request;
  mutable std::map<HyperNodeId, Search::Rehearsal> rehearsals = {};  // those already made
};

void Add(Wanted& wanted, ClassId class_id, std::uint64_t count);
[[nodiscard]] Wanted FirstOf(const ClusterState& state,
                             std::span<const TaskId> tasks,
                             std::size_t count);
[[nodiscard]] std::uint64_t Total(const Wanted& wanted);

// How many of the wanted tasks find a place below `domain`.
[[nodiscard]] std::uint64_t FitsBelow(Session& session,
                                      Search& search,
                                      const Demand& demand,
                                      HyperNodeId domain);

// What keeps the wanted tasks off the nodes below `domain`; where no sum is short, also what keeps
// more of them off the nodes that take some. REQUIRES: something is wanted.
[[nodiscard]] Obstacles ObstaclesBelow(Session& session,
                                       Search& search,
                                       const Demand& demand,
                                       HyperNodeId domain);

// What the wanted tasks request in total beyond what is idle below `domain`.
[[nodiscard]] Shortages ShortagesBelow(const ClusterState& state,
                                       const Wanted& wanted,
                                       HyperNodeId domain);

// "short of 1 nvidia.com/gpu (1 node(s) were unschedulable)", the part in brackets alone when no
// sum is short, or "" when there is nothing to say.
[[nodiscard]] std::string WhatIsShort(Session& session,
                                      const Wanted& wanted,
                                      HyperNodeId domain,
                                      const Obstacles& obstacles);
inline constexpr std::string_view kShortOf = "short of ";

struct Miss {
  HyperNodeId hypernode;
  std::int32_t tier = 0;
  std::uint64_t fits = 0;
};

// The HyperNode of each tier at or below `root` that comes nearest to holding what is wanted.
// COST: one pass over the nodes per tier, and a rehearsal per HyperNode where classes compete.
[[nodiscard]] std::vector<Miss> NearestMisses(
    Session& session, Search& search, const Demand& demand, HyperNodeId root, std::int32_t limit);

}  // namespace strata
