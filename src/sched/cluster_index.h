#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "sched/chain_board.h"
#include "sched/chain_crowns.h"
#include "sched/class_view_cache.h"
#include "sched/domain_index.h"

namespace strata {

// A DomainIndex and a ChainBoard of the whole cluster for each class, kept across jobs and cycles
// and updated from the nodes that changed: plain pods come in thousands, and each changes one node.
class ClusterIndex {
 public:
  // REQUIRES: both outlive it.
  ClusterIndex(const ClusterState& state, ClassViewCache& views) : state_(state), views_(views) {}

  // To be called when the cache has dropped its views: the indexes refer to them.
  void DropViews() { entries_.clear(); }

  // The shape of the whole cluster. Valid until the tree changes.
  [[nodiscard]] const DomainShape& shape();
  // Valid until the next call of For or BoardFor. COST: O(changed nodes x log nodes), O(nodes) for
  // a class that is not cached.
  [[nodiscard]] DomainIndex& For(ClassId class_id, DomainIndex::Start start);
  // The board of the class for pods whose chains `point` scores by sums over tiers. Valid as above.
  // COST: O(chains around the changed nodes, see ChainCrowns), O(chains) for a class that is not
  // cached.
  [[nodiscard]] ChainBoard& BoardFor(ClassId class_id,
                                     DomainIndex::Start start,
                                     const ChainScorePoint& point,
                                     const Placement& placement);
  // The groups of the shape with this leaf, as (leaf, group).
  [[nodiscard]] std::span<const std::pair<HyperNodeId, std::size_t>> GroupsOf(HyperNodeId leaf);
  // How many nodes were evaluated since the previous call of this.
  [[nodiscard]] std::size_t TakeLooked() { return std::exchange(looked_, 0); }

 private:
  struct Entry {
    std::uint64_t version = 0;  // changes before this version are included
    std::unique_ptr<DomainIndex> index;
    std::uint64_t board_version = 0;
    std::unique_ptr<ChainBoard> board;
  };

  const ClusterState& state_;
  ClassViewCache& views_;
  std::uint64_t tree_version_ = 0;
  std::unique_ptr<DomainShape> shape_;
  std::unique_ptr<ChainCrowns> crowns_;
  std::vector<std::uint32_t> positions_;                             // by node
  std::vector<std::pair<HyperNodeId, std::size_t>> groups_of_leaf_;  // sorted
  std::map<std::pair<ClassId, DomainIndex::Start>, Entry> entries_;
  std::size_t looked_ = 0;  // nodes
};

}  // namespace strata
