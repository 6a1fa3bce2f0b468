#include "whatif/cluster.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "convert/specs.h"
#include "objects/default_pod_group.h"
#include "objects/pod_group.h"
#include "objects/volcano_keys.h"

namespace strata {
namespace {

// How the message begins that a scheduler gives to a pod which no scheduler serves: see
// live/stranded_pods.cc.
constexpr std::string_view kOwnMark = "no scheduler with the name ";

void Raise(Time& latest, const objects::Metadata& meta) {
  latest = std::max(latest, meta.created);
  if (meta.deleted) latest = std::max(latest, *meta.deleted);
}

void Raise(Time& latest, const std::vector<objects::Condition>& conditions) {
  for (const objects::Condition& condition : conditions) {
    if (condition.last_transition) latest = std::max(latest, *condition.last_transition);
  }
}

template <typename... Vectors>
void RaiseByMeta(Time& latest, const Vectors&... vectors) {
  const auto raise = [&](const auto& objects) {
    for (const auto& object : objects) Raise(latest, object.meta);
  };
  (raise(vectors), ...);
}

// Everything downstream looks at one annotation only.
void UnifyGroupAnnotations(objects::ObjectSet& objects) {
  for (objects::Pod& pod : objects.pods) {
    const std::string group = GroupOf(pod);
    if (group.empty()) continue;
    pod.meta.annotations.insert_or_assign(std::string(objects::kGroupNameAnnotation),
                                          group.substr(group.find('/') + 1));
  }
}

using Names = std::set<std::string, std::less<>>;

Names GroupNames(const objects::ObjectSet& objects) {
  Names names;
  for (const objects::PodGroup& group : objects.pod_groups) {
    names.insert(objects::NamespacedName(group.meta));
  }
  return names;
}

// The PodGroup of a pod that has a node was admitted long ago; it must not ask its queue again for
// what the pod holds.
void AdmitGroupsOfPlacedPods(const Names& made, objects::ObjectSet& objects) {
  std::map<std::string, objects::PodGroupPhase> phases;
  for (const objects::Pod& pod : objects.pods) {
    if (pod.spec.node_name.empty()) continue;
    const TaskStatus status = StatusOf(pod);
    const bool over = status == TaskStatus::kSucceeded || status == TaskStatus::kFailed;
    phases[GroupOf(pod)] =
        over ? objects::PodGroupPhase::kCompleted : objects::PodGroupPhase::kRunning;
  }
  for (objects::PodGroup& group : objects.pod_groups) {
    const std::string name = objects::NamespacedName(group.meta);
    const auto it = phases.find(name);
    if (it != phases.end() && made.contains(name)) group.phase = it->second;
  }
}

// Gives lone pods their PodGroups and returns the names of these.
Result<Names> AddPodGroups(objects::ObjectSet& objects, const TakesPod& takes) {
  const Names given = GroupNames(objects);
  TRY(objects::AddDefaultPodGroups(objects, takes));
  Names made = GroupNames(objects);
  std::erase_if(made, [&](const std::string& name) { return given.contains(name); });
  AdmitGroupsOfPlacedPods(made, objects);
  return made;
}

}  // namespace

bool IsOurs(const objects::Pod& pod) {
  return std::find(objects::kUsualSchedulers.begin(),
                   objects::kUsualSchedulers.end(),
                   pod.spec.scheduler_name) != objects::kUsualSchedulers.end();
}

Time LatestTime(const objects::ObjectSet& objects) {
  Time latest{};
  RaiseByMeta(latest,
              objects.nodes,
              objects.pods,
              objects.namespaces,
              objects.config_maps,
              objects.volumes,
              objects.claims,
              objects.quotas,
              objects.storage_classes,
              objects.csi_nodes,
              objects.priority_classes,
              objects.disruption_budgets,
              objects.pod_groups,
              objects.queues,
              objects.hypernodes,
              objects.jobs,
              objects.numa_topologies);
  for (const objects::Node& node : objects.nodes) Raise(latest, node.conditions);
  for (const objects::Pod& pod : objects.pods) Raise(latest, pod.status.conditions);
  for (const objects::PodGroup& group : objects.pod_groups) Raise(latest, group.conditions);
  return latest;
}

Result<CompletedObjects> CompleteObjects(objects::ObjectSet objects,
                                         TakesPod takes,
                                         const objects::MakesPods& makes_pods) {
  CompletedObjects completed;
  completed.latest = LatestTime(objects);
  UnifyGroupAnnotations(objects);
  completed.group_of_job = objects::GroupsOfJobs(objects);
  TRY(objects::ExpandJobs(objects, makes_pods));
  TRY_ASSIGN(completed.made_groups, AddPodGroups(objects, takes));
  completed.objects = std::move(objects);
  completed.takes = std::move(takes);
  return completed;
}

bool NobodyLooked(const objects::Pod& pod) {
  if (!pod.spec.node_name.empty() || StatusOf(pod) != TaskStatus::kPending) return false;
  const objects::Condition* said = objects::FindCondition(pod.status.conditions, "PodScheduled");
  return said == nullptr || said->message.starts_with(kOwnMark);
}

std::vector<std::string> OtherSchedulers(const CompletedObjects& completed) {
  struct Ignored {
    std::string first;
    std::size_t more = 0;
  };
  std::map<std::string, Ignored> by_name;
  for (const objects::Pod& pod : completed.objects.pods) {
    if (completed.takes(pod) || !NobodyLooked(pod)) continue;
    const auto [known, is_new] =
        by_name.try_emplace(pod.spec.scheduler_name, Ignored{objects::Location(pod.meta)});
    if (!is_new) ++known->second.more;
  }
  std::vector<std::string> lines;
  lines.reserve(by_name.size());
  for (const auto& [name, ignored] : by_name) {
    lines.push_back(
        fmt::format("{}: schedulerName \"{}\" is not served, so the pod is ignored "
                    "(want {}){}",
                    ignored.first,
                    name,
                    fmt::join(objects::kUsualSchedulers, ", "),
                    ignored.more == 0 ? "" : fmt::format(" (and {} more pods)", ignored.more)));
  }
  return lines;
}

Result<LoadedCluster> LoadCompleted(const CompletedObjects& completed) {
  LoadedCluster cluster;
  cluster.latest = completed.latest;
  cluster.made_groups = completed.made_groups;
  cluster.group_of_job = completed.group_of_job;
  cluster.state = std::make_unique<ClusterState>();
  TRY_ASSIGN(cluster.load, LoadCluster(completed.objects, completed.takes, *cluster.state));
  return cluster;
}

Result<LoadedCluster> BuildCluster(objects::ObjectSet objects) {
  TRY_ASSIGN(const CompletedObjects completed, CompleteObjects(std::move(objects)));
  return LoadCompleted(completed);
}

}  // namespace strata
