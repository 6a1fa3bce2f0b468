#include <algorithm>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "convert/amounts.h"
#include "inspect/job_report.h"
#include "inspect/render_jobs.h"
#include "json/dump.h"
#include "json/parse.h"
#include "objects/volcano_keys.h"
#include "page/answers.h"
#include "report/gpu_sums.h"

namespace strata::page {
namespace {

using OrderedJson = nlohmann::ordered_json;
using inspect::JobReport;

// By the name of its PodGroup, else by that of the Job that owns it.
std::optional<JobId> FindJobOf(const ClusterFeed& feed,
                               std::string_view ns,
                               std::string_view name) {
  const WorkloadTable& workload = feed.state().workload();
  if (const auto job = workload.FindJob(fmt::format("{}/{}", ns, name))) return job;
  const std::string prefix = fmt::format("{}/", ns);
  for (const JobId id : workload.jobs()) {
    const std::string& full = workload.job(id).spec.name;
    if (!full.starts_with(prefix)) continue;
    const objects::PodGroup* group = feed.FindGroup(full);
    if (group != nullptr && NameOfJob(*group) == name) return id;
  }
  return std::nullopt;
}

std::string PodPhaseWord(const objects::Pod& pod) {
  if (pod.meta.deleted) return "Terminating";
  switch (pod.status.phase) {
    case objects::PodPhase::kPending:
      return "Pending";
    case objects::PodPhase::kRunning:
      return "Running";
    case objects::PodPhase::kSucceeded:
      return "Succeeded";
    case objects::PodPhase::kFailed:
      return "Failed";
    default:
      return "Unknown";
  }
}

std::string RoleOf(const objects::Pod& pod) {
  for (const Labels* labels : {&pod.meta.labels, &pod.meta.annotations}) {
    if (const std::string* role = objects::Find(*labels, objects::kTaskSpecKey)) return *role;
  }
  return "";
}

class JobTeller {
 public:
  JobTeller(const ClusterFeed& feed, const Job& job)
      : feed_(feed), state_(feed.state()), job_(job) {}

  std::string Tell() {
    AddHead();
    for (const SubJob& sub_job : job_.sub_jobs) {
      for (const TaskId task : sub_job.tasks) AddPod(task);
    }
    std::sort(report_.pods.begin(), report_.pods.end(), [](const auto& a, const auto& b) {
      return std::tie(a.leaf, a.name) < std::tie(b.leaf, b.name);
    });
    for (auto& [name, task] : tasks_) report_.tasks.push_back(std::move(task));
    OrderedJson json = ParseOrderedJsonOrNull(inspect::RenderJobJson(report_, {}));
    for (auto& pod : json["pods"]) {
      const auto devices = devices_.find(pod["name"].get<std::string>());
      if (devices != devices_.end()) pod["devices"] = devices->second;
    }
    return DumpJson(json) + "\n";
  }

 private:
  void AddHead() {
    const std::size_t slash = job_.spec.name.find('/');
    report_.key.ns = job_.spec.name.substr(0, slash);
    report_.group = job_.spec.name.substr(slash + 1);
    report_.key.name = report_.group;
    report_.kind = JobReport::Kind::kPodGroup;
    report_.uid = job_.spec.uid;
    report_.phase = ToString(job_.phase);
    report_.state = inspect::StateOfPhase(report_.phase).value_or(inspect::JobState::kWaiting);
    report_.queue = job_.spec.queue;
    report_.min_available = job_.spec.min_available;
    report_.total =
        static_cast<std::size_t>(std::max(job_.spec.min_available, job_.counts.Total()));
    report_.created = job_.spec.created;
    const HyperNodeId domain = DomainOf(state_, job_);
    if (domain.valid() && domain != state_.tree().top()) {
      report_.domain = state_.tree().at(domain).name;
      report_.tier = state_.tree().at(domain).tier;
    }
    if (const auto* group = feed_.FindGroup(job_.spec.name)) AddGroup(*group);
  }

  void AddGroup(const objects::PodGroup& group) {
    report_.key.name = NameOfJob(group);
    if (report_.key.name != group.meta.name) report_.kind = JobReport::Kind::kJob;
    for (const objects::OwnerReference& owner : group.meta.owners) {
      if (owner.controller) report_.owner = owner.kind + "/" + owner.name;
    }
    report_.conditions = group.conditions;
    const auto* waits = objects::FindCondition(group.conditions, "Unschedulable");
    if (report_.state != inspect::JobState::kWaiting || waits == nullptr ||
        waits->status != "True") {
      return;
    }
    report_.reason = waits->reason;
    report_.message = waits->message;
  }

  void AddPod(TaskId id) {
    const Task& task = state_.workload().task(id);
    const Resources& counted = state_.workload().CountedOf(id);
    const std::int64_t gpus = GpusIn(state_.resource_names(), counted.amounts());
    if (gpus > 0) report_.gpus += ToQuantity("nvidia.com/gpu", gpus * 1000);
    const objects::Pod* pod = feed_.FindPod(task.name);
    if (pod == nullptr) return;
    JobReport::Pod& row = report_.pods.emplace_back();
    row.name = pod->meta.name;
    row.task = RoleOf(*pod);
    row.phase = PodPhaseWord(*pod);
    row.node = pod->spec.node_name;
    if (task.status == TaskStatus::kRunning || task.status == TaskStatus::kSucceeded) {
      ++report_.ready;
    }
    JobReport::Task& of_role = tasks_[row.task];
    of_role.name = row.task;
    ++of_role.replicas;
    ++of_role.pods[row.phase];
    if (!row.node.empty()) report_.nodes.insert(row.node);
    if (task.node.valid()) {
      const HyperNodeTree& tree = state_.tree();
      const HyperNodeId leaf = tree.LeafOf(tree.ChainOf(task.node));
      if (leaf != tree.top()) row.leaf = tree.at(leaf).name;
    }
    AddDevices(id, row.name);
  }

  // UUIDs by container, where the pod was given GPUs of its own.
  void AddDevices(TaskId id, const std::string& pod) {
    const GpuClaim& claim = state_.workload().GpusOf(id);
    const auto& request = state_.classes().spec(state_.workload().task(id).class_id).gpus;
    for (std::size_t i = 0; request && i < claim.containers.size(); ++i) {
      if (claim.containers[i].empty() || i >= request->containers.size()) continue;
      OrderedJson& uuids = devices_[pod][request->containers[i].container]["uuids"];
      for (const GpuShare& share : claim.containers[i]) uuids.push_back(share.uuid);
    }
  }

  const ClusterFeed& feed_;
  const ClusterState& state_;
  const Job& job_;
  JobReport report_;
  std::map<std::string, JobReport::Task> tasks_;
  std::map<std::string, OrderedJson> devices_;
};

}  // namespace

Result<std::string> GroupOfJob(const ClusterFeed& feed,
                               std::string_view ns,
                               std::string_view name) {
  const auto job = FindJobOf(feed, ns, name);
  if (!job) return Fail(Code::kNotFound, fmt::format("job \"{}/{}\" not found", ns, name));
  return feed.state().workload().job(*job).spec.name;
}

Result<std::string> AnswerJob(const ClusterFeed& feed, std::string_view ns, std::string_view name) {
  const auto job = FindJobOf(feed, ns, name);
  if (!job) return Fail(Code::kNotFound, fmt::format("job \"{}/{}\" not found", ns, name));
  return JobTeller(feed, feed.state().workload().job(*job)).Tell();
}

}  // namespace strata::page
