#pragma once

#include <nlohmann/json_fwd.hpp>

#include "controllers/plan.h"

namespace strata::controllers {

// Gives a pod without a PodGroup one: "podgroup-<uid>" of the controller of the pod, else of the
// pod itself. Pods that end or have ended are left alone. A pod that cannot be read is told so by
// an Event.
[[nodiscard]] Plan ReconcileLonePod(const nlohmann::json& pod);

}  // namespace strata::controllers
