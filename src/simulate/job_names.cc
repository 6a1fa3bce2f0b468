#include "simulate/job_names.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace strata {
namespace {

constexpr std::size_t kShownNames = 6;
constexpr std::size_t kNearest = 3;

// Characters to insert, delete or replace.
std::size_t Distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = std::exchange(row[j], std::min({row[j] + 1, row[j - 1] + 1, replaced}));
    }
  }
  return row[b.size()];
}

// Those there are, and those that pods only name.
std::set<std::string> GroupsOf(const SimulatedCluster& cluster) {
  std::set<std::string> groups;
  for (const JobId id : cluster.state->jobs()) groups.insert(cluster.state->job(id).spec.name);
  for (const MissingGroup& group : cluster.load.missing_groups) groups.insert(group.name);
  return groups;
}

}  // namespace

std::string NameSome(const std::vector<std::string>& names) {
  std::string text;
  const std::size_t shown = std::min(names.size(), kShownNames);
  for (std::size_t i = 0; i < shown; ++i) text += (i == 0 ? "" : ", ") + names[i];
  if (shown < names.size()) text += fmt::format(" and {} more", names.size() - shown);
  return text;
}

std::vector<std::string> NearestNames(const std::vector<std::string>& names,
                                      std::string_view wanted,
                                      std::size_t count) {
  std::vector<std::pair<std::size_t, std::string>> ranked;
  ranked.reserve(names.size());
  for (const std::string& name : names) ranked.emplace_back(Distance(wanted, name), name);
  std::sort(ranked.begin(), ranked.end());
  std::vector<std::string> nearest;
  for (std::size_t i = 0; i < std::min(count, ranked.size()); ++i) {
    nearest.push_back(ranked[i].second);
  }
  return nearest;
}

Result<std::string> FindJobByName(const SimulatedCluster& cluster, std::string_view name) {
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
