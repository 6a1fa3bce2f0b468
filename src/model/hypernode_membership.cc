#include "model/hypernode_membership.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace strata {
namespace {

template <typename T>
bool HasSorted(std::span<const T> values, T value) {
  return std::binary_search(values.begin(), values.end(), value);
}

template <typename T>
void InsertSorted(std::vector<T>& values, T value) {
  const auto at = std::lower_bound(values.begin(), values.end(), value);
  if (at == values.end() || *at != value) values.insert(at, value);
}

template <typename T>
void EraseSorted(std::vector<T>& values, T value) {
  const auto at = std::lower_bound(values.begin(), values.end(), value);
  if (at != values.end() && *at == value) values.erase(at);
}

const std::string* ExactNodeName(const HyperNodeMember& member) {
  const auto* exact = std::get_if<HyperNodeMember::Exact>(&member.selector);
  return member.kind == HyperNodeMember::Kind::kNode && exact != nullptr ? &exact->name : nullptr;
}

bool SelectsByLabel(const HyperNodeMember& member) {
  const auto* labels = std::get_if<LabelSelector>(&member.selector);
  return member.kind == HyperNodeMember::Kind::kNode && labels != nullptr && !labels->empty();
}

bool SelectsByPattern(const HyperNodeMember& member) {
  return member.kind == HyperNodeMember::Kind::kNode &&
         std::holds_alternative<NamePattern>(member.selector);
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

bool HyperNodeMembership::UpsertNode(NodeId node, std::string_view name, const Labels& labels) {
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
    if (const std::string* name = ExactNodeName(member)) {
      InsertSorted(named_by_[*name], slot);
      const auto node = node_of_name_.find(*name);
      if (node != node_of_name_.end()) Join(slot, node->second);
    }
    if (SelectsByLabel(member)) InsertSorted(label_slots_, slot);
    if (SelectsByLabel(member) || SelectsByPattern(member)) entry.matchers.push_back(i);
  }
  if (entry.matchers.empty()) return;
  InsertSorted(matching_slots_, slot);
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    if (nodes_[i].present && MatcherTakes(slot, nodes_[i])) Join(slot, IdAt<NodeId>(i));
  }
}

void HyperNodeMembership::Unindex(HyperNodeSlot slot) {
  Entry& entry = entries_[slot.index()];
  for (const HyperNodeMember& member : entry.spec.members) {
    const std::string* name = ExactNodeName(member);
    const auto named = name == nullptr ? named_by_.end() : named_by_.find(*name);
    if (named == named_by_.end()) continue;
    EraseSorted(named->second, slot);
    if (named->second.empty()) named_by_.erase(named);
  }
  for (const NodeId node : entry.nodes) EraseSorted(nodes_[node.index()].holders, slot);
  entry.nodes.clear();
  entry.matchers.clear();
  EraseSorted(matching_slots_, slot);
  EraseSorted(label_slots_, slot);
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

std::span<const HyperNodeSlot> HyperNodeMembership::NamedBy(std::string_view node_name) const {
  const auto named = named_by_.find(node_name);
  if (named == named_by_.end()) return {};
  return named->second;
}

void HyperNodeMembership::AddNode(NodeId node, std::string_view name, const Labels& labels) {
  const bool is_new_name = node_of_name_.emplace(name, node).second;
  CHECK(is_new_name);
  Node& added = nodes_[node.index()];
  added = Node{.present = true, .name = std::string(name), .labels = labels, .holders = {}};
  for (const HyperNodeSlot slot : NamedBy(name)) Join(slot, node);
  for (const HyperNodeSlot slot : matching_slots_) {
    if (MatcherTakes(slot, added)) Join(slot, node);
  }
}

bool HyperNodeMembership::RelabelNode(NodeId node, const Labels& labels) {
  Node& relabelled = nodes_[node.index()];
  if (relabelled.labels == labels) return false;
  relabelled.labels = labels;
  const std::span<const HyperNodeSlot> named_by = NamedBy(relabelled.name);
  bool changed = false;
  for (const HyperNodeSlot slot : label_slots_) {
    const bool was_in = HasSorted(std::span<const HyperNodeSlot>(relabelled.holders), slot);
    const bool is_in = HasSorted(named_by, slot) || MatcherTakes(slot, relabelled);
    if (was_in == is_in) continue;
    changed = true;
    is_in ? Join(slot, node) : Leave(slot, node);
  }
  return changed;
}

}  // namespace strata
