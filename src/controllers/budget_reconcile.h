#pragma once

#include <vector>

#include "controllers/cache.h"
#include "controllers/plan.h"
#include "controllers/pod_seen.h"

namespace strata::controllers {

struct BudgetView {
  ObjectRef budget;
  std::vector<PodSeen> pods;  // of its namespace, with labels
};

// What is to be done for a PodDisruptionBudget: its status. Healthy are the pods that it selects,
// that are ready and on their way neither out nor to be evicted; expected those that have not
// finished. A pod of `disruptedPods` counts as gone until it is.
[[nodiscard]] Plan ReconcileBudget(const BudgetView& view);

}  // namespace strata::controllers
