#include "model/pod_rules.h"

#include <algorithm>

namespace strata {

bool PodTerm::Matches(const PodIdentity& pod) const {
  if (!selector) return false;
  const bool in_reach =
      every_namespace || std::binary_search(namespaces.begin(), namespaces.end(), pod.ns);
  return in_reach && selector->Matches(pod.labels);
}

bool SpreadRule::Matches(const PodIdentity& self, const PodIdentity& pod) const {
  return selector && self.ns == pod.ns && selector->Matches(pod.labels);
}

bool PodRules::empty() const {
  return affinity.empty() && anti_affinity.empty() && preferred.empty() && spread.empty();
}

bool PodRules::AllAffinityMatches(const PodIdentity& pod) const {
  return std::all_of(
      affinity.begin(), affinity.end(), [&](const PodTerm& term) { return term.Matches(pod); });
}

}  // namespace strata
