#include "sched/chain_crowns.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <utility>

namespace strata {

ChainCrowns::ChainCrowns(const HyperNodeTree& tree, const DomainShape& shape)
    : tree_(tree),
      crowns_(shape.groups.size()),
      group_of_(tree.chain_count()),
      groups_below_(tree.hypernodes().size()),
      seen_hypernodes_(tree.hypernodes().size(), 0),
      seen_groups_(shape.groups.size(), 0) {
  const std::span<const std::int32_t> tiers = tree.tiers();
  std::vector<std::size_t> widest(tiers.size(), 0);  // most chains below a HyperNode of each tier
  for (std::size_t g = 0; g < shape.groups.size(); ++g) {
    group_of_[shape.groups[g].chain.index()] = g;
    for (const HyperNodeId id : tree.HyperNodesOf(shape.groups[g].chain)) {
      groups_below_[id.index()].push_back(g);
      const auto tier = std::lower_bound(tiers.begin(), tiers.end(), tree.at(id).tier);
      std::size_t& max = widest[static_cast<std::size_t>(tier - tiers.begin())];
      max = std::max(max, groups_below_[id.index()].size());
    }
  }
  constexpr std::size_t kRefresh = 6;  // a chain costs about as much as so many kinds
  std::size_t least = std::numeric_limits<std::size_t>::max();
  std::size_t changing = 1;  // chains whose sums one pod changes, at most
  for (std::size_t kept = 0; kept < tiers.size(); ++kept) {
    if (kept > 0) changing = std::max(changing, widest[kept - 1]);
    const std::size_t cost = kRefresh * changing + NumberCrowns(shape, kept);
    if (cost >= least) continue;
    least = cost;
    tiers_ = kept;
  }
  NumberCrowns(shape, tiers_);
  for (std::size_t i = 0; i < groups_below_.size(); ++i) {
    if (tree.at(IdAt<HyperNodeId>(i)).tier >= tiers[tiers_]) groups_below_[i].clear();
  }
}

std::size_t ChainCrowns::NumberCrowns(const DomainShape& shape, std::size_t tiers) {
  if (tiers == 0) {  // a crown is the whole chain, and no two of these are equal
    std::iota(crowns_.begin(), crowns_.end(), 0U);
    return crowns_.size();
  }
  const std::int32_t lowest = tree_.tiers()[tiers];
  std::map<std::vector<HyperNodeId>, std::uint32_t> numbers;
  std::span<const HyperNodeId> last;  // neighbours have the same crown, nearly always
  for (std::size_t g = 0; g < shape.groups.size(); ++g) {
    const std::span<const HyperNodeId> chain = tree_.HyperNodesOf(shape.groups[g].chain);
    const auto first = std::find_if(
        chain.begin(), chain.end(), [&](HyperNodeId id) { return tree_.at(id).tier >= lowest; });
    const std::span<const HyperNodeId> crown(first, chain.end());
    if (g > 0 && std::equal(crown.begin(), crown.end(), last.begin(), last.end())) {
      crowns_[g] = crowns_[g - 1];
      continue;
    }
    last = crown;
    const auto next = static_cast<std::uint32_t>(numbers.size());
    crowns_[g] = numbers.try_emplace(std::vector<HyperNodeId>(crown.begin(), crown.end()), next)
                     .first->second;
  }
  return numbers.size();
}

std::vector<std::size_t> ChainCrowns::GroupsAround(std::span<const NodeId> nodes) {
  std::vector<std::size_t> around;
  ++round_;
  const auto add = [&](std::size_t g) {
    if (std::exchange(seen_groups_[g], round_) != round_) around.push_back(g);
  };
  for (const NodeId node : nodes) {
    const ChainId chain = tree_.ChainOf(node);
    add(group_of_[chain.index()]);
    for (const HyperNodeId id : tree_.HyperNodesOf(chain)) {
      if (std::exchange(seen_hypernodes_[id.index()], round_) == round_) continue;
      for (const std::size_t g : groups_below_[id.index()]) add(g);
    }
  }
  return around;
}

}  // namespace strata
