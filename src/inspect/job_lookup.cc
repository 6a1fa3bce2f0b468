#include "inspect/job_lookup.h"

#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace strata::inspect {

// Nothing about other jobs is to be read.
Result<JobReport> FindJob(LiveCluster& cluster,
                          const kube::ObjectKey& key,
                          std::vector<std::string>& warnings) {
  TRY_ASSIGN(JobObjects objects, ReadJobObjects(cluster, key.ns));
  std::erase_if(objects.jobs, [&](const auto& other) { return other.key != key; });
  TRY_ASSIGN(std::vector<JobReport> jobs, MakeJobReports(objects.Texts(), warnings));
  for (JobReport& job : jobs) {
    if (job.key == key) return std::move(job);
  }
  TRY(cluster.Get({kube::kJobs, key.ns, key.name, {}}));
  return Fail(Code::kInvalidArgument, fmt::format("{}", fmt::join(warnings, "; ")));
}

}  // namespace strata::inspect
