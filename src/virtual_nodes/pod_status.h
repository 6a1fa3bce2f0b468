#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "base/clock.h"
#include "virtual_nodes/seen.h"

namespace strata::virtual_nodes {

// Longer runs do not end: a hundred years, so that no sum of times overflows.
inline constexpr Duration kLongestRun = std::chrono::hours(24 * 365 * 100);

// The status of a pod whose containers have started, for a strategic merge patch: conditions that
// somebody else has put there stay.
[[nodiscard]] nlohmann::json RunningStatus(const SeenPod& pod,
                                           const std::string& host_ip,
                                           Time now);
// ... whose containers ran from `start` to `end`, and gave pod.exit_code.
[[nodiscard]] nlohmann::json EndedStatus(const SeenPod& pod, Time start, Time end);
// ... that its node did not admit; no container has started.
[[nodiscard]] nlohmann::json RejectedStatus(const std::string& why, Time now);

}  // namespace strata::virtual_nodes
