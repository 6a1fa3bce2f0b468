#pragma once

#include "base/result.h"
#include "sched/registry.h"

namespace strata {

// Keeps system pods (priority classes system-cluster-critical and system-node-critical, namespace
// kube-system) from being evicted. It is a filter of victims, so while no action evicts it serves
// no extension point; a configuration may list it all the same. No arguments.
[[nodiscard]] Result<MadePlugin> MakeConformance(const PluginConfig& config,
                                                 ResourceNames& resources);

}  // namespace strata
