#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "model/node_labels.h"
#include "model/selector.h"

namespace strata {

// Where a HyperNode is kept from its first upsert until its removal. Says nothing about order.
using HyperNodeSlot = Id<struct HyperNodeSlotTag>;

// Which nodes have a label value and which HyperNodes ask for it, for the label keys that
// HyperNodes ask for. A thousand racks, each with `rack in (...)`, then cost a lookup per node and
// not a thousand selectors. It only narrows down: the caller tests each candidate by the whole
// selector.
class HyperNodeLabelIndex {
 public:
  // The requirement a selector is filed under, its first `in`; nullptr when it has none.
  [[nodiscard]] static const Requirement* FiledUnder(const LabelSelector& selector);

  // Returns whether the key is asked for the first time: then no node is known for it, and the
  // caller adds every node under it.
  [[nodiscard]] bool AddAsker(const Requirement& requirement, HyperNodeSlot slot);
  void RemoveAsker(const Requirement& requirement, HyperNodeSlot slot);
  // Adds to what `labels` say of the node so far. Unknown keys are passed over.
  void AddNode(NodeId node, const NodeLabels& labels);
  void AddNodeUnder(std::string_view key, NodeId node, const NodeLabels& labels);
  void RemoveNode(NodeId node, const NodeLabels& labels);

  // Appends those who ask for one of the values. May append one twice.
  void AppendAskers(const NodeLabels& labels, std::vector<HyperNodeSlot>& askers) const;
  // Ascending, valid until the next change.
  [[nodiscard]] std::span<const NodeId> NodesWith(std::string_view key,
                                                  std::string_view value) const;

 private:
  struct Column {  // of one key, by value
    std::map<std::string, std::vector<HyperNodeSlot>, std::less<>> askers;
    std::map<std::string, std::vector<NodeId>, std::less<>> nodes;
  };
  std::map<std::string, Column, std::less<>> columns_;
};

}  // namespace strata
