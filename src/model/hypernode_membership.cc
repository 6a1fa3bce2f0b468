#include "model/hypernode_membership.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "model/sorted_vector.h"

namespace strata {
namespace {

// What a member of type Node selects by; nullptr for everything else.
template <typename Selector>
const Selector* NodeSelector(const HyperNodeMember& member) {
  if (member.kind != HyperNodeMember::Kind::kNode) return nullptr;
  return std::get_if<Selector>(&member.selector);
}

}  // namespace

bool HyperNodeMembership::UpsertHyperNode(HyperNodeSpec spec) {
  const auto known = slots_.find(spec.name);
  if (known == slots_.end()) {
    const HyperNodeSlot slot = NewSlot();
    slots_.emplace(spec.name, slot);
    entries_[slot.index()].spec = std::move(spec);
    Index(slot);
    return true;
  }
  const HyperNodeSlot slot = known->second;
  HyperNodeSpec& current = entries_[slot.index()].spec;
  if (current == spec) return false;
  if (current.members == spec.members) {
    current = std::move(spec);
    return true;
  }
  Unindex(slot);
  entries_[slot.index()].spec = std::move(spec);
  Index(slot);
  return true;
}

bool HyperNodeMembership::RemoveHyperNode(std::string_view name) {
  const auto known = slots_.find(name);
  if (known == slots_.end()) return false;
  Unindex(known->second);
  entries_[known->second.index()] = Entry();
  free_slots_.push_back(known->second);
  slots_.erase(known);
  return true;
}

bool HyperNodeMembership::UpsertNode(NodeId node, std::string_view name, const NodeLabels& labels) {
  if (node.index() >= nodes_.size()) nodes_.resize(node.index() + 1);
  if (nodes_[node.index()].present) {
    CHECK(nodes_[node.index()].name == name);
    return RelabelNode(node, labels);
  }
  AddNode(node, name, labels);
  return true;
}

bool HyperNodeMembership::RemoveNode(NodeId node) {
  if (node.index() >= nodes_.size() || !nodes_[node.index()].present) return false;
  Node& gone = nodes_[node.index()];
  for (const HyperNodeSlot slot : gone.holders) EraseSorted(entries_[slot.index()].nodes, node);
  label_index_.RemoveNode(node, gone.labels);
  node_of_name_.erase(gone.name);
  gone = Node();
  return true;
}

HyperNodeSlot HyperNodeMembership::NewSlot() {
  if (free_slots_.empty()) {
    entries_.emplace_back();
    return IdAt<HyperNodeSlot>(entries_.size() - 1);
  }
  const HyperNodeSlot slot = free_slots_.back();
  free_slots_.pop_back();
  return slot;
}

void HyperNodeMembership::Index(HyperNodeSlot slot) {
  Entry& entry = entries_[slot.index()];
  for (std::size_t i = 0; i < entry.spec.members.size(); ++i) {
    const HyperNodeMember& member = entry.spec.members[i];
    if (const auto* exact = NodeSelector<HyperNodeMember::Exact>(member)) {
      IndexName(slot, exact->name);
    } else if (const auto* pattern = NodeSelector<NamePattern>(member)) {
      entry.matchers.push_back(i);
      IndexPattern(slot, *pattern);
    } else if (const auto* labels = NodeSelector<LabelSelector>(member);
               labels != nullptr && !labels->empty()) {
      entry.matchers.push_back(i);
      IndexLabels(slot, *labels);
    }
  }
}

void HyperNodeMembership::IndexName(HyperNodeSlot slot, const std::string& name) {
  InsertSorted(named_by_[name], slot);
  const auto node = node_of_name_.find(name);
  if (node != node_of_name_.end()) Join(slot, node->second);
}

void HyperNodeMembership::IndexPattern(HyperNodeSlot slot, const NamePattern& pattern) {
  InsertSorted(pattern_slots_, slot);
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    if (nodes_[i].present && pattern.Matches(nodes_[i].name)) Join(slot, IdAt<NodeId>(i));
  }
}

void HyperNodeMembership::IndexLabels(HyperNodeSlot slot, const LabelSelector& selector) {
  const Requirement* filed_under = HyperNodeLabelIndex::FiledUnder(selector);
  if (filed_under == nullptr) {
    InsertSorted(open_slots_, slot);
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      if (nodes_[i].present && selector.Matches(nodes_[i].labels)) Join(slot, IdAt<NodeId>(i));
    }
    return;
  }
  if (label_index_.AddAsker(*filed_under, slot)) {
    for (const auto& [name, node] : node_of_name_) {
      label_index_.AddNodeUnder(filed_under->key, node, nodes_[node.index()].labels);
    }
  }
  for (const std::string& value : filed_under->values) {
    for (const NodeId node : label_index_.NodesWith(filed_under->key, value)) {
      if (selector.Matches(nodes_[node.index()].labels)) Join(slot, node);
    }
  }
}

