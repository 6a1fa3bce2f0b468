#include "sched/plugins/hypernode_gradient.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include <fmt/format.h>

#include "model/amount_format.h"

namespace strata {
namespace {

void SetRoot(const HyperNodeTree& tree, const GradientQuery& query, Gradient& gradient) {
  if (!query.allocated.valid()) {
    gradient.root = query.within;
    return;
  }
  const HyperNodeTree::HyperNode& place = tree.at(query.allocated);
  if (place.tier > query.limit) {
    gradient.error =
        fmt::format("it already runs in {} of tier {}, above the highest tier allowed ({})",
                    place.name,
                    place.tier,
                    query.limit);
    return;
  }
  HyperNodeId highest = query.allocated;
  for (HyperNodeId up = place.parent; up.valid() && tree.at(up).tier <= query.limit;
       up = tree.at(up).parent) {
    highest = up;
  }
  if (tree.IsAncestorOrSelf(highest, query.within)) {
    gradient.root = query.within;
  } else if (tree.IsAncestorOrSelf(query.within, highest)) {
    gradient.root = highest;
  } else {
    gradient.error = fmt::format("it already runs in {}, and must stay in {}, which is not in {}",
                                 place.name,
                                 tree.at(highest).name,
                                 tree.at(query.within).name);
  }
}

Amount At(std::span<const Amount> row, std::size_t index) {
  return index < row.size() ? row[index] : 0;
}

// "nvidia.com/gpu: needs 32, 16 idle (24 after releases); memory: needs 64Gi, 1Gi idle".
std::string WhatIsShort(const ClusterState& state, const Resources& need, HyperNodeId id) {
  std::string sentence;
  for (const ResourceId resource : NamedIn(state.resource_names(), need)) {
    const Amount wanted = need.Get(resource);
    const Amount idle = At(state.sums().Idle(id), resource.index());
    const Amount future = At(state.sums().FutureIdle(id), resource.index());
    if (wanted <= 0 || (wanted <= idle && wanted <= future)) continue;
    const std::string& name = state.resource_names().name(resource);
    const auto [needs, has] = FormatNumbers(name, wanted, idle);
    if (!sentence.empty()) sentence += "; ";
    sentence += fmt::format("{}: needs {}, {} idle", name, needs, has);
    if (future != idle) {
      sentence += fmt::format(" ({} after releases)", FormatNumbers(name, wanted, future).second);
    }
  }
  return sentence;
}

inline bool HoldsSums(const HyperNodeSums& sums, const Resources& need, HyperNodeId id) {
  return need.FitsIn(sums.Idle(id)) || need.FitsIn(sums.FutureIdle(id));
}

// Adds one tier. `ids` are ascending, which is ascending by name.
void AddTier(const ClusterState& state,
             const GradientQuery& query,
             std::int32_t number,
             std::span<const HyperNodeId> ids,
             Gradient& gradient) {
  const bool allowed = number <= query.limit;
  if (!allowed && !query.explain) return;
  Gradient::Tier& tier = gradient.tiers.emplace_back();
  tier.tier = number;
  for (const HyperNodeId id : ids) {
    if (allowed && HoldsSums(state.sums(), *query.need, id)) {
      tier.eligible.push_back(id);
    } else if (query.explain) {
      tier.rejected.push_back(
          {id,
           allowed ? WhatIsShort(state, *query.need, id)
                   : fmt::format(
                         "tier {} is above the highest tier allowed ({})", number, query.limit)});
    }
  }
}

// Everything at or below `root`, ascending by tier and name. A small part of the tree is walked and
// sorted; a large one is picked out of the tiers, which are sorted already.
std::vector<HyperNodeId> Below(const HyperNodeTree& tree, HyperNodeId root) {
  const std::size_t few = tree.hypernodes().size() / 8;
  std::vector<HyperNodeId> found = {root};
  for (std::size_t i = 0; i < found.size() && found.size() <= few; ++i) {
    const std::vector<HyperNodeId>& children = tree.at(found[i]).children;
    found.insert(found.end(), children.begin(), children.end());
  }
  if (found.size() <= few) {
    std::sort(found.begin(), found.end(), [&](HyperNodeId a, HyperNodeId b) {
      return std::pair(tree.at(a).tier, a) < std::pair(tree.at(b).tier, b);
    });
    return found;
  }
  found.clear();
  for (const std::int32_t tier : tree.tiers()) {
    for (const HyperNodeId id : tree.OfTier(tier)) {
      if (tree.IsAncestorOrSelf(root, id)) found.push_back(id);
    }
  }
  return found;
}

// The HyperNode of that tier above `root`, if there is one.
std::vector<HyperNodeId> Above(const HyperNodeTree& tree, HyperNodeId root, std::int32_t tier) {
  std::vector<HyperNodeId> above = tree.AncestorsOf(root);
  std::erase_if(above, [&](HyperNodeId id) { return tree.at(id).tier != tier; });
  return above;
}

}  // namespace

bool HasSumsFor(const ClusterState& state, const Resources& need, HyperNodeId id) {
  return HoldsSums(state.sums(), need, id);
}

Gradient FindGradient(const ClusterState& state, const GradientQuery& query) {
  const HyperNodeTree& tree = state.tree();
  Gradient gradient;
  SetRoot(tree, query, gradient);
  if (!gradient.root.valid()) return gradient;
  if (gradient.root == tree.top()) {  // everything is below it, and already sorted
    for (const std::int32_t tier : tree.tiers()) {
      AddTier(state, query, tier, tree.OfTier(tier), gradient);
    }
    return gradient;
  }
  const std::vector<HyperNodeId> found = Below(tree, gradient.root);
  std::size_t begin = 0;
  for (const std::int32_t tier : tree.tiers()) {
    std::size_t end = begin;
    while (end < found.size() && tree.at(found[end]).tier == tier) ++end;
    if (end > begin) {
      AddTier(state, query, tier, std::span(found).subspan(begin, end - begin), gradient);
    } else if (query.explain && tier > query.limit) {
      AddTier(state, query, tier, Above(tree, gradient.root, tier), gradient);
    }
    begin = end;
  }
  return gradient;
}

}  // namespace strata
