#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "model/selector.h"
#include "objects/meta.h"
#include "objects/pod.h"

// Small kinds that limit or order pods.
namespace strata::objects {

// v1 Namespace.
struct Namespace {
  Metadata meta;
};

// v1 ConfigMap.
struct ConfigMap {
  Metadata meta;
  Labels data;
};

// scheduling.k8s.io/v1 PriorityClass.
struct PriorityClass {
  Metadata meta;
  std::int32_t value = 0;
  bool global_default = false;
  PreemptionPolicy preemption_policy = PreemptionPolicy::kPreemptLowerPriority;
};

// v1 ResourceQuota.
struct ResourceQuota {
  struct ScopeRequirement {
    std::string scope;  // "PriorityClass", "BestEffort", ...
    SelectorOp op = SelectorOp::kExists;
    std::vector<std::string> values;
  };

  Metadata meta;
  ResourceList hard;                     // spec.hard
  ResourceList used;                     // status.used
  std::vector<ScopeRequirement> scopes;  // spec.scopes and spec.scopeSelector; all hold
};

// policy/v1 PodDisruptionBudget.
struct PodDisruptionBudget {
  struct Percent {
    std::int32_t value = 0;
  };
  using Amount = std::variant<std::int32_t, Percent>;

  Metadata meta;
  std::optional<LabelSelector> selector;  // none: no pod; empty: every pod of the namespace
  std::optional<Amount> min_available;
  std::optional<Amount> max_unavailable;
  std::optional<std::int32_t> disruptions_allowed;  // status; none when there is no status
  std::int32_t expected_pods = 0;
  std::vector<std::string> disrupted_pods;  // names, sorted
};

}  // namespace strata::objects
