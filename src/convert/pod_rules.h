#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "model/pod_rules.h"
#include "objects/object_set.h"

namespace strata {

// Compiles what the pods of one set of objects, or of those learned one by one, ask of each other.
// Selectors of namespaces become lists of names by the Namespaces of the set; a namespace without
// an object of its own has only the label kubernetes.io/metadata.name.
class PodRulesReader {
 public:
  PodRulesReader() = default;
  explicit PodRulesReader(const objects::ObjectSet& objects);

  // Whether what was read of other pods may be old now, and has to be read again.
  enum class Others : std::uint8_t { kStand, kMayBeOld };
  // Call it for every pod before it is read. Nothing that was learned is forgotten with its pod:
  // it only makes identities longer than they need be.
  Others Learn(const objects::Pod& pod);
  Others LearnNamespace(const std::string& name, Labels labels);

  // Nothing while no pod of the set has rules; else the namespace, and the labels that a selector
  // of the set looks at.
  [[nodiscard]] PodIdentity IdentityOf(const objects::Pod& pod) const;
  [[nodiscard]] PodRules RulesOf(const objects::Pod& pod) const;

 private:
  void LearnKeys(const std::optional<LabelSelector>& selector);
  void LearnKeys(const objects::PodAffinityTerm& term);
  void LearnKeys(const objects::PodSpec& spec);
  [[nodiscard]] PodTerm TermOf(const objects::PodAffinityTerm& term,
                               const std::string& own_namespace) const;

  std::map<std::string, Labels> namespaces_;
  std::set<std::string, std::less<>> keys_;
  bool any_rules_ = false;
  bool selects_namespaces_ = false;
};

}  // namespace strata
