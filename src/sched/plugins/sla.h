#pragma once

#include "base/result.h"
#include "sched/registry.h"

namespace strata {

// Jobs that must not wait for longer than a given time. Serves OrderPoint (jobs: the earlier
// creation + waiting time first, those without one last) and JobGatePoint: once a job has waited
// that long, it may enter its queue and may wait for what is being released, unless a plugin of the
// same or an earlier tier rejects it; plugins of later tiers are not asked.
//
// The waiting time is the job's own (annotation sla-waiting-time), else the argument
// sla-waiting-time (a Go duration above 0; none by default).
[[nodiscard]] Result<MadePlugin> MakeSla(const PluginConfig& config, ResourceNames& resources);

}  // namespace strata
