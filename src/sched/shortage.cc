#include "sched/shortage.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "model/amount_format.h"

namespace strata {
namespace {

constexpr std::string_view kInsufficient = "Insufficient ";

}  // namespace

void Add(Wanted& wanted, ClassId class_id, std::uint64_t count) {
  const auto known = std::find_if(
      wanted.begin(), wanted.end(), [&](const auto& entry) { return entry.first == class_id; });
  if (known != wanted.end()) {
    known->second += count;
  } else {
    wanted.emplace_back(class_id, count);
  }
}

Wanted FirstOf(const ClusterState& state, std::span<const TaskId> tasks, std::size_t count) {
  Wanted wanted;
  for (const TaskId id : tasks.first(std::min(count, tasks.size()))) {
    const ClassId class_id = state.task(id).class_id;
    Add(wanted, class_id, 1);
  }
  return wanted;
}

std::uint64_t Total(const Wanted& wanted) {
  std::uint64_t total = 0;
  for (const auto& [class_id, count] : wanted) total += count;
  return total;
}

std::uint64_t FitsBelow(Search& search, const Wanted& wanted, HyperNodeId domain) {
  std::uint64_t fits = 0;
  for (const auto& [class_id, count] : wanted) {
    fits += std::min(count, search.SlotsIn(class_id, domain, count));
  }
  return fits;
}

Obstacles ObstaclesBelow(Session& session, ClassId class_id, HyperNodeId domain) {
  const ClusterState& state = session.state();
  ClassView& view = session.View(class_id);
  std::vector<std::size_t> exhausted(state.resource_names().size(), 0);
  Obstacles obstacles;
  for (const NodeId node : session.tree().NodesOf(domain)) {
    if (view.Slots(node) > 0) continue;
    if (!view.Admits(node)) {
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

Shortages ShortagesBelow(const ClusterState& state, const Wanted& wanted, HyperNodeId domain) {
  Shortages shortages;
  for (const ResourceId id : state.resource_names().ByName()) {
    double need = 0;  // a sentence, not a decision: no overflow, no exactness wanted
    for (const auto& [class_id, count] : wanted) {
      need += static_cast<double>(state.task_class(class_id).request.Get(id)) *
              static_cast<double>(count);
    }
    if (need <= 0) continue;
    const double missing =
        need - static_cast<double>(std::max<Amount>(state.Idle(domain)[id.index()], 0));
    if (missing <= 0 || missing > 9e18) continue;
    shortages.emplace_back(id, static_cast<Amount>(missing));
  }
  return shortages;
}

ClassId ShortClass(Search& search, const Wanted& wanted, HyperNodeId domain) {
  ClassId shortest = wanted.begin()->first;
  std::uint64_t most = 0;
  for (const auto& [class_id, count] : wanted) {
    const std::uint64_t missing = count - std::min(count, search.SlotsIn(class_id, domain, count));
    if (missing > most) {
      most = missing;
      shortest = class_id;
    }
  }
  return shortest;
}

std::string WhatIsShort(Session& session,
                        const Wanted& wanted,
                        HyperNodeId domain,
                        const Obstacles& obstacles) {
  std::vector<std::string> nodes;
  for (const auto& [reason, count] : obstacles) {
    nodes.push_back(fmt::format("{} {}", count, reason));
  }
  std::vector<std::string> shortages;
  for (const auto& [id, amount] : ShortagesBelow(session.state(), wanted, domain)) {
    const std::string& name = session.state().resource_names().name(id);
    const bool one_pod = id == kPods && amount == 1;
    shortages.push_back(one_pod ? "1 pod" : fmt::format("{} {}", FormatNumber(name, amount), name));
  }
  if (shortages.empty()) return fmt::format("{}", fmt::join(nodes, ", "));
  const std::string detail = nodes.empty() ? "" : fmt::format(" ({})", fmt::join(nodes, ", "));
  return fmt::format("{}{}{}", kShortOf, fmt::join(shortages, ", "), detail);
}

std::vector<Miss> NearestMisses(
    Session& session, Search& search, const Wanted& wanted, HyperNodeId root, std::int32_t limit) {
  const HyperNodeTree& tree = session.tree();
  std::vector<Miss> misses;
  for (const std::int32_t tier : tree.tiers()) {
    if (tier > limit) break;
    Miss nearest{.hypernode = {}, .tier = tier, .fits = 0};
    for (const HyperNodeId id : tree.OfTier(tier)) {
      if (!tree.IsAncestorOrSelf(root, id)) continue;
      const std::uint64_t fits = FitsBelow(search, wanted, id);
      if (!nearest.hypernode.valid() || fits > nearest.fits) {
        nearest = {.hypernode = id, .tier = tier, .fits = fits};
      }
    }
    if (nearest.hypernode.valid()) misses.push_back(nearest);
  }
  return misses;
}

}  // namespace strata
