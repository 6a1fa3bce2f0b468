#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "simulate/cluster.h"
#include "simulate/cycle_trace.h"
#include "simulate/result.h"

namespace strata {

// The "ns/podgroup" that a person means by `name`: a PodGroup of that name, else that of the Job.
// kNotFound with one line that names what is there instead.
[[nodiscard]] Result<std::string> FindJobByName(const SimulationResult& result,
                                                const SimulatedCluster& cluster,
                                                std::string_view name);

// The story of one job in the last cycle that looked at it: one sentence first, then tier by tier
// which HyperNodes were open to it, which were not and why, and what was chosen. Lines are indented
// by depth. Pure; REQUIRES: `job` is in `result`, `trace` heard the whole run.
[[nodiscard]] std::vector<std::string> ExplainJob(const SimulationResult& result,
                                                  const TraceLog& trace,
                                                  const std::string& job);

}  // namespace strata
