#include "inspect/job_lookup.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/ascii.h"
#include "report/names.h"

namespace strata::inspect {
namespace {

using Kind = JobReport::Kind;

bool HasPod(const JobReport& job, const std::string& name) {
  return std::any_of(job.pods.begin(), job.pods.end(), [&](const JobReport::Pod& pod) {
    return pod.name == name;
  });
}

// "ReplicaSet/web-5d8f": the name of a Deployment and a hash.
bool IsOfDeployment(std::string_view owner, const std::string& name) {
  const std::string prefix = "ReplicaSet/" + name + "-";
  return owner.starts_with(prefix) && owner.find('-', prefix.size()) == std::string_view::npos;
}

bool IsOwner(std::string_view owner, std::string_view kind, const std::string& name) {
  const std::size_t slash = owner.find('/');
  if (slash == std::string_view::npos || owner.substr(slash + 1) != name) return false;
  return kind.empty() ||
         LowerCase(std::string(owner.substr(0, slash))) == LowerCase(std::string(kind));
}

// How `kind` may mean the job, from the surest way on.
bool IsMeant(const JobReport& job, int way, const std::string& name, std::string_view kind) {
  const auto asks = [&](std::string_view one) { return kind.empty() || kind == one; };
  switch (way) {
    case 0:
      return asks("Job") && job.kind == Kind::kJob && job.key.name == name;
    case 1:
      return asks("PodGroup") && job.group == name;
    case 2:
      return asks("Pod") && HasPod(job, name);
    default:
      return job.kind == Kind::kPodGroup &&
             (IsOwner(job.owner, kind, name) ||
              (asks("Deployment") && IsOfDeployment(job.owner, name)));
  }
}

constexpr int kWays = 4;

// Names of what is in the namespace, for people who misspelt one.
std::vector<std::string> NamesIn(const std::vector<JobReport>& jobs, const std::string& ns) {
  std::vector<std::string> names;
  for (const JobReport& job : jobs) {
    if (job.key.ns != ns) continue;
    names.push_back(ShownName(job));
    for (const JobReport::Pod& pod : job.pods) names.push_back(pod.name);
  }
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

tl::unexpected<Error> WithNearest(Error error,
                                  const std::vector<std::string>& names,
                                  std::string_view name) {
  error.message += NearestClause(names, name);
  return tl::unexpected(std::move(error));
}

Result<std::vector<std::string>> ListNames(LiveCluster& cluster,
                                           const kube::Resource& resource,
                                           const std::string& ns) {
  TRY_ASSIGN(const auto listed, cluster.List(resource, ns, {}));
  std::vector<std::string> names;
  if (!listed) return names;
  names.reserve(listed->size());
  for (const ListedObject& object : *listed) names.push_back(object.key.name);
  return names;
}

}  // namespace

const JobReport* ChooseNamed(const std::vector<JobReport>& jobs,
                             const kube::ObjectKey& key,
                             std::string_view kind) {
  for (int way = 0; way < kWays; ++way) {
    for (const JobReport& job : jobs) {
      if (job.key.ns == key.ns && IsMeant(job, way, key.name, kind)) return &job;
    }
  }
  return nullptr;
}

Result<JobReport> FindJob(LiveCluster& cluster,
                          const kube::ObjectKey& key,
                          std::string_view kind,
                          std::vector<std::string>& warnings) {
  TRY_ASSIGN(JobObjects objects, ReadJobObjects(cluster, key.ns));
  const auto is_it = [&](const ListedObject& job) { return job.key == key; };
  const bool is_job = (kind.empty() || kind == "Job") &&
                      std::any_of(objects.jobs.begin(), objects.jobs.end(), is_it);
  // Nothing about other jobs is to be read.
  if (is_job) std::erase_if(objects.jobs, [&](const auto& other) { return !is_it(other); });
  TRY_ASSIGN(std::vector<JobReport> jobs, MakeJobReports(objects.Texts(), warnings));
  if (const JobReport* job = ChooseNamed(jobs, key, kind)) return *job;
  if (is_job) return Fail(Code::kInvalidArgument, fmt::format("{}", fmt::join(warnings, "; ")));
  const std::string what = kind.empty() || kind == "Job"
                               ? fmt::format("jobs.batch.volcano.sh \"{}\" not found", key.name)
                               : fmt::format("no {} {}/{}", kind, key.ns, key.name);
  return WithNearest({Code::kNotFound, what}, NamesIn(jobs, key.ns), key.name);
}

Result<std::string> GetJob(LiveCluster& cluster, const kube::ObjectKey& key) {
  Result<std::string> text = cluster.Get({kube::kJobs, key.ns, key.name, {}});
  if (text || text.error().code != Code::kNotFound) return text;
  const auto names = ListNames(cluster, kube::kJobs, key.ns);
  if (!names) return text;
  return WithNearest(std::move(text).error(), *names, key.name);
}

Status CheckExists(LiveCluster& cluster, const kube::Resource& resource, const std::string& name) {
  const Result<std::string> found = cluster.Get({resource, {}, name, {}});
  // A user that may not read it gets no error.
  if (found || found.error().code != Code::kNotFound) return {};
  const auto names = ListNames(cluster, resource, "");
  return WithNearest(
      {Code::kNotFound,
       fmt::format("{} \"{}\" does not exist", LowerCase(std::string(resource.kind)), name)},
      names.value_or(std::vector<std::string>()),
      name);
}

}  // namespace strata::inspect
