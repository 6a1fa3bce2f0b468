#pragma once

#include <vector>

#include "base/clock.h"
#include "controllers/cache.h"
#include "controllers/plan.h"

namespace strata::controllers {

// The status of every HyperNode where it is not as it should be: nodeCount, the real nodes below
// it, each once; condition Ready, false with the reason where the tree does without it or loses a
// child; condition MissingMembers where members that are named do not exist. Other conditions stay.
[[nodiscard]] Plan ReconcileHyperNodeStatus(const std::vector<ObjectRef>& hypernodes,
                                            const std::vector<ObjectRef>& nodes,
                                            Time now);

}  // namespace strata::controllers
