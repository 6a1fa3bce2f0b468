#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "objects/hypernode.h"

namespace strata::discovery {

// The source that discovered a HyperNode, from its labels. Empty for one created by hand.
struct Owner {
  std::string source;
  std::string name;

  auto operator<=>(const Owner&) const = default;
};
[[nodiscard]] Owner OwnerOf(const objects::HyperNode& hypernode);

// The HyperNodes as they are, taken apart: what each source made before cliques were put under it.
class Previous {
 public:
  Previous() = default;
  explicit Previous(const std::vector<objects::HyperNode>& hypernodes);

  // What a source owns, as it would have printed it alone: cliques of `nvlink` below it are
  // replaced by their nodes, and its tiers are back at their own numbers.
  [[nodiscard]] const std::vector<objects::HyperNode>& Of(const Owner& owner) const;
  // Nodes below a HyperNode, ascending; empty for an unknown one.
  [[nodiscard]] const std::vector<std::string>& NodesOf(const std::string& name) const;
  // All nodes of a source, ascending.
  [[nodiscard]] std::vector<std::string> NodesOf(const Owner& owner) const;
  // The lowest HyperNode of a source that holds a node, by node.
  [[nodiscard]] std::map<std::string, std::string> LeavesOf(const Owner& owner) const;
  // Names that are not free for a source: those of all others.
  [[nodiscard]] bool TakenByOthers(const std::string& name, const Owner& owner) const;

 private:
  void Collect(const objects::HyperNode& hypernode,
               std::vector<const objects::HyperNode*>& way,
               std::vector<std::string>& out) const;
  [[nodiscard]] bool IsClique(const std::string& name) const;
  [[nodiscard]] std::set<std::string> MovedUp() const;
  [[nodiscard]] std::vector<HyperNodeMember> OwnMembers(const HyperNodeSpec& spec) const;
  void TakeApart();

  std::map<std::string, objects::HyperNode> by_name_;
  std::map<Owner, std::vector<objects::HyperNode>> by_owner_;
  std::map<std::string, std::vector<std::string>> nodes_;
};

// The names in exactMatch members of one kind, in order.
[[nodiscard]] std::vector<std::string> ExactNames(const HyperNodeSpec& spec,
                                                  HyperNodeMember::Kind kind);

}  // namespace strata::discovery