void HyperNodeMembership::Unindex(HyperNodeSlot slot) {
  Entry& entry = entries_[slot.index()];
  for (const HyperNodeMember& member : entry.spec.members) {
    if (const auto* exact = NodeSelector<HyperNodeMember::Exact>(member)) {
      const auto named = named_by_.find(exact->name);
      if (named == named_by_.end()) continue;  // the same member twice
      EraseSorted(named->second, slot);
      if (named->second.empty()) named_by_.erase(named);
    } else if (const auto* labels = NodeSelector<LabelSelector>(member)) {
      const Requirement* filed_under = HyperNodeLabelIndex::FiledUnder(*labels);
      if (filed_under != nullptr) label_index_.RemoveAsker(*filed_under, slot);
    }
  }
  EraseSorted(pattern_slots_, slot);
  EraseSorted(open_slots_, slot);
  for (const NodeId node : entry.nodes) EraseSorted(nodes_[node.index()].holders, slot);
  entry.nodes.clear();
  entry.matchers.clear();
}

void HyperNodeMembership::Join(HyperNodeSlot slot, NodeId node) {
  InsertSorted(entries_[slot.index()].nodes, node);
  InsertSorted(nodes_[node.index()].holders, slot);
}

void HyperNodeMembership::Leave(HyperNodeSlot slot, NodeId node) {
  EraseSorted(entries_[slot.index()].nodes, node);
  EraseSorted(nodes_[node.index()].holders, slot);
}

bool HyperNodeMembership::MatcherTakes(HyperNodeSlot slot, const Node& node) const {
  const Entry& entry = entries_[slot.index()];
  return std::any_of(entry.matchers.begin(), entry.matchers.end(), [&](std::size_t i) {
    const HyperNodeMember& member = entry.spec.members[i];
    if (const auto* pattern = std::get_if<NamePattern>(&member.selector)) {
      return pattern->Matches(node.name);
    }
    return std::get<LabelSelector>(member.selector).Matches(node.labels);
  });
}

bool HyperNodeMembership::IsNamedBy(HyperNodeSlot slot, const Node& node) const {
  const auto named = named_by_.find(node.name);
  return named != named_by_.end() && HasSorted(named->second, slot);
}

void HyperNodeMembership::AddNode(NodeId node, std::string_view name, const NodeLabels& labels) {
  const bool is_new_name = node_of_name_.emplace(name, node).second;
  CHECK(is_new_name);
  Node& added = nodes_[node.index()];
  added = Node{.present = true, .name = std::string(name), .labels = labels, .holders = {}};
  label_index_.AddNode(node, labels);

  const auto named = named_by_.find(name);
  if (named != named_by_.end()) {
    for (const HyperNodeSlot slot : named->second) Join(slot, node);
  }
  std::vector<HyperNodeSlot> candidates = pattern_slots_;
  candidates.insert(candidates.end(), open_slots_.begin(), open_slots_.end());
  label_index_.AppendAskers(labels, candidates);
  for (const HyperNodeSlot slot : candidates) {
    if (MatcherTakes(slot, added)) Join(slot, node);
  }
}

bool HyperNodeMembership::RelabelNode(NodeId node, const NodeLabels& labels) {
  Node& relabelled = nodes_[node.index()];
  if (relabelled.labels == labels) return false;
  std::vector<HyperNodeSlot> candidates = open_slots_;
  label_index_.AppendAskers(relabelled.labels, candidates);
  label_index_.AppendAskers(labels, candidates);
  SortUnique(candidates);

  label_index_.RemoveNode(node, relabelled.labels);
  relabelled.labels = labels;
  label_index_.AddNode(node, labels);

  bool changed = false;
  for (const HyperNodeSlot slot : candidates) {
    const bool was_in = HasSorted(relabelled.holders, slot);
    const bool is_in = IsNamedBy(slot, relabelled) || MatcherTakes(slot, relabelled);
    if (was_in == is_in) continue;
    changed = true;
    is_in ? Join(slot, node) : Leave(slot, node);
  }
  return changed;
}

}  // namespace strata
