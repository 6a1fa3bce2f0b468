#include "convert/pod_rules.h"

#include <algorithm>
#include <utility>

namespace strata {
namespace {

constexpr const char* kNameLabel = "kubernetes.io/metadata.name";

SpreadRule ToSpreadRule(const objects::TopologySpreadConstraint& constraint) {
  using Object = objects::TopologySpreadConstraint;
  const auto policy = [](Object::NodePolicy given) {
    return given == Object::NodePolicy::kHonor ? SpreadRule::NodePolicy::kHonor
                                               : SpreadRule::NodePolicy::kIgnore;
  };
  const bool hard = constraint.when_unsatisfiable == Object::Unsatisfiable::kDoNotSchedule;
  return {.max_skew = constraint.max_skew,
          .topology_key = constraint.topology_key,
          .when_unsatisfiable = hard ? SpreadRule::Unsatisfiable::kDoNotSchedule
                                     : SpreadRule::Unsatisfiable::kScheduleAnyway,
          .selector = constraint.selector,
          .min_domains = constraint.min_domains.value_or(1),
          .node_affinity = policy(constraint.node_affinity_policy),
          .node_taints = policy(constraint.node_taints_policy)};
}

}  // namespace

PodRulesReader::PodRulesReader(const objects::ObjectSet& objects) {
  for (const objects::Pod& pod : objects.pods) Learn(pod);
  for (const objects::Namespace& ns : objects.namespaces) {
    LearnNamespace(ns.meta.name, ns.meta.labels);
  }
}

PodRulesReader::Others PodRulesReader::Learn(const objects::Pod& pod) {
  const bool had_rules = any_rules_;
  const std::size_t had_keys = keys_.size();
  LearnKeys(pod.spec);
  bool new_namespace = false;
  if (!namespaces_.contains(pod.meta.ns)) {
    new_namespace = LearnNamespace(pod.meta.ns, {}) == Others::kMayBeOld;
  }
  const bool same = had_rules == any_rules_ && had_keys == keys_.size() && !new_namespace;
  return same ? Others::kStand : Others::kMayBeOld;
}

PodRulesReader::Others PodRulesReader::LearnNamespace(const std::string& name, Labels labels) {
  labels.insert_or_assign(kNameLabel, name);
  Labels& known = namespaces_[name];
  if (known == labels) return Others::kStand;
  known = std::move(labels);
  return selects_namespaces_ ? Others::kMayBeOld : Others::kStand;
}

void PodRulesReader::LearnKeys(const std::optional<LabelSelector>& selector) {
  any_rules_ = true;
  if (!selector) return;
  for (const Requirement& requirement : selector->requirements) keys_.insert(requirement.key);
}

void PodRulesReader::LearnKeys(const objects::PodAffinityTerm& term) {
  selects_namespaces_ = selects_namespaces_ || term.namespace_selector.has_value();
  LearnKeys(term.selector);
}

void PodRulesReader::LearnKeys(const objects::PodSpec& spec) {
  for (const objects::PodAffinity* affinity : {&spec.pod_affinity, &spec.pod_anti_affinity}) {
    for (const auto& term : affinity->required) LearnKeys(term);
    for (const auto& preferred : affinity->preferred) LearnKeys(preferred.term);
  }
  for (const auto& constraint : spec.spread) LearnKeys(constraint.selector);
}

PodIdentity PodRulesReader::IdentityOf(const objects::Pod& pod) const {
  if (!any_rules_) return {};
  PodIdentity identity{.ns = pod.meta.ns, .labels = {}};
  for (const auto& [key, value] : pod.meta.labels) {
    if (keys_.contains(key)) identity.labels.emplace(key, value);
  }
  return identity;
}

PodTerm PodRulesReader::TermOf(const objects::PodAffinityTerm& term,
                               const std::string& own_namespace) const {
  PodTerm out{.selector = term.selector,
              .namespaces = term.namespaces,
              .every_namespace = term.namespace_selector && term.namespace_selector->empty(),
              .topology_key = term.topology_key};
  if (out.every_namespace) {
    out.namespaces.clear();
    return out;
  }
  if (term.namespace_selector) {
    for (const auto& [name, labels] : namespaces_) {
      if (term.namespace_selector->Matches(labels)) out.namespaces.push_back(name);
    }
  } else if (term.namespaces.empty()) {
    out.namespaces.push_back(own_namespace);
  }
  std::sort(out.namespaces.begin(), out.namespaces.end());
  out.namespaces.erase(std::unique(out.namespaces.begin(), out.namespaces.end()),
                       out.namespaces.end());
  return out;
}

PodRules PodRulesReader::RulesOf(const objects::Pod& pod) const {
  PodRules rules;
  if (!any_rules_) return rules;
  const objects::PodSpec& spec = pod.spec;
  const auto add =
      [&](const objects::PodAffinity& affinity, std::vector<PodTerm>& required, int sign) {
        for (const auto& term : affinity.required) required.push_back(TermOf(term, pod.meta.ns));
        for (const auto& preferred : affinity.preferred) {
          rules.preferred.push_back(
              {.weight = sign * preferred.weight, .term = TermOf(preferred.term, pod.meta.ns)});
        }
      };
  add(spec.pod_affinity, rules.affinity, +1);
  add(spec.pod_anti_affinity, rules.anti_affinity, -1);
  for (const auto& constraint : spec.spread) rules.spread.push_back(ToSpreadRule(constraint));
  return rules;
}

}  // namespace strata
