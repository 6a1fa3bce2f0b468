#pragma once

#include <chrono>
#include <optional>

#include "base/clock.h"
#include "model/workload_table.h"

namespace strata {

// No job is evicted before it has run this long, so that nobody is started and stopped in turn.
inline constexpr std::chrono::seconds kDefaultCooldown{60};

// The first moment after `now` at which a pod that runs may be evicted because of its age alone;
// none when every pod is old enough. COST: O(pods).
[[nodiscard]] std::optional<Time> NextCooldownEnd(const WorkloadTable& workload, Time now);

}  // namespace strata
