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
#include "sched/search.h"
#include "sched/session.h"

// What is missing where, counted by free slots: the numbers behind verdicts. Nothing is tried.
namespace strata {

// How many tasks of each class a gang still misses, classes in task order.
using Wanted = std::vector<std::pair<ClassId, std::uint64_t>>;
// What keeps tasks off nodes, and how many nodes it concerns.
using Obstacles = std::map<std::string, std::size_t>;
// Amounts by resource, resources by name.
using Shortages = std::vector<std::pair<ResourceId, Amount>>;

void Add(Wanted& wanted, ClassId class_id, std::uint64_t count);
[[nodiscard]] Wanted FirstOf(const ClusterState& state,
                             std::span<const TaskId> tasks,
                             std::size_t count);
[[nodiscard]] std::uint64_t Total(const Wanted& wanted);

// How many of the wanted tasks find a slot below `domain`, each class by itself.
[[nodiscard]] std::uint64_t FitsBelow(Search& search, const Wanted& wanted, HyperNodeId domain);

// What keeps tasks of the class off the nodes below `domain` that take none of it, in
// kube-scheduler's words.
[[nodiscard]] Obstacles ObstaclesBelow(Session& session, ClassId class_id, HyperNodeId domain);
// True when the nodes are not all refused by filters.
[[nodiscard]] bool LacksRoom(const Obstacles& obstacles);

// What the wanted tasks together ask for beyond what is idle below `domain`.
[[nodiscard]] Shortages ShortagesBelow(const ClusterState& state,
                                       const Wanted& wanted,
                                       HyperNodeId domain);

// Of the classes that do not all fit below `domain`, the one that misses most; else the first.
// REQUIRES: something is wanted.
[[nodiscard]] ClassId ShortClass(Search& search, const Wanted& wanted, HyperNodeId domain);

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
// COST: one pass over the nodes per tier.
[[nodiscard]] std::vector<Miss> NearestMisses(
    Session& session, Search& search, const Wanted& wanted, HyperNodeId root, std::int32_t limit);

}  // namespace strata
