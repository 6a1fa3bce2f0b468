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
    const kube::ResourcePath path{kube::kPods, job.key.ns, pod.name, "log"};
    kube::Call call = kube::GetCall(path);
    if (choice.tail) call.query += fmt::format("tailLines={}&", *choice.tail);
    if (choice.previous) call.query += "previous=true&";
    if (!choice.container.empty()) call.query += "container=" + kube::Escape(choice.container);
    if (call.query.ends_with('&')) call.query.pop_back();
    TRY_ASSIGN(const std::string text, cluster.Do(path, std::move(call)));
    out += pods.size() == 1 ? text : PrefixLines("[" + pod.name + "] ", text);
  }
  if (!out.empty()) return out;
  TRY_ASSIGN(const bool is_virtual, IsVirtual(cluster, pods.front().node));
  if (!is_virtual) return out;
  return Fail(Code::kNotFound,
              fmt::format("{}: its pods are on virtual nodes, which run no containers and have no "
                          "logs",
                          NameOf(job)));
}

}  // namespace strata::inspect
