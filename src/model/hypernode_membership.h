#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "model/hypernode_label_index.h"
#include "model/hypernode_spec.h"
#include "model/node_labels.h"

namespace strata {

// Which node is a direct member (type Node) of which HyperNode, kept up to date change by change.
//
// A change of a HyperNode's members looks at its old and new members: exactMatch and labelMatch
// with an `in` are found by index, regexMatch and other selectors are tested on every node.
// Likewise a new node is tested against every such member; a change of labels only against the
// HyperNodes that ask for its old or new labels, and those with a labelMatch without an `in`. Not
// thread-safe.
class HyperNodeMembership {
 public:
  using SlotsByName = std::map<std::string, HyperNodeSlot, std::less<>>;
  using NodesByName = std::map<std::string, NodeId, std::less<>>;

  // Each returns whether anything changed.
  bool UpsertHyperNode(HyperNodeSpec spec);
  bool RemoveHyperNode(std::string_view name);
  // REQUIRES: a name has one id and an id one name.
  bool UpsertNode(NodeId node, std::string_view name, const NodeLabels& labels);
  bool RemoveNode(NodeId node);

  [[nodiscard]] const SlotsByName& slots() const { return slots_; }
  [[nodiscard]] std::size_t slot_limit() const { return entries_.size(); }  // above every slot
  [[nodiscard]] const HyperNodeSpec& SpecAt(HyperNodeSlot slot) const {
    return entries_[slot.index()].spec;
  }

  [[nodiscard]] const NodesByName& nodes() const { return node_of_name_; }
  [[nodiscard]] std::size_t node_limit() const { return nodes_.size(); }  // above every node id
  // The HyperNodes that have the node as a direct member, each once.
  [[nodiscard]] std::span<const HyperNodeSlot> HoldersOf(NodeId node) const {
    return nodes_[node.index()].holders;
  }

 private:
  struct Entry {
    HyperNodeSpec spec;
    std::vector<std::size_t> matchers;  // members of type Node with regexMatch or labelMatch
    std::vector<NodeId> nodes;          // ascending
  };
  struct Node {
    bool present = false;
    std::string name;
    NodeLabels labels;
    std::vector<HyperNodeSlot> holders;  // ascending
  };

  [[nodiscard]] HyperNodeSlot NewSlot();
  void Index(HyperNodeSlot slot);
  void IndexName(HyperNodeSlot slot, const std::string& name);
  void IndexPattern(HyperNodeSlot slot, const NamePattern& pattern);
  void IndexLabels(HyperNodeSlot slot, const LabelSelector& selector);
  void Unindex(HyperNodeSlot slot);
  void Join(HyperNodeSlot slot, NodeId node);
  void Leave(HyperNodeSlot slot, NodeId node);
  [[nodiscard]] bool MatcherTakes(HyperNodeSlot slot, const Node& node) const;
  [[nodiscard]] bool IsNamedBy(HyperNodeSlot slot, const Node& node) const;
  void AddNode(NodeId node, std::string_view name, const NodeLabels& labels);
  bool RelabelNode(NodeId node, const NodeLabels& labels);

  SlotsByName slots_;
  std::vector<Entry> entries_;
  std::vector<HyperNodeSlot> free_slots_;
  std::vector<HyperNodeSlot> pattern_slots_;  // with regexMatch, ascending
  std::vector<HyperNodeSlot> open_slots_;     // with labelMatch that label_index_ cannot file, same
  HyperNodeLabelIndex label_index_;
  // The HyperNodes that name a node by exactMatch, whether the node exists or not; ascending.
  std::map<std::string, std::vector<HyperNodeSlot>, std::less<>> named_by_;

  std::vector<Node> nodes_;
  NodesByName node_of_name_;
};

}  // namespace strata
