#pragma once

#include "base/result.h"
#include "sched/registry.h"

namespace strata {

// A running pod is not evicted before its volcano.sh/cooldown-time is over, counted from when it
// got its node. It has no arguments. docs/plugins.md.
[[nodiscard]] Result<MadePlugin> MakeCdp(const PluginConfig& config, ResourceNames& resources);

}  // namespace strata
