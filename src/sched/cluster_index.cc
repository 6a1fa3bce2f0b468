#include "sched/cluster_index.h"

#include <iterator>

namespace strata {

const DomainShape& ClusterIndex::shape() {
  const HyperNodeTree& tree = session_.tree();
  if (shape_ && tree_version_ == tree.version()) return *shape_;
  tree_version_ = tree.version();
  entries_.clear();
  shape_ = std::make_unique<DomainShape>(tree, tree.top());
  positions_.assign(session_.state().node_slots(), 0);
  for (std::size_t i = 0; i < shape_->nodes.size(); ++i) {
    positions_[shape_->nodes[i].index()] = static_cast<std::uint32_t>(i);
  }
  return *shape_;
}

DomainIndex& ClusterIndex::For(ClassId class_id) {
  constexpr std::size_t kKept = 256;  // classes of one busy cycle
  const DomainShape& all = shape();
  const ClusterState& state = session_.state();
  if (entries_.size() >= kKept && !entries_.contains(class_id)) entries_.clear();
  Entry& entry = entries_[class_id];
  const auto touched = state.TouchedSince(entry.version);
  if (!entry.index || !touched || touched->size() > all.nodes.size()) {
    entry.index = std::make_unique<DomainIndex>(all, session_.View(class_id));
  } else {
    for (const NodeId node : *touched) entry.index->Refresh(all, positions_[node.index()]);
  }
  entry.version = state.NextVersion();
  return *entry.index;
}

}  // namespace strata
