#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "base/ids.h"
#include "model/hypernode_layout.h"
#include "model/hypernode_membership.h"
#include "model/hypernode_shape.h"
#include "model/hypernode_spec.h"
#include "model/node_labels.h"

namespace strata {

// The network as the HyperNodes describe it, resolved against the nodes that exist, with the
// virtual top above every root.
//
// What is wrong with a HyperNode is said in its own `reason` and never stops the rest
// (docs/differences.md, topology 11 to 15): every HyperNode on a cycle is left out; of two parents
// the lower name keeps the child; a parent whose tier is not above its child's loses that child; a
// missing child is simply not there. At fault is who is left out or loses a child.
//
// Changes come one by one. A node event costs what that node's membership costs: a new node or
// changed labels are tested against the members with regexMatch or labelMatch, nothing else. A
// HyperNode event finds that HyperNode's members again. The next read then lays the nodes out,
// O(nodes + memberships), and after a HyperNode event first resolves the tree, O(HyperNodes +
// members). The result is a function of the HyperNodes and nodes that are there now, never of the
// order in which they came (hypernode_tree_property_test.cc).
//
// Ids: nodes are numbered by the owner of this tree, in small numbers that may have holes.
// HyperNodeIds, ChainIds and spans are valid until the next change. Readers other than
// hypernodes(), AncestorsOf() and TierNames() are cheap enough for inner loops: no allocation, no
// string compare but for the lookups by name.
//
// Not thread-safe, reads included: the first read after a change does the work above.
class HyperNodeTree {
 public:
  using HyperNode = ResolvedHyperNode;  // hypernode_shape.h

  // Adds or replaces the HyperNode of that name.
  void UpsertHyperNode(HyperNodeSpec spec);
  // An unknown name changes nothing.
  void RemoveHyperNode(std::string_view name);
  // Adds the node, or says that its labels changed; whether that changed what HyperNodes it is in.
  // The name of an id never changes.
  bool UpsertNode(NodeId node, std::string_view name, const NodeLabels& labels);
  // The id may be given to another node afterwards. An unknown id changes nothing.
  void RemoveNode(NodeId node);

  // Every HyperNode, ascending by name; the virtual top is the last. Left-out ones are included.
  [[nodiscard]] std::span<const HyperNode> hypernodes() const { return shape().hypernodes(); }
  [[nodiscard]] const HyperNode& at(HyperNodeId id) const {
    const std::span<const HyperNode> all = hypernodes();
    CHECK(id.index() < all.size());
    return all[id.index()];
  }
  [[nodiscard]] HyperNodeId top() const { return shape().top(); }
  // The top by its own name too.
  [[nodiscard]] std::optional<HyperNodeId> Find(std::string_view name) const {
    return shape().Find(name);
  }
  // True while no HyperNode is at fault. (Volcano's HyperNodesReadyToSchedule.)
  [[nodiscard]] bool ready() const { return shape().ready(); }
  // True when a user-made HyperNode exists, in the tree or at fault.
  [[nodiscard]] bool has_hypernodes() const { return !membership_.slots().empty(); }

  // Tiers in use, ascending, the top's included. The top's tier is the highest tier of a HyperNode
  // in the tree + 1, at least 1.
  [[nodiscard]] std::span<const std::int32_t> tiers() const { return shape().tiers(); }
  // HyperNodes of one tier that are in the tree, ascending by name.
  [[nodiscard]] std::span<const HyperNodeId> OfTier(std::int32_t tier) const {
    return shape().OfTier(tier);
  }
  // The highest tier at which a HyperNode in the tree has this tierName, none when
  // nobody does.
  [[nodiscard]] std::optional<std::int32_t> TierOfName(std::string_view tier_name) const {
    return shape().TierOfName(tier_name);
  }
  // Known tier names, ascending, without duplicates.
  [[nodiscard]] std::vector<std::string> TierNames() const { return shape().TierNames(); }

  // Real nodes below a HyperNode, recursively, each once: grouped by chain, chains in depth-first
  // order of the tree, inside a chain ascending by name.
  [[nodiscard]] std::span<const NodeId> NodesOf(HyperNodeId id) const {
    return layout().NodesOf(id);
  }
  // False for a node that is not there. O(HyperNodes of the node).
  [[nodiscard]] bool Contains(HyperNodeId id, NodeId node) const;

  // Chains: nodes that are in exactly the same HyperNodes. Every chain has a node.
  [[nodiscard]] std::size_t chain_count() const { return layout().chain_count(); }
  // None for a node that is not there.
  [[nodiscard]] ChainId ChainOf(NodeId node) const { return layout().ChainOf(node); }
  // The HyperNodes of a chain, ascending by (tier, name); the top is the last.
  [[nodiscard]] std::span<const HyperNodeId> HyperNodesOf(ChainId chain) const {
    return layout().HyperNodesOf(chain);
  }
  // The lowest-tier HyperNode of the chain, ties to the lower name; the top for nodes in no
  // HyperNode.
  [[nodiscard]] HyperNodeId LeafOf(ChainId chain) const { return HyperNodesOf(chain).front(); }

  // "id" itself, its parent, ... up to the top. A HyperNode outside the tree: itself alone.
  [[nodiscard]] std::vector<HyperNodeId> AncestorsOf(HyperNodeId id) const {
    return shape().AncestorsOf(id);
  }
  [[nodiscard]] bool IsAncestorOrSelf(HyperNodeId ancestor, HyperNodeId id) const {
    return shape().IsAncestorOrSelf(ancestor, id);
  }
  // The lowest HyperNode above both; an invalid id is the identity. What is left out has only the
  // top in common with others.
  [[nodiscard]] HyperNodeId Lca(HyperNodeId a, HyperNodeId b) const { return shape().Lca(a, b); }

  // Position of the node's name in the ascending order of all node names: the tie-break of every
  // choice among nodes. REQUIRES: the node is there.
  [[nodiscard]] std::uint32_t NameRank(NodeId node) const { return layout().NameRank(node); }

  // Counts changes that moved ids, members or the shape of the tree. Equal versions mean that all
  // of the above is as it was. An upsert that says nothing new leaves it.
  [[nodiscard]] std::uint64_t version() const { return version_; }

 private:
  enum class Stale : std::uint8_t {
    kNothing,
    kLayout,
    kShape
  };  // what is stale includes the former

  void Changed(Stale stale);
  void Refresh() const;
  [[nodiscard]] const HyperNodeShape& shape() const {
    if (stale_ != Stale::kNothing) {
      [[unlikely]] Refresh();
    }
    return shape_;
  }
  [[nodiscard]] const HyperNodeLayout& layout() const {
    if (stale_ != Stale::kNothing) {
      [[unlikely]] Refresh();
    }
    return layout_;
  }

  HyperNodeMembership membership_;
  std::uint64_t version_ = 0;

  // Derived from membership_ at the first read after a change.
  mutable Stale stale_ = Stale::kShape;
  mutable HyperNodeShape shape_;
  mutable std::vector<HyperNodeId> id_of_slot_;  // none for what is left out
  mutable HyperNodeLayout layout_;
};

}  // namespace strata
