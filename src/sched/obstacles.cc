#include "sched/obstacles.h"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "sched/devices/gpu_filter.h"

namespace strata {
namespace {

constexpr std::string_view kInsufficient = "Insufficient ";

// What a task of the class asks for, by name.
std::vector<ResourceId> ResourcesOf(const ClusterState& state, const ClassSpec& spec) {
  std::vector<ResourceId> ids = NamedIn(state.resource_names(), spec.request);
  std::erase_if(ids, [&](ResourceId id) { return spec.request.Get(id) <= 0; });
  return ids;
}

}  // namespace

Obstacles FindObstacles(Session& session,
                        ClassId class_id,
                        std::span<const NodeId> nodes,
                        Takers takers) {
  const ClusterState& state = session.state();
  ClassView& view = session.views().Of(class_id);
  const Resources& request = view.spec().request;
  const std::vector<ResourceId> asked = ResourcesOf(state, view.spec());
  std::map<ResourceId, std::size_t> exhausted;  // nodes
  Obstacles obstacles;
  session.Look(nodes.size());
  for (const NodeId node : nodes) {
    if (view.Takes(node)) {
      if (takers == Takers::kIgnored) continue;
      const Amount slots = view.Slots(node);
      const auto first = std::find_if(asked.begin(), asked.end(), [&](ResourceId id) {
        return ClassView::Free(state, node, id) - slots * request.Get(id) < request.Get(id);
      });
      if (first != asked.end()) ++exhausted[*first];
      continue;
    }
    if (view.Slots(node) > 0 || !view.Admits(node)) {
      ++obstacles[view.WhyNot(node).reason];
      continue;
    }
    for (const ResourceId id : asked) {
      if (request.Get(id) > ClassView::Free(state, node, id)) ++exhausted[id];
    }
  }
  for (const auto& [id, count] : exhausted) {
    obstacles[std::string(kInsufficient) + state.resource_names().name(id)] = count;
  }
  return obstacles;
}

bool LacksRoom(const Obstacles& obstacles) {
  // Where a quota is in the way of free GPUs, it is what counts.
  const bool by_quota = std::any_of(obstacles.begin(), obstacles.end(), [](const auto& entry) {
    return entry.first.find(ToString(GpuRefusal::kQuotaNotFit)) != std::string::npos;
  });
  return obstacles.empty() ||
         std::any_of(obstacles.begin(), obstacles.end(), [&](const auto& entry) {
           return entry.first.starts_with(kInsufficient) ||
                  (!by_quota && IsGpuShortage(entry.first));
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
