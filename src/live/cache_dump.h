#pragma once

#include <cstdint>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "model/cluster_state.h"

namespace strata::live {

// Nodes, queues and jobs with their pods, as text for people. Pure.
[[nodiscard]] std::string DescribeState(const ClusterState& state);

// The same as one JSON object, for programs. Pure.
[[nodiscard]] std::string StateJson(const ClusterState& state);

// strata-cache-<milliseconds>-<random>.txt and snapshot-<milliseconds>-<random>.json.
enum class DumpForm : std::uint8_t { kText, kJson };

// Writes one of them into a new file of `folder`, which only its owner may read, and returns its
// path. kUnavailable with the system's message when that cannot be.
[[nodiscard]] Result<std::string> WriteCacheDump(const ClusterState& state,
                                                 DumpForm form,
                                                 const std::string& folder,
                                                 Time now);

}  // namespace strata::live
