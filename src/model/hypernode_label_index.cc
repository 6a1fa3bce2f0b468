#include "model/hypernode_label_index.h"

#include <algorithm>

#include "model/sorted_vector.h"

namespace strata {
namespace {

template <typename T>
using ByValue = std::map<std::string, std::vector<T>, std::less<>>;

template <typename T>
void EraseFrom(ByValue<T>& by_value, std::string_view value, T what) {
  const auto found = by_value.find(value);
  if (found == by_value.end()) return;
  EraseSorted(found->second, what);
  if (found->second.empty()) by_value.erase(found);
}

}  // namespace

const Requirement* HyperNodeLabelIndex::FiledUnder(const LabelSelector& selector) {
  const auto found = std::find_if(
      selector.requirements.begin(),
      selector.requirements.end(),
      [](const Requirement& requirement) { return requirement.op == SelectorOp::kIn; });
  return found == selector.requirements.end() ? nullptr : &*found;
}

bool HyperNodeLabelIndex::AddAsker(const Requirement& requirement, HyperNodeSlot slot) {
  if (requirement.values.empty()) return false;
  const auto [column, is_new] = columns_.try_emplace(requirement.key);
  for (const std::string& value : requirement.values) {
    InsertSorted(column->second.askers[value], slot);
  }
  return is_new;
}

void HyperNodeLabelIndex::RemoveAsker(const Requirement& requirement, HyperNodeSlot slot) {
  const auto column = columns_.find(requirement.key);
  if (column == columns_.end()) return;
  for (const std::string& value : requirement.values) {
    EraseFrom(column->second.askers, value, slot);
  }
  if (column->second.askers.empty()) columns_.erase(column);
}

void HyperNodeLabelIndex::AddNode(NodeId node, const NodeLabels& labels) {
  for (const auto& [key, value] : labels) {
    const auto column = columns_.find(key);
    if (column != columns_.end()) InsertSorted(column->second.nodes[std::string(value)], node);
  }
}

void HyperNodeLabelIndex::AddNodeUnder(std::string_view key,
                                       NodeId node,
                                       const NodeLabels& labels) {
  const auto column = columns_.find(key);
  const auto label = labels.find(key);
  if (column == columns_.end() || label == labels.end()) return;
  InsertSorted(column->second.nodes[std::string(label->second)], node);
}

void HyperNodeLabelIndex::RemoveNode(NodeId node, const NodeLabels& labels) {
  for (const auto& [key, value] : labels) {
    const auto column = columns_.find(key);
    if (column != columns_.end()) EraseFrom(column->second.nodes, value, node);
  }
}

void HyperNodeLabelIndex::AppendAskers(const NodeLabels& labels,
                                       std::vector<HyperNodeSlot>& askers) const {
  for (const auto& [key, value] : labels) {
    const auto column = columns_.find(key);
    if (column == columns_.end()) continue;
    const auto found = column->second.askers.find(value);
    if (found == column->second.askers.end()) continue;
    askers.insert(askers.end(), found->second.begin(), found->second.end());
  }
}

std::span<const NodeId> HyperNodeLabelIndex::NodesWith(std::string_view key,
                                                       std::string_view value) const {
  const auto column = columns_.find(key);
  if (column == columns_.end()) return {};
  const auto found = column->second.nodes.find(value);
  if (found == column->second.nodes.end()) return {};
  return found->second;
}

}  // namespace strata
