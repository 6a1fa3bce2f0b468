#include "inspect/job_report.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>

#include "convert/load_cluster.h"
#include "inspect/snapshot.h"
#include "model/cluster_state.h"
#include "objects/cursor.h"
#include "objects/expand_job.h"
#include "objects/value.h"
#include "objects/volcano_keys.h"

namespace strata::inspect {
namespace {

using objects::Cursor;
using objects::Document;
using objects::ReadLog;

// status.state of a Job.
struct JobState {
  std::string phase = "Pending";
  std::string reason;
  std::string message;
};

JobState ReadJobState(const std::string& text) {
  JobState state;
  const Result<Document> document = Document::ParseJson(text);
  if (!document) return state;
  ReadLog log;
  const Cursor object(document->root(), log);
  const Cursor status = object.At("status");
  const Cursor from = status.At("state");
  const Cursor phase = from.At("phase");
  phase.Read(state.phase);
  from.At("reason").Read(state.reason);
  from.At("message").Read(state.message);
  if (state.phase.empty()) state.phase = "Pending";
  return state;
}

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

// Whether the pod stands where it stands: one that has ended says nothing about now.
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

class Reporter {
 public:
  Reporter(const objects::ObjectSet& objects, const ClusterState& network)
      : network_(network), tree_(network.tree()) {
    for (const objects::Pod& pod : objects.pods) {
      pods_[{pod.meta.ns, LabelOf(pod.meta, objects::kJobNameKey)}].push_back(&pod);
    }
    for (const objects::PodGroup& group : objects.pod_groups) {
      groups_[{group.meta.ns, group.meta.name}] = &group;
    }
  }

  [[nodiscard]] JobReport Report(const objects::Job& job, const JobState& state) const {
    JobReport report;
    report.key = {job.meta.ns, job.meta.name};
    report.uid = job.meta.uid;
    report.phase = state.phase;
    report.queue = job.queue;
    report.min_available = job.min_available;
    report.created = job.meta.created;
    for (const objects::JobTask& task : job.tasks) {
      report.tasks.push_back({task.name, task.replicas, task.min_available, {}});
      report.total += static_cast<std::size_t>(task.replicas);
    }
    AddPods(report);
    AddReason(job, state, report);
    return report;
  }

 private:
  void AddPods(JobReport& report) const {
    const auto found = pods_.find(report.key);
    if (found == pods_.end()) return;
    HyperNodeId common;
    for (const objects::Pod* pod : found->second) {
      JobReport::Pod& row = report.pods.emplace_back();
      row.name = pod->meta.name;
      row.task = LabelOf(pod->meta, objects::kTaskSpecKey);
      row.phase = PhaseOf(*pod);
      row.node = pod->spec.node_name;
      if (IsReady(*pod)) ++report.ready;
      for (JobReport::Task& task : report.tasks) {
        if (task.name == row.task) ++task.pods[row.phase];
      }
      const std::optional<NodeId> node = network_.nodes().Find(row.node);
      if (!node) continue;
      const HyperNodeId leaf = tree_.LeafOf(tree_.ChainOf(*node));
      if (leaf != tree_.top()) row.leaf = tree_.at(leaf).name;
      if (IsThere(*pod)) common = tree_.Lca(common, leaf);
    }
    std::sort(report.pods.begin(), report.pods.end(), [](const auto& a, const auto& b) {
      return std::tie(a.leaf, a.name) < std::tie(b.leaf, b.name);
    });
    if (!common.valid() || common == tree_.top()) return;
    report.domain = tree_.at(common).name;
    report.tier = tree_.at(common).tier;
  }

  [[nodiscard]] const objects::PodGroup* GroupOf(const objects::Job& job) const {
    for (const std::string& name : {objects::PodGroupNameOf(job), job.meta.name}) {
      const auto found = groups_.find({job.meta.ns, name});
      if (found != groups_.end()) return found->second;
    }
    return nullptr;
  }

