#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "model/hypernode_spec.h"
#include "model/labels.h"

namespace strata {

// Where a HyperNode is kept from its first upsert until its removal. Says nothing about order.
using HyperNodeSlot = Id<struct HyperNodeSlotTag>;

// Which node is a direct member (type Node) of which HyperNode, kept up to date change by change.
//
// A change of a HyperNode's members looks at its old and new members, and with regexMatch or
// labelMatch at every node. A new node is tested against every such member, a change of labels
// against the HyperNodes with labelMatch; exactMatch is an index. Not thread-safe.
class HyperNodeMembership {
 public:
  using SlotsByName = std::map<std::string, HyperNodeSlot, std::less<>>;
  using NodesByName = std::map<std::string, NodeId, std::less<>>;

  // Each returns whether anything changed.
  bool UpsertHyperNode(HyperNodeSpec spec);
  bool RemoveHyperNode(std::string_view name);
  // REQUIRES: a name has one id and an id one name.
  bool UpsertNode(NodeId node, std::string_view name, const Labels& labels);
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
    Labels labels;
    std::vector<HyperNodeSlot> holders;  // ascending
  };

  [[nodiscard]] HyperNodeSlot NewSlot();
  void Index(HyperNodeSlot slot);
  void Unindex(HyperNodeSlot slot);
  void Join(HyperNodeSlot slot, NodeId node);
  void Leave(HyperNodeSlot slot, NodeId node);
  [[nodiscard]] bool MatcherTakes(HyperNodeSlot slot, const Node& node) const;
  [[nodiscard]] std::span<const HyperNodeSlot> NamedBy(std::string_view node_name) const;
  void AddNode(NodeId node, std::string_view name, const Labels& labels);
  bool RelabelNode(NodeId node, const Labels& labels);

  SlotsByName slots_;
  std::vector<Entry> entries_;
  std::vector<HyperNodeSlot> free_slots_;
  std::vector<HyperNodeSlot> matching_slots_;  // with matchers, ascending
  std::vector<HyperNodeSlot> label_slots_;     // with labelMatch among them, ascending
  // Who names a node by exactMatch, whether the node exists or not; ascending.
  std::map<std::string, std::vector<HyperNodeSlot>, std::less<>> named_by_;

  std::vector<Node> nodes_;
  NodesByName node_of_name_;
};

}  // namespace strata
