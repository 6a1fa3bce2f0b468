#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "inspect/job_report.h"
#include "inspect/live_cluster.h"

namespace strata::inspect {

// One job of a running cluster; a Job comes before a PodGroup of its name. kNotFound when there is
// neither.
[[nodiscard]] Result<JobReport> FindJob(LiveCluster& cluster,
                                        const kube::ObjectKey& key,
                                        std::vector<std::string>& warnings);

}  // namespace strata::inspect
