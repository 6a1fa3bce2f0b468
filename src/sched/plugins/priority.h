#pragma once

#include "base/result.h"
#include "sched/registry.h"

namespace strata {

// Higher priority first. Serves OrderPoint for jobs (PodGroup priority), tasks (pod priority) and
// sub-jobs (the highest priority among their pending tasks, at least 0). No arguments.
[[nodiscard]] Result<MadePlugin> MakePriority(const PluginConfig& config, ResourceNames& resources);

}  // namespace strata
