#pragma once

#include "base/result.h"
#include "sched/registry.h"

namespace strata {

// PodDisruptionBudgets hold in every action: a pod goes only while every budget that selects it
// allows one more, and a gang only while all its pods may go together. One budget serves all plans
// of a cycle. It has no arguments. docs/plugins.md.
[[nodiscard]] Result<MadePlugin> MakePdb(const PluginConfig& config, ResourceNames& resources);

}  // namespace strata
