#include "model/constraints.h"

#include <algorithm>

namespace strata {
namespace {

constexpr std::string_view kEveryAddress = "0.0.0.0";
constexpr std::string_view kNameField = "metadata.name";

std::string_view AddressOf(const HostPort& port) {
  return port.ip.empty() ? kEveryAddress : std::string_view(port.ip);
}

std::string_view ProtocolOf(const HostPort& port) {
  return port.protocol.empty() ? std::string_view("TCP") : std::string_view(port.protocol);
}

bool IsTolerated(const Taint& taint, const std::vector<Toleration>& tolerations) {
  return std::any_of(tolerations.begin(), tolerations.end(), [&](const Toleration& toleration) {
    return toleration.Tolerates(taint);
  });
}

}  // namespace

bool Toleration::Tolerates(const Taint& taint) const {
  if (effect && *effect != taint.effect) return false;
  if (!key.empty() && key != taint.key) return false;
  return op == Op::kExists || value == taint.value;
}

bool NodeSelectorTerm::Matches(std::string_view node_name, const NodeLabels& node_labels) const {
  if (labels.empty() && fields.empty()) return false;
  const bool labels_match =
      std::all_of(labels.begin(), labels.end(), [&](const Requirement& requirement) {
        return requirement.Matches(node_labels);
      });
  // A node has no other field to select by: a requirement on one cannot be met.
  return labels_match &&
         std::all_of(fields.begin(), fields.end(), [&](const Requirement& requirement) {
           return requirement.key == kNameField && requirement.MatchesValue(node_name);
         });
}

bool HostPort::ConflictsWith(const HostPort& other) const {
  if (port <= 0 || port != other.port) return false;
  if (ProtocolOf(*this) != ProtocolOf(other)) return false;
  const std::string_view mine = AddressOf(*this);
  const std::string_view theirs = AddressOf(other);
  return mine == theirs || mine == kEveryAddress || theirs == kEveryAddress;
}

bool MatchesNode(const Labels& node_selector,
                 const NodeAffinity& affinity,
                 std::string_view node_name,
                 const NodeLabels& node_labels) {
  for (const auto& [key, value] : node_selector) {
    const auto label = node_labels.find(key);
    if (label == node_labels.end() || label->second != value) return false;
  }
  if (!affinity.required) return true;
  return std::any_of(
      affinity.required->begin(), affinity.required->end(), [&](const NodeSelectorTerm& term) {
        return term.Matches(node_name, node_labels);
      });
}

const Taint* FirstUntolerated(const std::vector<Taint>& taints,
                              const std::vector<Toleration>& tolerations) {
  for (const Taint& taint : taints) {
    if (taint.effect == TaintEffect::kPreferNoSchedule) continue;
    if (!IsTolerated(taint, tolerations)) return &taint;
  }
  return nullptr;
}

int CountUntoleratedPreferences(const std::vector<Taint>& taints,
                                const std::vector<Toleration>& tolerations) {
  const auto count = std::count_if(taints.begin(), taints.end(), [&](const Taint& taint) {
    return taint.effect == TaintEffect::kPreferNoSchedule && !IsTolerated(taint, tolerations);
  });
  return static_cast<int>(count);
}

std::int64_t PreferredWeight(const NodeAffinity& affinity,
                             std::string_view node_name,
                             const NodeLabels& node_labels) {
  std::int64_t sum = 0;
  for (const PreferredTerm& preferred : affinity.preferred) {
    if (preferred.term.Matches(node_name, node_labels)) sum += preferred.weight;
  }
  return sum;
}

}  // namespace strata
