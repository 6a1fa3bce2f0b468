#pragma once

#include "base/result.h"
#include "sched/registry.h"

namespace strata {

// Keeps system pods (priority classes system-cluster-critical and system-node-critical, namespace
// kube-system) from being evicted. Serves VictimPoint. No arguments.
[[nodiscard]] Result<MadePlugin> MakeConformance(const PluginConfig& config,
                                                 ResourceNames& resources);

}  // namespace strata
