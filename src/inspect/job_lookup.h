#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "inspect/job_report.h"
#include "inspect/live_cluster.h"

namespace strata::inspect {

// One job of a running cluster. `kind` is as KindOfWord gives it: without one a Job comes before a
// PodGroup of the name, and that before the job of a pod or controller of it. kNotFound, with the
// nearest names, when there is none.
[[nodiscard]] Result<JobReport> FindJob(LiveCluster& cluster,
                                        const kube::ObjectKey& key,
                                        std::string_view kind,
                                        std::vector<std::string>& warnings);

// Which of `jobs` is meant by that; none when no job is. A Deployment is known by the names of its
// ReplicaSets. Pure.
[[nodiscard]] const JobReport* ChooseNamed(const std::vector<JobReport>& jobs,
                                           const kube::ObjectKey& key,
                                           std::string_view kind);

// The text of a Job. kNotFound names the nearest Jobs of the namespace.
[[nodiscard]] Result<std::string> GetJob(LiveCluster& cluster, const kube::ObjectKey& key);

// kNotFound, with the nearest names, when the server knows that there is no such namespace or
// queue.
[[nodiscard]] Status CheckExists(LiveCluster& cluster,
                                 const kube::Resource& resource,
                                 const std::string& name);

}  // namespace strata::inspect
