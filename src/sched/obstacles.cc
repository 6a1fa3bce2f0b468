#include "sched/obstacles.h"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

namespace strata {
namespace {

constexpr std::string_view kInsufficient = "Insufficient ";

}  // namespace

Obstacles FindObstacles(Session& session, ClassId class_id, std::span<const NodeId> nodes) {
  const ClusterState& state = session.state();
  ClassView& view = session.View(class_id);
  std::vector<std::size_t> exhausted(state.resource_names().size(), 0);
  Obstacles obstacles;
  for (const NodeId node : nodes) {
    if (view.Takes(node)) continue;
    if (view.Slots(node) > 0 || !view.Admits(node)) {
      ++obstacles[view.WhyNot(node).reason];
      continue;
    }
    for (std::size_t i = 0; i < view.spec().request.size(); ++i) {
      const Amount request = view.spec().request.amounts()[i];
      if (request > 0 && request > ClassView::Free(state, node, IdAt<ResourceId>(i))) {
        ++exhausted[i];
      }
    }
  }
  for (std::size_t i = 0; i < exhausted.size(); ++i) {
    if (exhausted[i] == 0) continue;
    obstacles[std::string(kInsufficient) + state.resource_names().name(IdAt<ResourceId>(i))] =
        exhausted[i];
  }
  return obstacles;
}

bool LacksRoom(const Obstacles& obstacles) {
  return obstacles.empty() ||
         std::any_of(obstacles.begin(), obstacles.end(), [](const auto& entry) {
           return entry.first.starts_with(kInsufficient);
         });
}

std::vector<std::string> Sentences(const Obstacles& obstacles) {
  std::vector<std::string> sentences;
  sentences.reserve(obstacles.size());
  for (const auto& [reason, count] : obstacles) {
    const bool of_nodes = reason.starts_with(kInsufficient) || reason.starts_with("node(s)");
    sentences.push_back(of_nodes ? fmt::format("{} {}", count, reason) : reason);
  }
  return sentences;
}

}  // namespace strata
