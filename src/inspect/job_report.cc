#include "inspect/job_report.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>

#include "convert/gpu_request.h"
#include "convert/load_cluster.h"
#include "convert/specs.h"
#include "inspect/job_obstacles.h"
#include "inspect/snapshot.h"
#include "inspect/status_facts.h"
#include "model/cluster_state.h"
#include "objects/expand_job.h"
#include "objects/pod_request.h"
#include "objects/priority.h"
#include "objects/volcano_keys.h"

namespace strata::inspect {
namespace {

constexpr std::array<std::pair<std::string_view, JobState>, 4> kStates = {
    {{"waiting", JobState::kWaiting},
     {"running", JobState::kRunning},
     {"finished", JobState::kFinished},
     {"suspended", JobState::kSuspended}}};

// Phases of Jobs, then those that only PodGroups have.
constexpr std::array<std::pair<std::string_view, JobState>, 12> kPhases = {
    {{"Pending", JobState::kWaiting},
     {"Restarting", JobState::kWaiting},
     {"Running", JobState::kRunning},
     {"Completing", JobState::kRunning},
     {"Terminating", JobState::kRunning},
     {"Completed", JobState::kFinished},
     {"Terminated", JobState::kFinished},
     {"Failed", JobState::kFinished},
     {"Aborting", JobState::kSuspended},
     {"Aborted", JobState::kSuspended},
     {"Inqueue", JobState::kWaiting},
     {"Unknown", JobState::kRunning}}};

std::string_view Word(objects::PodPhase phase) {
  switch (phase) {
    case objects::PodPhase::kPending:
      return "Pending";
    case objects::PodPhase::kRunning:
      return "Running";
    case objects::PodPhase::kSucceeded:
      return "Succeeded";
    case objects::PodPhase::kFailed:
      return "Failed";
    case objects::PodPhase::kUnknown:
      return "Unknown";
  }
  return "Unknown";
}

std::string PhaseOf(const objects::Pod& pod) {
  return pod.meta.deleted ? "Terminating" : std::string(Word(pod.status.phase));
}

bool IsReady(const objects::Pod& pod) {
  if (pod.status.phase != objects::PodPhase::kRunning || pod.meta.deleted) return false;
  const objects::Condition* ready = objects::FindCondition(pod.status.conditions, "Ready");
  return ready == nullptr || ready->status == "True";
}

// A pod that has ended says nothing about where its job is now.
bool IsThere(const objects::Pod& pod) {
  return !pod.spec.node_name.empty() && pod.status.phase != objects::PodPhase::kSucceeded &&
         pod.status.phase != objects::PodPhase::kFailed;
}

std::string LabelOf(const objects::Metadata& meta, std::string_view key) {
  const std::string* value = objects::Find(meta.labels, key);
  if (value == nullptr) value = objects::Find(meta.annotations, key);
  return value == nullptr ? "" : *value;
}

// The tree of HyperNodes over the nodes, and nothing else.
Result<std::unique_ptr<ClusterState>> LoadNetwork(const objects::ObjectSet& objects) {
  objects::ObjectSet network;
  network.nodes = objects.nodes;
  network.hypernodes = objects.hypernodes;
  auto state = std::make_unique<ClusterState>();
  TRY(LoadCluster(
      network, [](const objects::Pod&) { return false; }, *state));
  return state;
}

bool IsJob(const objects::OwnerReference& owner) {
  return owner.kind == kube::kJobs.kind && owner.api_version == kube::ApiVersion(kube::kJobs);
}

// The controller of a PodGroup, or whatever else owns it.
const objects::OwnerReference* OwnerOf(const objects::PodGroup& group) {
  const objects::OwnerReference* found = nullptr;
  for (const objects::OwnerReference& owner : group.meta.owners) {
    if (found == nullptr || (owner.controller && !found->controller)) found = &owner;
  }
  return found;
}

bool CountsGpus(std::string_view resource) {
  return resource.ends_with("/gpu") || resource.ends_with("/vgpu-number");
}

// Adds what `count` such pods take of GPUs.
void AddGpus(objects::Pod pod, std::int64_t count, JobReport& report) {
  AddDefaultGpuCounts(pod.spec);
  for (const auto& [resource, amount] : objects::PodRequest(pod.spec)) {
    if (CountsGpus(resource)) report.gpus += amount * count;
  }
  const auto gpus = ReadGpuRequest(pod, nullptr);
  report.shares_gpus = report.shares_gpus || (gpus && gpus->TakesShares());
}

class Reporter {
 public:
  using PodFacts = std::map<kube::ObjectKey, PodStatusFacts>;

