#pragma once

#include "base/result.h"
#include "sched/registry.h"

namespace strata {

// Dominant resource fairness. Serves OrderPoint: of jobs, the one that has the smaller part of the
// cluster comes first, by the resource of which it has the largest part. With the switch
// enableHierarchy also of queues, by the weighted shares of the branches they are on (drf_tree.h).
// Shares are those of this moment. No arguments.
[[nodiscard]] Result<MadePlugin> MakeDrf(const PluginConfig& config, ResourceNames& resources);

}  // namespace strata
