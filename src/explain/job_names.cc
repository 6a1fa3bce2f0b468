#include "explain/job_names.h"

#include <set>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "report/names.h"

namespace strata {
namespace {

constexpr std::size_t kNearest = 3;

// Those there are, and those that pods only name.
std::set<std::string> GroupsOf(const LoadedCluster& cluster) {
  std::set<std::string> groups;
  for (const JobId id : cluster.state->workload().jobs()) {
    groups.insert(cluster.state->workload().job(id).spec.name);
  }
  for (const MissingGroup& group : cluster.load.missing_groups) groups.insert(group.name);
  return groups;
}

}  // namespace

Result<std::string> FindJobByName(const LoadedCluster& cluster, std::string_view name) {
  std::set<std::string> known = GroupsOf(cluster);
  if (known.contains(std::string(name))) return std::string(name);
  const auto it = cluster.group_of_job.find(name);
  if (it != cluster.group_of_job.end() && known.contains(it->second)) return it->second;
  for (const auto& [job, group] : cluster.group_of_job) known.insert(job);
  if (known.empty()) {
    return Fail(Code::kNotFound, fmt::format("no job {}: there are no jobs", name));
  }
  const std::vector<std::string> nearest =
      NearestNames({known.begin(), known.end()}, name, kNearest);
  const std::size_t more = known.size() - nearest.size();
  return Fail(Code::kNotFound,
              fmt::format("no job {}: nearest {} {}{}",
                          name,
                          nearest.size() == 1 ? "is" : "are",
                          fmt::join(nearest, ", "),
                          more == 0 ? "" : fmt::format(" (and {} more)", more)));
}

}  // namespace strata
