#include "sched/domain_kinds.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace strata {

bool DomainKinds::Suffice(const ClusterState& state,
                          ClassViewCache& views,
                          std::span<const ClassId> classes) {
  return std::all_of(classes.begin(), classes.end(), [&](ClassId id) {
    const ClassSpec& spec = state.classes().spec(id);
    return !spec.gpus && spec.host_ports.empty() && spec.volumes.empty() && spec.numa.empty() &&
           !spec.HasRules() && views.Of(id).IsUniform() && views.Of(id).ScoresByAmounts();
  });
}

bool DomainKinds::IsLeaf(const HyperNodeTree& tree, HyperNodeId hypernode) {
  const std::span<const NodeId> nodes = tree.NodesOf(hypernode);
  if (nodes.empty() || !tree.at(hypernode).children.empty()) return false;
  // Nodes are grouped by chain, so the first and the last tell.
  const ChainId chain = tree.ChainOf(nodes.front());
  return tree.ChainOf(nodes.back()) == chain && tree.LeafOf(chain) == hypernode;
}

std::size_t DomainKinds::KindOf(HyperNodeId leaf) {
  Refresh();
  entries_[leaf.index()].form = Form::kLeaf;
  return Number(leaf);
}

std::optional<DomainKinds::Likeness> DomainKinds::LikenessOf(HyperNodeId hypernode) {
  Refresh();
  const Form form = FormOf(hypernode);
  if (form == Form::kOther) return std::nullopt;
  Likeness likeness{Number(hypernode), {}};
  if (form == Form::kLeaf) return likeness;  // what is above is the same for all its nodes
  for (const HyperNodeId above : state_.tree().AncestorsOf(hypernode)) {
    if (above != hypernode) AddSums(above, likeness.second);
  }
  return likeness;
}

void DomainKinds::Refresh() {
  constexpr std::size_t kMaxKept = 1024;
  const HyperNodeTree& tree = state_.tree();
  if (tree_version_ == tree.version() && kinds_.size() < kMaxKept) return;
  tree_version_ = tree.version();
  entries_.assign(tree.hypernodes().size(), {});
  orders_.clear();
  kinds_.clear();
}

DomainKinds::Form DomainKinds::FormOf(HyperNodeId hypernode) {
  Entry& entry = entries_[hypernode.index()];
  if (entry.form != Form::kUnknown) return entry.form;
  if (IsLeaf(state_.tree(), hypernode)) return entry.form = Form::kLeaf;
  if (!IsRegular(hypernode)) return entry.form = Form::kOther;
  entry.order = OrderOf(hypernode);
  return entry.form = Form::kRegular;
}

// Every node is in one leaf, and in what is above that.
bool DomainKinds::IsRegular(HyperNodeId hypernode) const {
  const HyperNodeTree& tree = state_.tree();
  const std::span<const NodeId> nodes = tree.NodesOf(hypernode);
  ChainId last;
  for (const NodeId node : nodes) {
    const ChainId chain = tree.ChainOf(node);
    if (std::exchange(last, chain) == chain) continue;
    const std::span<const HyperNodeId> above = tree.HyperNodesOf(chain);
    if (!IsLeaf(tree, above.front()) || tree.AncestorsOf(above.front()).size() != above.size()) {
      return false;
    }
  }
  return !nodes.empty();
}

std::size_t DomainKinds::OrderOf(HyperNodeId hypernode) {
  const HyperNodeTree& tree = state_.tree();
  // As they come in the tree: the nodes, and the HyperNodes of each tier, by the rank of their
  // names.
  constexpr std::int32_t kNodes = std::numeric_limits<std::int32_t>::min();
  std::map<std::int32_t, std::vector<std::uint32_t>> ranks;
  ChainId last;
  for (const NodeId node : tree.NodesOf(hypernode)) {
    ranks[kNodes].push_back(tree.NameRank(node));
    const ChainId chain = tree.ChainOf(node);
    if (std::exchange(last, chain) == chain) continue;
    for (const HyperNodeId id : tree.HyperNodesOf(chain)) {
      std::vector<std::uint32_t>& of_tier = ranks[tree.at(id).tier];
      if (of_tier.empty() || of_tier.back() != id.value) of_tier.push_back(id.value);
    }
  }
  std::vector<std::uint32_t> order;  // empty when all of them ascend, as they mostly do
  for (const auto& [tier, its] : ranks) {
    const std::vector<std::uint32_t>& of_tier = its;
    if (std::is_sorted(of_tier.begin(), of_tier.end())) continue;
    std::vector<std::uint32_t> places(of_tier.size());
    std::iota(places.begin(), places.end(), 0U);
    std::sort(places.begin(), places.end(), [&](std::uint32_t a, std::uint32_t b) {
      return of_tier[a] < of_tier[b];
    });
    order.push_back(static_cast<std::uint32_t>(tier));
    order.insert(order.end(), places.begin(), places.end());
  }
  return orders_.try_emplace(std::move(order), orders_.size()).first->second;
}

std::size_t DomainKinds::Number(HyperNodeId hypernode) {
  const Entry& entry = entries_[hypernode.index()];
  const std::uint64_t version = state_.sums().Version(hypernode);
  if (entry.version == version) return entry.kind;
  const HyperNodeTree& tree = state_.tree();
  Picture picture{tree.at(hypernode).tier, static_cast<std::int64_t>(entry.order)};
  AddSums(hypernode, picture);  // they say more than those of the nodes: what others wait for there
  if (entry.form == Form::kLeaf) {
    picture.push_back(0);
    DrawLeaf(hypernode, picture);
  } else {
    for (const HyperNodeId child : tree.at(hypernode).children) {
      if (tree.NodesOf(child).empty()) continue;
      static_cast<void>(FormOf(child));
      picture.push_back(1);
      picture.push_back(static_cast<std::int64_t>(Number(child)));
    }
  }
  const auto [it, is_new] = kinds_.try_emplace(std::move(picture), next_kind_);
  if (is_new) ++next_kind_;
  entries_[hypernode.index()].version = version;
  return entries_[hypernode.index()].kind = it->second;
}

void DomainKinds::AddSums(HyperNodeId hypernode, Picture& picture) const {
  for (const std::span<const Amount> amounts : {state_.sums().Used(hypernode),
                                                state_.sums().Idle(hypernode),
                                                state_.sums().FutureIdle(hypernode)}) {
    picture.insert(picture.end(), amounts.begin(), amounts.end());
  }
}

void DomainKinds::DrawLeaf(HyperNodeId leaf, Picture& picture) {
  const std::span<const NodeId> nodes = state_.tree().NodesOf(leaf);
  for (const NodeId node : nodes) {
    for (const std::span<const Amount> amounts : {state_.nodes().Allocatable(node),
                                                  state_.nodes().Used(node),
                                                  state_.nodes().FutureIdle(node)}) {
      picture.insert(picture.end(), amounts.begin(), amounts.end());
    }
    picture.push_back(state_.nodes().NonzeroCpu(node));
    picture.push_back(state_.nodes().NonzeroMemory(node));
  }
  scores_.resize(nodes.size());
  for (const ClassId id : classes_) {
    ClassView& view = views_.Of(id);
    view.Scores(nodes, scores_);
    picture.insert(picture.end(), scores_.begin(), scores_.end());
    for (const NodeId node : nodes) picture.push_back(view.Slots(node));
  }
}

}  // namespace strata
