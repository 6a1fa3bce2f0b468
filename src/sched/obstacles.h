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

// What keeps tasks off nodes, in kube-scheduler's words, each with its number of nodes.
using Obstacles = std::map<std::string, std::size_t>;

// Nodes that take a task of the class are ignored, or counted by the resource that runs out first
// there (then the lowest name), unless a filter admits fewer tasks than the resources do.
enum class Takers : std::uint8_t { kIgnored, kCounted };

// The obstacles on the nodes that do not take a task of the class now, and on the others as
// `takers` says. COST: O(nodes).
[[nodiscard]] Obstacles FindObstacles(Session& session,
                                      ClassId class_id,
                                      std::span<const NodeId> nodes,
                                      Takers takers = Takers::kIgnored);

// True when a resource is insufficient, GPUs are in use, or there are no obstacles.
[[nodiscard]] bool LacksRoom(const Obstacles& obstacles);

// "1 Insufficient cpu"; an obstacle of the pod itself has no number of nodes.
[[nodiscard]] std::vector<std::string> Sentences(const Obstacles& obstacles);

}  // namespace strata