  // Without `classes` it is unknown which there are.
  Reporter(const objects::ObjectSet& objects,
           const ClusterState& network,
           const PodFacts& facts,
           const objects::PriorityTable* classes)
      : network_(network), tree_(network.tree()), facts_(facts), classes_(classes) {
    for (const objects::Pod& pod : objects.pods) {
      pods_[{pod.meta.ns, LabelOf(pod.meta, objects::kJobNameKey)}].push_back(&pod);
      members_[GroupOf(pod)].push_back(&pod);
    }
    for (const objects::PodGroup& group : objects.pod_groups) {
      groups_[{group.meta.ns, group.meta.name}] = &group;
    }
  }

  [[nodiscard]] JobReport ReportJob(const objects::Job& job, const JobStatusFacts& status) const {
    JobReport report;
    report.labels = job.meta.labels;
    report.key = {job.meta.ns, job.meta.name};
    report.uid = job.meta.uid;
    report.phase = status.phase;
    report.state = StateOfPhase(status.phase).value_or(JobState::kWaiting);
    report.queue = job.queue;
    report.min_available = job.min_available;
    report.created = job.meta.created;
    report.since = job.phase_since;
    report.started = job.first_ran;
    if (report.state == JobState::kFinished) report.finished = job.phase_since;
    for (const objects::JobTask& task : job.tasks) {
      report.tasks.push_back({task.name, task.replicas, task.min_available, {}});
      report.total += static_cast<std::size_t>(task.replicas);
      objects::Pod pod;
      pod.spec = task.pod_template.spec;
      pod.meta.annotations = task.pod_template.annotations;
      AddGpus(std::move(pod), task.replicas, report);
    }
    const auto found = pods_.find(report.key);
    if (found != pods_.end()) AddPods(found->second, report);
    AddReason(job, status, report);
    if (classes_ != nullptr) AddMissingClass(*classes_, job, report);
    if (found != pods_.end()) AddUnserved(found->second, report);
    return report;
  }

  // A PodGroup that belongs to no Job.
  [[nodiscard]] JobReport ReportGroup(const objects::PodGroup& group) const {
    JobReport report;
    report.kind = JobReport::Kind::kPodGroup;
    if (const objects::OwnerReference* owner = OwnerOf(group)) {
      report.owner = owner->kind + "/" + owner->name;
    }
    report.labels = group.meta.labels;
    report.key = {group.meta.ns, group.meta.name};
    report.uid = group.meta.uid;
    report.phase = ToString(group.phase);
    report.state = StateOfPhase(report.phase).value_or(JobState::kWaiting);
    report.queue = group.queue;
    report.group = group.meta.name;
    report.min_available = group.min_member;
    report.created = group.meta.created;
    report.conditions = group.conditions;
    AddMembers(group, report);
    if (report.state != JobState::kFinished) report.finished.reset();
    AddWaitReason(group, report);
    const auto found = members_.find(objects::NamespacedName(group.meta));
    if (found != members_.end()) AddUnserved(found->second, report);
    return report;
  }

  [[nodiscard]] const objects::PodGroup* GroupOfJob(const objects::Job& job) const {
    for (const std::string& name : {objects::PodGroupNameOf(job), job.meta.name}) {
      const auto found = groups_.find({job.meta.ns, name});
      if (found != groups_.end()) return found->second;
    }
    return nullptr;
  }

 private:
  using Pods = std::vector<const objects::Pod*>;

  void AddMembers(const objects::PodGroup& group, JobReport& report) const {
    const auto found = members_.find(objects::NamespacedName(group.meta));
    report.total = static_cast<std::size_t>(std::max(group.min_member, 0));
    if (found == members_.end()) {
      if (!group.min_resources) return;
      for (const auto& [resource, amount] : *group.min_resources) {
        if (CountsGpus(resource)) report.gpus += amount;
      }
      return;
    }
    report.total = std::max(report.total, found->second.size());
    for (const objects::Pod* pod : found->second) AddGpus(*pod, 1, report);
    AddPods(found->second, report);
  }

