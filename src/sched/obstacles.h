#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/ids.h"
#include "sched/session.h"

namespace strata {

// What keeps tasks off nodes, in kube-scheduler's words, and how many nodes it concerns.
using Obstacles = std::map<std::string, std::size_t>;

// Nodes that take a task of the class are left out, or counted by the resource that runs out first
// there (of equals the lowest name); never where a filter lets in fewer than the resources.
enum class Takers : std::uint8_t { kIgnored, kCounted };

// Of the nodes that do not take a task of the class now, and of the others as `takers` says. COST:
// O(nodes).
[[nodiscard]] Obstacles FindObstacles(Session& session,
                                      ClassId class_id,
                                      std::span<const NodeId> nodes,
                                      Takers takers = Takers::kIgnored);

// True when resources are among them, or nothing is known.
[[nodiscard]] bool LacksRoom(const Obstacles& obstacles);

// "1 Insufficient cpu"; what is wrong with the pod itself has no number of nodes before it.
[[nodiscard]] std::vector<std::string> Sentences(const Obstacles& obstacles);

}  // namespace strata
