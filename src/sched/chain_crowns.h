#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/ids.h"
#include "model/hypernode_tree.h"
#include "sched/domain_index.h"

namespace strata {

// Where the sums of chains over their HyperNodes are cut in two. Sums over the lowest tiers are
// kept (ChainGroup::base); they change for every chain below the HyperNodes of those tiers that a
// pod is put into. What is above, the crown of a chain, is added up anew for each crown and each
// sum that occurs. The cut is made where a pod costs the least of both.
//
// A function of the tree and of the shape of the whole cluster; both must outlive it unchanged.
class ChainCrowns {
 public:
  // COST: O(chains x tiers^2).
  ChainCrowns(const HyperNodeTree& tree, const DomainShape& shape);

  // How many of tree.tiers() are kept sums over; never all of them.
  [[nodiscard]] std::size_t tiers() const { return tiers_; }
  // Equal for groups of the shape that have the same HyperNodes above these tiers.
  [[nodiscard]] std::uint32_t CrownOf(std::size_t group) const { return crowns_[group]; }
  // The groups of the nodes, and all others whose kept sums change with them, each once.
  [[nodiscard]] std::vector<std::size_t> GroupsAround(std::span<const NodeId> nodes);

 private:
  // Numbers the crowns above the lowest `tiers` tiers; how many there are.
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
