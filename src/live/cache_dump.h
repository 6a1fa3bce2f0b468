#pragma once

#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "model/cluster_state.h"

namespace strata::live {

// Nodes, queues and jobs with their pods, as text for people. Pure.
[[nodiscard]] std::string DescribeState(const ClusterState& state);

// Writes that into a new file of `folder` and returns its path. kUnavailable with the system's
// message when that cannot be.
[[nodiscard]] Result<std::string> WriteCacheDump(const ClusterState& state,
                                                 const std::string& folder,
                                                 Time now);

}  // namespace strata::live
