#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "model/hypernode_spec.h"

namespace strata {

// One HyperNode as resolved (HyperNodeTree::HyperNode).
struct ResolvedHyperNode {
  std::string name;
  std::int32_t tier = 0;
  std::string tier_name;
  HyperNodeId parent;                 // none only for the top, and for what is left out
  std::vector<HyperNodeId> children;  // ascending by name
  bool ready = true;                  // false: at fault, `reason` says why
  bool in_tree = true;      // false: left out (on a cycle); it has no parent, children or nodes
  std::string reason;       // also notes that leave it ready
  std::uint32_t depth = 0;  // 0 for the top
};

// The part of a HyperNodeTree that does not depend on nodes: an immutable value made from the
// specs. HyperNodeTree documents the functions of the same names.
class HyperNodeShape {
 public:
  HyperNodeShape() : HyperNodeShape(std::span<const HyperNodeSpec* const>()) {}
  // REQUIRES: `specs` ascend by name, no name twice. The i-th gets the id i, the top the last id.
  explicit HyperNodeShape(std::span<const HyperNodeSpec* const> specs);

  [[nodiscard]] std::span<const ResolvedHyperNode> hypernodes() const { return hypernodes_; }
  [[nodiscard]] HyperNodeId top() const { return IdAt<HyperNodeId>(hypernodes_.size() - 1); }
  [[nodiscard]] std::optional<HyperNodeId> Find(std::string_view name) const;
  [[nodiscard]] bool ready() const { return ready_; }

  [[nodiscard]] std::span<const std::int32_t> tiers() const { return tiers_; }
  [[nodiscard]] std::span<const HyperNodeId> OfTier(std::int32_t tier) const;
  [[nodiscard]] std::optional<std::int32_t> TierOfName(std::string_view tier_name) const;
  [[nodiscard]] std::vector<std::string> TierNames() const;

  // Depth-first order of what is in the tree, a parent before its children, children by name. The
  // positions of a HyperNode and of all below it are [PositionOf, EndOf); the top's is 0.
  [[nodiscard]] std::uint32_t PositionOf(HyperNodeId id) const { return position_[id.index()]; }
  [[nodiscard]] std::uint32_t EndOf(HyperNodeId id) const { return end_[id.index()]; }
  [[nodiscard]] HyperNodeId AtPosition(std::uint32_t position) const { return order_[position]; }

  [[nodiscard]] std::vector<HyperNodeId> AncestorsOf(HyperNodeId id) const;
  [[nodiscard]] bool IsAncestorOrSelf(HyperNodeId ancestor, HyperNodeId id) const {
    if (ancestor == id) return true;
    return PositionOf(ancestor) < PositionOf(id) && PositionOf(id) < EndOf(ancestor);
  }
  [[nodiscard]] HyperNodeId Lca(HyperNodeId a, HyperNodeId b) const;

 private:
  void AddTop();
  void OrderDepthFirst();
  void CollectTiers();
  void CollectTierNames();

  std::vector<ResolvedHyperNode> hypernodes_;  // ascending by name, then the top
  bool ready_ = true;

  std::vector<HyperNodeId> order_;       // by position
  std::vector<std::uint32_t> position_;  // by id; what is left out has a position that is nowhere
  std::vector<std::uint32_t> end_;       // by id

  std::vector<std::int32_t> tiers_;
  std::vector<std::uint32_t> tier_begin_;  // into by_tier_, one more than there are tiers
  std::vector<HyperNodeId> by_tier_;
  std::map<std::string, std::int32_t, std::less<>> tier_of_name_;
};

}  // namespace strata
