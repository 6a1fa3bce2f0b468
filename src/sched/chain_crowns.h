#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/ids.h"
#include "model/hypernode_tree.h"
#include "sched/domain_index.h"

namespace strata {

// Cuts the sums of chains over their HyperNodes in two, at a tier. Sums over the tiers below the
// cut are kept (ChainGroup::base); a pod changes them for every chain below the same HyperNodes.
// The HyperNodes above the cut are the crown of a chain; their part is added up again for every
// distinct pair of crown and kept sum. The cut is where a pod costs the least in total.
//
// REQUIRES: tree and shape outlive it unchanged.
class ChainCrowns {
 public:
  // COST: O(chains x tiers^2).
  ChainCrowns(const HyperNodeTree& tree, const DomainShape& shape);

  // How many of tree.tiers() are below the cut; never all of them.
  [[nodiscard]] std::size_t tiers() const { return tiers_; }
  // Equal for groups of the shape with the same HyperNodes above the cut.
  [[nodiscard]] std::uint32_t CrownOf(std::size_t group) const { return crowns_[group]; }
  // The groups of the nodes and all groups whose kept sums change with them, without duplicates.
  [[nodiscard]] std::vector<std::size_t> GroupsAround(std::span<const NodeId> nodes);

 private:
  // Numbers the crowns above the lowest `tiers` tiers and returns how many there are.
  std::size_t NumberCrowns(const DomainShape& shape, std::size_t tiers);

  const HyperNodeTree& tree_;
  std::size_t tiers_ = 0;
  std::vector<std::uint32_t> crowns_;                   // by group
  std::vector<std::size_t> group_of_;                   // by chain
  std::vector<std::vector<std::size_t>> groups_below_;  // by HyperNode of the kept tiers
  std::vector<std::uint64_t> seen_hypernodes_;          // by HyperNode and by group: the round of
  std::vector<std::uint64_t> seen_groups_;              // GroupsAround that saw it last
  std::uint64_t round_ = 0;
};

}  // namespace strata
