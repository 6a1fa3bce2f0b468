#include "sched/cluster_index.h"

#include <algorithm>

namespace strata {

const DomainShape& ClusterIndex::shape() {
  const HyperNodeTree& tree = state_.tree();
  if (shape_ && tree_version_ == tree.version()) return *shape_;
  tree_version_ = tree.version();
  entries_.clear();
  shape_ = std::make_unique<DomainShape>(tree, tree.top());
  positions_.assign(state_.nodes().slots(), 0);
  for (std::size_t i = 0; i < shape_->nodes.size(); ++i) {
    positions_[shape_->nodes[i].index()] = static_cast<std::uint32_t>(i);
  }
  groups_of_leaf_.clear();
  for (std::size_t g = 0; g < shape_->groups.size(); ++g) {
    groups_of_leaf_.emplace_back(shape_->groups[g].leaf, g);
  }
  std::sort(groups_of_leaf_.begin(), groups_of_leaf_.end());
  crowns_ = std::make_unique<ChainCrowns>(tree, *shape_);
  return *shape_;
}

DomainIndex& ClusterIndex::For(ClassId class_id, DomainIndex::Start start) {
  constexpr std::size_t kKept = 256;  // classes of one busy cycle
  const DomainShape& all = shape();
  const std::pair key{class_id, start};
  if (entries_.size() >= kKept && !entries_.contains(key)) entries_.clear();
  Entry& entry = entries_[key];
  const auto touched = state_.nodes().TouchedSince(entry.version);
  if (!entry.index || !touched || touched->size() > all.nodes.size()) {
    entry.index = std::make_unique<DomainIndex>(all, views_.Of(class_id), start);
    looked_ += all.nodes.size();
  } else {
    looked_ += touched->size();
    for (const NodeId node : *touched) entry.index->Refresh(all, positions_[node.index()]);
  }
  entry.version = state_.nodes().NextVersion();
  return *entry.index;
}

ChainBoard& ClusterIndex::BoardFor(ClassId class_id,
                                   DomainIndex::Start start,
                                   const ChainScorePoint& point,
                                   const Placement& placement) {
  const DomainIndex& index = For(class_id, start);
  const DomainShape& all = *shape_;
  Entry& entry = entries_[{class_id, start}];
  const auto touched = state_.nodes().TouchedSince(entry.board_version);
  const bool afresh = !entry.board || !touched || touched->size() > all.groups.size();
  std::vector<std::size_t> changed;
  if (afresh) {
    for (std::size_t g = 0; g < all.groups.size(); ++g) changed.push_back(g);
  } else {
    changed = crowns_->GroupsAround(*touched);
  }
  std::vector<ChainId> chains;
  chains.reserve(changed.size());
  for (const std::size_t g : changed) chains.push_back(all.groups[g].chain);
  std::vector<double> sums(changed.size());
  point.SumTiers(state_, placement, crowns_->tiers(), chains, sums);
  const auto group_of = [&](std::size_t i) {
    ChainGroup group;
    group.chain = chains[i];
    group.leaf = all.groups[changed[i]].leaf;
    group.base = {.tiers = crowns_->tiers(), .sum = sums[i], .crown = crowns_->CrownOf(changed[i])};
    return group;
  };
  if (afresh) {
    std::vector<ChainGroup> groups;
    groups.reserve(changed.size());
    for (std::size_t i = 0; i < changed.size(); ++i) groups.push_back(group_of(i));
    entry.board = std::make_unique<ChainBoard>(state_.tree(), all);
    entry.board->Reset(index, groups);
  } else {
    for (std::size_t i = 0; i < changed.size(); ++i) {
      entry.board->Refresh(index, group_of(i), changed[i]);
    }
  }
  entry.board_version = state_.nodes().NextVersion();
  return *entry.board;
}

std::span<const std::pair<HyperNodeId, std::size_t>> ClusterIndex::GroupsOf(HyperNodeId leaf) {
  static_cast<void>(shape());
  const auto first = std::lower_bound(
      groups_of_leaf_.begin(), groups_of_leaf_.end(), std::pair<HyperNodeId, std::size_t>{leaf, 0});
  auto last = first;
  while (last != groups_of_leaf_.end() && last->first == leaf) ++last;
  return {first, last};
}

}  // namespace strata