  void AddPods(const Pods& pods, JobReport& report) const {
    HyperNodeId common;
    for (const objects::Pod* pod : pods) {
      JobReport::Pod& row = report.pods.emplace_back();
      row.name = pod->meta.name;
      row.task = LabelOf(pod->meta, objects::kTaskSpecKey);
      row.phase = PhaseOf(*pod);
      row.node = pod->spec.node_name;
      if (IsReady(*pod)) ++report.ready;
      for (JobReport::Task& task : report.tasks) {
        if (task.name == row.task) ++task.pods[row.phase];
      }
      AddHistory(*pod, report);
      const bool counts = IsThere(*pod) || report.state == JobState::kFinished;
      if (counts && !row.node.empty()) report.nodes.insert(row.node);
      const std::optional<NodeId> node = network_.nodes().Find(row.node);
      if (!node) continue;
      const HyperNodeId leaf = tree_.LeafOf(tree_.ChainOf(*node));
      if (leaf != tree_.top()) row.leaf = tree_.at(leaf).name;
      if (counts) common = tree_.Lca(common, leaf);
    }
    std::sort(report.pods.begin(), report.pods.end(), [](const auto& a, const auto& b) {
      return std::tie(a.leaf, a.name) < std::tie(b.leaf, b.name);
    });
    if (!common.valid() || common == tree_.top()) return;
    report.domain = tree_.at(common).name;
    report.tier = tree_.at(common).tier;
  }

  // What the status of a pod says of the past. Pods come in the order of their names.
  void AddHistory(const objects::Pod& pod, JobReport& report) const {
    const auto found = facts_.find({pod.meta.ns, pod.meta.name});
    if (found == facts_.end()) return;
    const PodStatusFacts& facts = found->second;
    if (facts.started) {
      report.started = std::min(report.started.value_or(*facts.started), *facts.started);
    }
    if (facts.finished && report.kind == JobReport::Kind::kPodGroup) {
      report.finished = std::max(report.finished.value_or(*facts.finished), *facts.finished);
    }
    if (!report.exit_code) report.exit_code = facts.exit_code;
  }

  void AddReason(const objects::Job& job, const JobStatusFacts& status, JobReport& report) const {
    report.reason = status.reason;
    report.message = status.message;
    const objects::PodGroup* group = GroupOfJob(job);
    if (group != nullptr) {
      report.group = group->meta.name;
      report.conditions = group->conditions;
    }
    if (group != nullptr && status.phase != "Restarting") AddWaitReason(*group, report);
    if (status.phase != "Pending" || group != nullptr) return;
    report.reason = "NoPodGroup";
    report.message = "its PodGroup does not exist yet; is a job controller running?";
  }

  // The condition is false once a job has its minimum; what it says of the rest is true then.
  static void AddWaitReason(const objects::PodGroup& group, JobReport& report) {
    const objects::Condition* waits = objects::FindCondition(group.conditions, "Unschedulable");
    if (waits == nullptr || waits->reason.empty()) return;
    const bool waiting = report.state == JobState::kWaiting && waits->status == "True";
    const bool partly = report.state == JobState::kRunning && waits->status == "False" &&
                        !waits->message.empty() && HasWaitingPod(report);
    if (!waiting && !partly) return;
    report.reason = waits->reason;
    report.message = waits->message;
  }

  static bool HasWaitingPod(const JobReport& report) {
    return std::any_of(report.pods.begin(), report.pods.end(), [](const JobReport::Pod& pod) {
      return pod.phase == "Pending" && pod.node.empty();
    });
  }

