#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/labels.h"
#include "model/selector.h"

// What a pod demands of the pods around it: pod affinity, anti-affinity and topology spread,
// compiled at the edge; each with Kubernetes' meaning.
namespace strata {

// What other pods' rules see of a pod. The edge may leave out labels that no rule in the cluster
// looks at, and the namespace when there are no rules at all, so that pods which differ in nothing
// else stay one class.
struct PodIdentity {
  std::string ns;
  Labels labels;

  auto operator<=>(const PodIdentity&) const = default;
};

// Pods of some namespaces, together with those that share a topology domain with them.
struct PodTerm {
  std::optional<LabelSelector> selector;  // none: no pod
  std::vector<std::string> namespaces;    // sorted
  bool every_namespace = false;
  std::string topology_key;

  auto operator<=>(const PodTerm&) const = default;
  [[nodiscard]] bool Matches(const PodIdentity& pod) const;
};

struct PreferredPodTerm {
  std::int32_t weight = 1;  // 1..100 for affinity, -100..-1 for anti-affinity
  PodTerm term;

  auto operator<=>(const PreferredPodTerm&) const = default;
};

// The pods of the own namespace that the selector matches are to be even over the domains.
struct SpreadRule {
  enum class Unsatisfiable : std::uint8_t { kDoNotSchedule, kScheduleAnyway };
  enum class NodePolicy : std::uint8_t { kHonor, kIgnore };

  std::int32_t max_skew = 1;
  std::string topology_key;
  Unsatisfiable when_unsatisfiable = Unsatisfiable::kDoNotSchedule;
  std::optional<LabelSelector> selector;  // none: no pod
  std::int32_t min_domains = 1;
  NodePolicy node_affinity = NodePolicy::kHonor;
  NodePolicy node_taints = NodePolicy::kIgnore;

  auto operator<=>(const SpreadRule&) const = default;
  [[nodiscard]] bool Matches(const PodIdentity& self, const PodIdentity& pod) const;
};

struct PodRules {
  std::vector<PodTerm> affinity;       // required, all of them
  std::vector<PodTerm> anti_affinity;  // required, none of them
  std::vector<PreferredPodTerm> preferred;
  std::vector<SpreadRule> spread;

  auto operator<=>(const PodRules&) const = default;
  [[nodiscard]] bool empty() const;
  // The pod belongs to what each of its required affinity terms asks for.
  [[nodiscard]] bool AllAffinityMatches(const PodIdentity& pod) const;
};

}  // namespace strata
