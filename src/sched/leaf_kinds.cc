#include "sched/leaf_kinds.h"

#include <algorithm>

namespace strata {

bool LeafKinds::Suffice(Session& session, std::span<const ClassId> classes) {
  return std::all_of(classes.begin(), classes.end(), [&](ClassId id) {
    const ClassSpec& spec = session.state().task_class(id);
    return !spec.gpus && spec.host_ports.empty() && spec.volumes.empty() && spec.numa.empty() &&
           !spec.HasRules() && session.View(id).IsUniform();
  });
}

bool LeafKinds::IsLeaf(const HyperNodeTree& tree, HyperNodeId hypernode) {
  const std::span<const NodeId> nodes = tree.NodesOf(hypernode);
  if (nodes.empty() || !tree.at(hypernode).children.empty()) return false;
  // Nodes are grouped by chain, so the first and the last tell.
  const ChainId chain = tree.ChainOf(nodes.front());
  return tree.ChainOf(nodes.back()) == chain && tree.LeafOf(chain) == hypernode;
}

std::size_t LeafKinds::KindOf(HyperNodeId leaf) {
  constexpr std::size_t kMostKept = 1024;
  const HyperNodeTree& tree = session_.tree();
  const std::uint64_t version = session_.state().SumsVersion(leaf);
  if (tree_version_ != tree.version() || kinds_.size() >= kMostKept) {
    tree_version_ = tree.version();
    entries_.assign(tree.hypernodes().size(), {});
    kinds_.clear();
  }
  Entry& entry = entries_[leaf.index()];
  if (entry.version != version) {
    Draw(leaf);
    const auto [it, is_new] = kinds_.try_emplace(picture_, next_kind_);
    if (is_new) ++next_kind_;
    entry = {.version = version, .kind = it->second};
  }
  return entry.kind;
}

void LeafKinds::Draw(HyperNodeId leaf) {
  const ClusterState& state = session_.state();
  const std::span<const NodeId> nodes = session_.tree().NodesOf(leaf);
  picture_.clear();
  const auto add = [&](std::span<const Amount> amounts) {
    picture_.insert(picture_.end(), amounts.begin(), amounts.end());
  };
  // The sums of the whole say more than those of its nodes: what others wait for there.
  add(state.Used(leaf));
  add(state.Idle(leaf));
  add(state.FutureIdle(leaf));
  for (const NodeId node : nodes) {
    add(state.Allocatable(node));
    add(state.Used(node));
    add(state.FutureIdle(node));
    picture_.push_back(state.NonzeroCpu(node));
    picture_.push_back(state.NonzeroMemory(node));
  }
  scores_.resize(nodes.size());
  for (const ClassId id : classes_) {
    ClassView& view = session_.View(id);
    view.Scores(nodes, scores_);
    picture_.insert(picture_.end(), scores_.begin(), scores_.end());
    for (const NodeId node : nodes) picture_.push_back(view.Slots(node));
  }
}

}  // namespace strata
