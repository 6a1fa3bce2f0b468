#include "simulate/job_names.h"

#include <algorithm>
#include <numeric>
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

Result<std::string> FindJobByName(const SimulationResult& result,
                                  const SimulatedCluster& cluster,
                                  std::string_view name) {
  if (result.jobs.contains(std::string(name))) return std::string(name);
  const auto it = cluster.group_of_job.find(name);
  if (it != cluster.group_of_job.end() && result.jobs.contains(it->second)) return it->second;
  std::vector<std::string> known;
  for (const auto& [group, job] : result.jobs) known.push_back(group);
  for (const auto& [job, group] : cluster.group_of_job) known.push_back(job);
  if (known.empty()) {
    return Fail(Code::kNotFound, fmt::format("no job {}: there are no jobs", name));
  }
  std::sort(known.begin(), known.end());
  known.erase(std::unique(known.begin(), known.end()), known.end());
  const std::vector<std::string> nearest = NearestNames(known, name, kNearest);
  const std::size_t more = known.size() - nearest.size();
  return Fail(Code::kNotFound,
              fmt::format("no job {}: nearest {} {}{}",
                          name,
                          nearest.size() == 1 ? "is" : "are",
                          fmt::join(nearest, ", "),
                          more == 0 ? "" : fmt::format(" (and {} more)", more)));
}

}  // namespace strata
