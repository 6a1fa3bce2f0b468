#include "model/hypernode_tree.h"

#include <algorithm>
#include <utility>

namespace strata {

void HyperNodeTree::UpsertHyperNode(HyperNodeSpec spec) {
  if (membership_.UpsertHyperNode(std::move(spec))) Changed(Stale::kShape);
}

void HyperNodeTree::RemoveHyperNode(std::string_view name) {
  if (membership_.RemoveHyperNode(name)) Changed(Stale::kShape);
}

bool HyperNodeTree::UpsertNode(NodeId node, std::string_view name, const NodeLabels& labels) {
  if (!membership_.UpsertNode(node, name, labels)) return false;
  Changed(Stale::kLayout);
  return true;
}

void HyperNodeTree::RemoveNode(NodeId node) {
  if (membership_.RemoveNode(node)) Changed(Stale::kLayout);
}

bool HyperNodeTree::Contains(HyperNodeId id, NodeId node) const {
  const ChainId chain = ChainOf(node);
  if (!chain.valid()) return false;
  const std::span<const HyperNodeId> holders = HyperNodesOf(chain);
  return std::find(holders.begin(), holders.end(), id) != holders.end();
}

void HyperNodeTree::Changed(Stale stale) {
  ++version_;
  stale_ = std::max(stale_, stale);
}

void HyperNodeTree::Refresh() const {
  if (stale_ == Stale::kShape) {
    std::vector<const HyperNodeSpec*> specs;
    specs.reserve(membership_.slots().size());
    for (const auto& [name, slot] : membership_.slots()) {
      specs.push_back(&membership_.SpecAt(slot));
    }
    shape_ = HyperNodeShape(specs);
    id_of_slot_.assign(membership_.slot_limit(), HyperNodeId{});
    std::uint32_t id = 0;
    for (const auto& [name, slot] : membership_.slots()) {
      if (shape_.hypernodes()[id].in_tree) id_of_slot_[slot.index()] = HyperNodeId{id};
      ++id;
    }
  }
  layout_ = HyperNodeLayout(shape_, membership_, id_of_slot_);
  stale_ = Stale::kNothing;
}

}  // namespace strata
