#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/ids.h"
#include "model/hypernode_membership.h"
#include "model/hypernode_shape.h"

namespace strata {

// The nodes laid out along the tree: chains, and one order of the nodes in which most HyperNodes
// are an interval. An immutable value; HyperNodeTree documents the functions of the same names.
//
// Chains are numbered along the depth-first order of the tree, each at the first of the lowest
// HyperNodes that hold its nodes. So the chains of a HyperNode are an interval unless its nodes are
// also in a HyperNode that comes earlier (a second tree, a node in two leaves); such a HyperNode
// has a list of its own behind the common order.
class HyperNodeLayout {
 public:
  HyperNodeLayout() = default;
  // `id_of_slot`: the id in `shape` of each slot of `membership`; none for what is left out.
  // COST: O(nodes + HyperNodes) while a node is in few HyperNodes.
  HyperNodeLayout(const HyperNodeShape& shape,
                  const HyperNodeMembership& membership,
                  std::span<const HyperNodeId> id_of_slot);

  [[nodiscard]] std::span<const NodeId> NodesOf(HyperNodeId id) const {
    const Range range = nodes_of_[id.index()];
    return std::span(order_).subspan(range.begin, range.end - range.begin);
  }

  [[nodiscard]] std::size_t chain_count() const { return chains_.size(); }
  [[nodiscard]] ChainId ChainOf(NodeId node) const {
    return node.index() < chain_of_.size() ? chain_of_[node.index()] : ChainId{};
  }
  [[nodiscard]] std::span<const HyperNodeId> HyperNodesOf(ChainId chain) const {
    const Range range = chains_[chain.index()].hypernodes;
    return std::span(chain_hypernodes_).subspan(range.begin, range.end - range.begin);
  }

  [[nodiscard]] std::uint32_t NameRank(NodeId node) const { return rank_[node.index()]; }

 private:
  using Key =
      std::vector<std::uint32_t>;  // positions of the lowest HyperNodes of a chain, ascending
  struct Range {
    std::uint32_t begin = 0;
    std::uint32_t end = 0;
  };
  struct Chain {
    Range nodes;       // of order_
    Range hypernodes;  // of chain_hypernodes_
  };

  // Also leaves the nodes in order_, by name.
  std::vector<Key> AssignChains(const HyperNodeShape& shape,
                                const HyperNodeMembership& membership,
                                std::span<const HyperNodeId> id_of_slot);
  void NumberChains(std::vector<Key>& keys);
  void PlaceNodes();
  void ListHyperNodes(const HyperNodeShape& shape, std::span<const Key> keys);
  void PlaceHyperNodes(const HyperNodeShape& shape);
  [[nodiscard]] Range RangeOf(std::span<const ChainId> chains);

  std::vector<Chain> chains_;
  std::vector<ChainId> chain_of_;  // by node, none in holes
  std::vector<std::uint32_t> rank_;
  std::vector<NodeId> order_;  // every node once, by (chain, name); then the lists
  std::vector<HyperNodeId> chain_hypernodes_;
  std::vector<Range> nodes_of_;  // by HyperNode, of order_
};

}  // namespace strata
