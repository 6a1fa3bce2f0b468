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
#include "sched/domain_index.h"
#include "sched/session.h"

namespace strata {

// The indexes of the whole cluster, by class, kept between jobs and cycles and brought up to date
// from the nodes that changed: plain pods come in thousands, and each changes one node.
class ClusterIndex {
 public:
  explicit ClusterIndex(Session& session) : session_(session) {}

  // The views of the session are gone, and the indexes over them with them.
  void ForgetViews() { entries_.clear(); }

  [[nodiscard]] const DomainShape& shape();
  // Valid until the next call of either. COST: O(changed nodes x log nodes), O(nodes) for a class
  // not seen lately.
  [[nodiscard]] DomainIndex& For(ClassId class_id);
  // The board of the class for pods whose chains `point` scores by sums over tiers. Valid as above.
  // COST: O(chains around the changed nodes, see ChainCrowns), O(chains) for a class not seen
  // lately.
  [[nodiscard]] ChainBoard& BoardFor(ClassId class_id,
                                     const ChainScorePoint& point,
                                     const Placement& placement);
  // The groups of the shape with this leaf, with the leaf.
  [[nodiscard]] std::span<const std::pair<HyperNodeId, std::size_t>> GroupsOf(HyperNodeId leaf);

 private:
  struct Entry {
    std::uint64_t version = 0;  // changes before this one are in
    std::unique_ptr<DomainIndex> index;
    std::uint64_t board_version = 0;
    std::unique_ptr<ChainBoard> board;
  };

  Session& session_;
  std::uint64_t tree_version_ = 0;
  std::unique_ptr<DomainShape> shape_;
  std::unique_ptr<ChainCrowns> crowns_;
  std::vector<std::uint32_t> positions_;                             // by node
  std::vector<std::pair<HyperNodeId, std::size_t>> groups_of_leaf_;  // sorted
  std::map<ClassId, Entry> entries_;
};

}  // namespace strata