  const ClusterState& network_;
  const HyperNodeTree& tree_;
  const PodFacts& facts_;
  const objects::PriorityTable* classes_;
  std::map<kube::ObjectKey, Pods> pods_;              // by Job
  std::map<std::string, Pods, std::less<>> members_;  // by PodGroup
  std::map<kube::ObjectKey, const objects::PodGroup*> groups_;
};

std::vector<JobReport> ReportAll(const objects::ObjectSet& objects,
                                 const Reporter& reporter,
                                 const std::map<kube::ObjectKey, JobStatusFacts>& states) {
  std::vector<JobReport> reports;
  std::set<const objects::PodGroup*> of_jobs;
  for (const objects::Job& job : objects.jobs) {
    const auto found = states.find({job.meta.ns, job.meta.name});
    reports.push_back(
        reporter.ReportJob(job, found == states.end() ? JobStatusFacts() : found->second));
    of_jobs.insert(reporter.GroupOfJob(job));
  }
  for (const objects::PodGroup& group : objects.pod_groups) {
    const objects::OwnerReference* owner = OwnerOf(group);
    if ((owner != nullptr && IsJob(*owner)) || of_jobs.contains(&group)) continue;
    reports.push_back(reporter.ReportGroup(group));
  }
  std::stable_sort(reports.begin(), reports.end(), [](const JobReport& a, const JobReport& b) {
    return a.key < b.key;
  });
  return reports;
}

}  // namespace

std::string_view ToString(JobState state) {
  for (const auto& [word, value] : kStates) {
    if (value == state) return word;
  }
  return "waiting";
}

std::optional<JobState> StateOfPhase(std::string_view phase) {
  for (const auto& [word, state] : kPhases) {
    if (word == phase) return state;
  }
  return std::nullopt;
}

std::string ShownName(const JobReport& job) {
  const bool made = job.kind == JobReport::Kind::kPodGroup && job.key.name.starts_with("podgroup-");
  return made && !job.owner.empty() ? job.owner : job.key.name;
}

std::optional<Duration> TimeOf(const JobReport& job, Time now) {
  const auto between = [](const std::optional<Time>& start, const std::optional<Time>& end) {
    return start && end ? std::optional<Duration>(*end - *start) : std::nullopt;
  };
  switch (job.state) {
    case JobState::kWaiting:
      if (job.created == Time{}) return std::nullopt;
      return now - std::max(job.created, job.since.value_or(job.created));
    case JobState::kRunning:
      // It is completing or being terminated since then, and runs for longer.
      if (job.phase != "Running" || !job.since) return between(job.started, now);
      return now - std::max(*job.since, job.started.value_or(*job.since));
    case JobState::kFinished:
      return between(job.started, job.finished);
    case JobState::kSuspended:
      return between(job.since, now);
  }
  return std::nullopt;
}

JobTexts JobObjects::Texts() const {
  JobTexts texts;
  for (const ListedObject& object : jobs) texts.jobs.emplace_back(object.text);
  for (const ListedObject& object : pods) texts.pods.emplace_back(object.text);
  for (const ListedObject& object : others) texts.others.emplace_back(object.text);
  texts.has_classes = has_classes;
  return texts;
}

Result<JobObjects> ReadJobObjects(LiveCluster& cluster, const std::string& ns) {
  JobObjects objects;
  TRY_ASSIGN(objects.jobs, cluster.ListNeeded(kube::kJobs, ns, {}));
  const std::array<std::tuple<kube::Resource, std::string, std::vector<ListedObject>*>, 4> parts = {
      {{kube::kPodGroups, ns, &objects.others},
       {kube::kPods, ns, &objects.pods},
       {kube::kNodes, "", &objects.others},
       {kube::kHyperNodes, "", &objects.others}}};
  for (const auto& [resource, where, list] : parts) {
    TRY_ASSIGN(auto found, cluster.List(resource, where, {}));
    if (!found) continue;
    std::move(found->begin(), found->end(), std::back_inserter(*list));
  }
  // A user that may not read the classes gets the list without what they say.
  auto classes = cluster.List(kube::kPriorityClasses, "", {});
  if (!classes || !*classes) return objects;
  objects.has_classes = true;
  std::move((*classes)->begin(), (*classes)->end(), std::back_inserter(objects.others));
  return objects;
}

Result<std::vector<JobReport>> MakeJobReports(const JobTexts& texts,
                                              std::vector<std::string>& warnings) {
  std::vector<std::string_view> all = texts.others;
  all.insert(all.end(), texts.jobs.begin(), texts.jobs.end());
  all.insert(all.end(), texts.pods.begin(), texts.pods.end());
  std::map<kube::ObjectKey, JobStatusFacts> states;
  for (const std::string_view job : texts.jobs) {
    JobStatusFacts facts = ReadJobStatus(job);
    states.insert_or_assign(facts.key, std::move(facts));
  }
  Reporter::PodFacts pods;
  for (const std::string_view pod : texts.pods) {
    PodStatusFacts facts = ReadPodStatus(pod);
    pods.insert_or_assign(facts.key, std::move(facts));
  }
  TRY_ASSIGN(const objects::ObjectSet objects, ParseTexts(all));
  warnings = objects.warnings;
  TRY_ASSIGN(const std::unique_ptr<ClusterState> network, LoadNetwork(objects));
  const objects::PriorityTable classes(objects.priority_classes);
  const Reporter reporter(objects, *network, pods, texts.has_classes ? &classes : nullptr);
  return ReportAll(objects, reporter, states);
}

}  // namespace strata::inspect
