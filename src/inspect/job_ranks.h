#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "inspect/job_report.h"

namespace strata::inspect {

// Places in the lines of their queues, from 1, by "ns/podgroup".
using Ranks = std::map<std::string, std::size_t>;

// The order of the turns among all jobs of a cluster with a pod that waits. `texts` are all
// of SnapshotParts. Pure; fails where the configuration of the scheduler cannot be read.
// COST: a load of all objects, and no cycle.
[[nodiscard]] Result<Ranks> FindRanks(const std::vector<std::string_view>& texts);

// Gives the waiting ones among `jobs` their ranks.
void SetRanks(const Ranks& ranks, std::vector<JobReport>& jobs);

}  // namespace strata::inspect