  void AddReason(const objects::Job& job, const JobState& state, JobReport& report) const {
    report.reason = state.reason;
    report.message = state.message;
    const objects::PodGroup* group = GroupOf(job);
    if (group != nullptr) {
      report.group = group->meta.name;
      report.conditions = group->conditions;
    }
    if (state.phase != "Pending") return;
    if (group == nullptr) {
      report.reason = "NoPodGroup";
      report.message = "its PodGroup does not exist yet; is a job controller running?";
      return;
    }
    const objects::Condition* waits = objects::FindCondition(group->conditions, "Unschedulable");
    if (waits == nullptr || waits->status != "True") return;
    report.reason = waits->reason;
    report.message = waits->message;
  }

  const ClusterState& network_;
  const HyperNodeTree& tree_;
  std::map<kube::ObjectKey, std::vector<const objects::Pod*>> pods_;
  std::map<kube::ObjectKey, const objects::PodGroup*> groups_;
};

// None when the text is not an event about one of `names`.
std::optional<EventLine> ReadEvent(const std::string& text, const std::set<std::string>& names) {
  const Result<Document> document = Document::ParseJson(text);
  if (!document) return std::nullopt;
  ReadLog log;
  const Cursor object(document->root(), log);
  const Cursor about = object.At("involvedObject");
  std::string kind;
  std::string name;
  EventLine event;
  std::optional<Time> last;
  std::optional<Time> made;
  about.At("kind").Read(kind);
  about.At("name").Read(name);
  object.At("lastTimestamp").Read(last);
  object.At("eventTime").Read(made);
  object.At("type").Read(event.type);
  object.At("reason").Read(event.reason);
  object.At("message").Read(event.message);
  object.At("count").Read(event.count);
  if (!log.error.empty() || !names.contains(name)) return std::nullopt;
  event.last = last.value_or(made.value_or(Time{}));
  event.object = kind + " " + name;
  return event;
}

}  // namespace

Result<JobObjects> ReadJobObjects(LiveCluster& cluster, const std::string& ns) {
  JobObjects objects;
  TRY_ASSIGN(objects.jobs, cluster.ListNeeded(kube::kJobs, ns, {}));
  kube::ListOptions of_jobs;
  of_jobs.label_selector = objects::kJobNameKey;
  const std::array<std::tuple<kube::Resource, std::string, kube::ListOptions>, 4> parts = {
      {{kube::kPodGroups, ns, {}},
       {kube::kPods, ns, of_jobs},
       {kube::kNodes, "", {}},
       {kube::kHyperNodes, "", {}}}};
  for (const auto& [resource, where, options] : parts) {
    TRY_ASSIGN(auto found, cluster.List(resource, where, options));
    if (!found) continue;
    std::move(found->begin(), found->end(), std::back_inserter(objects.others));
  }
  return objects;
}

Result<std::vector<JobReport>> MakeJobReports(const JobObjects& texts,
                                              std::vector<std::string>& warnings) {
  std::vector<std::string_view> all;
  std::map<kube::ObjectKey, JobState> states;
  for (const ListedObject& job : texts.jobs) {
    all.push_back(job.text);
    states.emplace(job.key, ReadJobState(job.text));
  }
  for (const ListedObject& object : texts.others) all.push_back(object.text);
  TRY_ASSIGN(const objects::ObjectSet objects, ParseTexts(all));
  warnings = objects.warnings;
  TRY_ASSIGN(const std::unique_ptr<ClusterState> network, LoadNetwork(objects));
  const Reporter reporter(objects, *network);
  std::vector<JobReport> reports;
  for (const objects::Job& job : objects.jobs) {
    reports.push_back(reporter.Report(job, states[{job.meta.ns, job.meta.name}]));
  }
  return reports;
}

std::vector<EventLine> LastEvents(const std::vector<ListedObject>& events,
                                  const std::set<std::string>& names,
                                  std::size_t count) {
  std::vector<EventLine> lines;
  for (const ListedObject& event : events) {
    if (auto line = ReadEvent(event.text, names)) lines.push_back(std::move(*line));
  }
  std::stable_sort(lines.begin(), lines.end(), [](const EventLine& a, const EventLine& b) {
    return a.last < b.last;
  });
  if (lines.size() > count) {
    lines.erase(lines.begin(), lines.end() - static_cast<std::ptrdiff_t>(count));
  }
  return lines;
}

}  // namespace strata::inspect
