#include "inspect/job_logs.h"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "json/access.h"
#include "json/parse.h"
#include "report/names.h"

namespace strata::inspect {
namespace {

std::string NameOf(const JobReport& job) {
  return job.key.ns + "/" + job.key.name;
}

Status CheckTask(const JobReport& job, const std::string& task) {
  std::set<std::string> tasks;
  for (const JobReport::Pod& pod : job.pods) tasks.insert(pod.task);
  for (const JobReport::Task& one : job.tasks) tasks.insert(one.name);
  if (task.empty() || tasks.contains(task)) return {};
  return Fail(
      Code::kNotFound,
      fmt::format("{} has no task \"{}\" (want {})", NameOf(job), task, fmt::join(tasks, ", ")));
}

Result<bool> IsVirtual(LiveCluster& cluster, const std::string& node) {
  TRY_ASSIGN(const std::string text, cluster.Get({kube::kNodes, {}, node, {}}));
  const nlohmann::json object = ParseJsonOrNull(text);
  return TextAt(object, {"metadata", "labels", "strata.sh/virtual"}) == "true";
}

// An error where pods that said nothing cannot say anything.
Status CheckContainers(LiveCluster& cluster,
                       const JobReport& job,
                       const std::vector<JobReport::Pod>& pods) {
  TRY_ASSIGN(const bool is_virtual, IsVirtual(cluster, pods.front().node));
  if (!is_virtual) return {};
  return Fail(Code::kNotFound,
              fmt::format("{}: its pods are on virtual nodes, which run no containers and have no "
                          "logs",
                          NameOf(job)));
}

kube::ResourcePath LogPath(const JobReport& job, const JobReport::Pod& pod) {
  return {kube::kPods, job.key.ns, pod.name, "log"};
}

std::string PrefixOf(const JobReport::Pod& pod) {
  return "[" + pod.name + "] ";
}

enum class Follow : std::uint8_t { kNo, kYes };

kube::Call LogCall(const kube::ResourcePath& path, const LogChoice& choice, Follow follow) {
  kube::Call call = kube::GetCall(path);
  if (follow == Follow::kYes) call.query += "follow=true&";
  if (choice.tail) call.query += fmt::format("tailLines={}&", *choice.tail);
  if (choice.previous) call.query += "previous=true&";
  if (!choice.container.empty()) call.query += "container=" + kube::Escape(choice.container);
  if (call.query.ends_with('&')) call.query.pop_back();
  return call;
}

// Each is a request of its own that goes on.
constexpr std::size_t kMaxFollowed = 64;

}  // namespace

Result<std::vector<JobReport::Pod>> PodsWithLogs(const JobReport& job, const LogChoice& choice) {
  TRY(CheckTask(job, choice.task));
  std::vector<JobReport::Pod> pods;
  for (const JobReport::Pod& pod : job.pods) {
    const bool chosen = choice.task.empty() || pod.task == choice.task;
    if (chosen && !pod.node.empty()) pods.push_back(pod);
  }
  std::sort(pods.begin(), pods.end(), [](const JobReport::Pod& a, const JobReport::Pod& b) {
    return NaturalLess(a.name, b.name);
  });
  if (!pods.empty()) return pods;
  return Fail(Code::kNotFound,
              fmt::format("{} is {} and none of its {} pods has a node, so there are no logs; "
                          "strata explain {}",
                          NameOf(job),
                          job.phase,
                          job.pods.size(),
                          NameOf(job)));
}

std::string PrefixLines(const std::string& prefix, const std::string& text) {
  std::string out;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    out.append(prefix).append(text, begin, end - begin).push_back('\n');
    begin = end + 1;
  }
  return out;
}

Result<std::string> ReadLogs(LiveCluster& cluster,
                             const JobReport& job,
                             const std::vector<JobReport::Pod>& pods,
                             const LogChoice& choice) {
  std::string out;
  for (const JobReport::Pod& pod : pods) {
    const kube::ResourcePath path = LogPath(job, pod);
    TRY_ASSIGN(const std::string text, cluster.Do(path, LogCall(path, choice, Follow::kNo)));
    out += pods.size() == 1 ? text : PrefixLines(PrefixOf(pod), text);
  }
  if (out.empty()) TRY(CheckContainers(cluster, job, pods));
  return out;
}

Status FollowJobLogs(LiveCluster& cluster,
                     const JobReport& job,
                     const std::vector<JobReport::Pod>& pods,
                     const LogChoice& choice,
                     const TakeLines& take) {
  if (pods.size() > kMaxFollowed) {
    return Fail(Code::kInvalidArgument,
                fmt::format("{}: -f follows at most {} pods, not {}; --task chooses some of them",
                            NameOf(job),
                            kMaxFollowed,
                            pods.size()));
  }
  std::vector<FollowedLog> logs;
  logs.reserve(pods.size());
  for (const JobReport::Pod& pod : pods) {
    const kube::ResourcePath path = LogPath(job, pod);
    logs.push_back(
        {path, LogCall(path, choice, Follow::kYes), pods.size() == 1 ? "" : PrefixOf(pod)});
  }
  bool said = false;
  const auto take_some = [&](std::string_view lines) {
    said = true;
    return take(lines);
  };
  TRY(FollowLogs(cluster.client(), cluster.config(), logs, take_some));
  return said ? Status() : CheckContainers(cluster, job, pods);
}

}  // namespace strata::inspect
