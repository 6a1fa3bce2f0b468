#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/labels.h"
#include "model/node_labels.h"
#include "model/selector.h"

// What a pod demands of a node, and what a node repels pods with, compiled at the edge; each with
// Kubernetes' meaning.
namespace strata {

enum class TaintEffect : std::uint8_t { kNoSchedule, kPreferNoSchedule, kNoExecute };

struct Taint {
  std::string key;
  std::string value;
  TaintEffect effect = TaintEffect::kNoSchedule;

  auto operator<=>(const Taint&) const = default;
};

struct Toleration {
  std::string key;  // "" with kExists tolerates every key
  enum class Op : std::uint8_t { kEqual, kExists } op = Op::kEqual;
  std::string value;
  std::optional<TaintEffect> effect;  // none: every effect

  auto operator<=>(const Toleration&) const = default;
  [[nodiscard]] bool Tolerates(const Taint& taint) const;
};

// Requirements on labels and on fields (metadata.name only) of a node; all hold. An empty term
// matches nothing.
struct NodeSelectorTerm {
  std::vector<Requirement> labels;
  std::vector<Requirement> fields;

  auto operator<=>(const NodeSelectorTerm&) const = default;
  [[nodiscard]] bool Matches(std::string_view node_name, const NodeLabels& node_labels) const;
};

struct PreferredTerm {
  std::int32_t weight = 1;  // 1..100
  NodeSelectorTerm term;

  auto operator<=>(const PreferredTerm&) const = default;
};

struct NodeAffinity {
  std::optional<std::vector<NodeSelectorTerm>>
      required;  // any term; present but empty matches nothing
  std::vector<PreferredTerm> preferred;

  auto operator<=>(const NodeAffinity&) const = default;
};

struct HostPort {
  std::string ip;         // "" and "0.0.0.0" mean every address
  std::string protocol;   // "TCP", "UDP", "SCTP"; "" means "TCP"
  std::int32_t port = 0;  // 0: no port, conflicts with nothing

  auto operator<=>(const HostPort&) const = default;
  [[nodiscard]] bool ConflictsWith(const HostPort& other) const;
};

// nodeSelector and required node affinity together.
[[nodiscard]] bool MatchesNode(const Labels& node_selector,
                               const NodeAffinity& affinity,
                               std::string_view node_name,
                               const NodeLabels& node_labels);

// The first NoSchedule or NoExecute taint that nothing tolerates, or nullptr.
[[nodiscard]] const Taint* FirstUntolerated(const std::vector<Taint>& taints,
                                            const std::vector<Toleration>& tolerations);

// How many PreferNoSchedule taints are not tolerated (kube-scheduler's TaintToleration score counts
// them).
[[nodiscard]] int CountUntoleratedPreferences(const std::vector<Taint>& taints,
                                              const std::vector<Toleration>& tolerations);

// The sum of the weights of the preferred terms that match (kube-scheduler's NodeAffinity score
// before normalisation).
[[nodiscard]] std::int64_t PreferredWeight(const NodeAffinity& affinity,
                                           std::string_view node_name,
                                           const NodeLabels& node_labels);

}  // namespace strata
