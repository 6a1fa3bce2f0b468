#include "convert/load_cluster.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "convert/amounts.h"
#include "convert/gpu_request.h"
#include "convert/gpu_warnings.h"
#include "convert/numa_rules.h"
#include "convert/pod_rules.h"
#include "convert/specs.h"
#include "convert/volume_rules.h"
#include "objects/priority.h"

namespace strata {
namespace {

// Puts the name of the object before an error.
template <typename T>
Result<T> Of(const objects::Metadata& meta, Result<T> result) {
  if (result) return result;
  return tl::unexpected<Error>(std::move(result).error().Context(Location(meta)));
}

// Container lists rather than pod requests: names are all that is wanted, and cheap.
void CollectContainerNames(const std::vector<objects::Container>& containers,
                           std::set<std::string_view, std::less<>>& names) {
  for (const objects::Container& container : containers) CollectNames(container.requests, names);
}

void InternNames(const objects::ObjectSet& objects, ResourceNames& resource_names) {
  std::set<std::string_view, std::less<>> names;
  for (const objects::Node& node : objects.nodes) CollectNames(node.allocatable, names);
  for (const objects::Queue& queue : objects.queues) {
    for (const auto* list : {&queue.capability, &queue.guarantee, &queue.deserved}) {
      CollectNames(*list, names);
    }
    for (const auto& [group, limits] : queue.node_group_limits) CollectNames(limits, names);
  }
  for (const objects::ResourceQuota& quota : objects.quotas) {
    CollectNames(quota.hard, names);
    CollectNames(quota.used, names);
  }
  for (const objects::PodGroup& group : objects.pod_groups) {
    if (group.min_resources) CollectNames(*group.min_resources, names);
  }
  for (const objects::Pod& pod : objects.pods) {
    CollectContainerNames(pod.spec.containers, names);
    CollectContainerNames(pod.spec.init_containers, names);
    if (LacksGpuCounts(pod.spec)) names.insert("nvidia.com/gpu");
    CollectNames(pod.spec.overhead, names);
    if (pod.spec.resources) CollectNames(pod.spec.resources->requests, names);
  }
  for (const std::string_view name : names) resource_names.Intern(name);
}

// The pods of a set, one by one.
class PodLoader {
 public:
  PodLoader(const objects::ObjectSet& objects,
            const objects::PriorityTable& priorities,
            const VolumeRulesReader& volumes,
            bool (*takes)(const objects::Pod&),
            ClusterState& state)
      : priorities_(priorities),
        rules_(objects),
        volumes_(volumes),
        takes_(takes),
        has_numa_(!objects.numa_topologies.empty()),
        state_(state) {}

  Status Load(const objects::Pod& pod) {
    const bool has_node = !pod.spec.node_name.empty();
    const TaskStatus status = StatusOf(pod);
    if (!has_node && (!takes_(pod) || status == TaskStatus::kReleasing)) return {};
    const std::string group = GroupOf(pod);
    const auto job = state_.FindJob(group);
    if (!job) {
      if (!has_node && status == TaskStatus::kPending) ++missing_[group];
      if (!has_node || IsOver(status)) return {};
    }
    TRY_ASSIGN(TaskSpec task, Of(pod.meta, ToTaskSpec(pod, priorities_, state_.resource_names())));
    task.constraints.identity = rules_.IdentityOf(pod);
    task.constraints.rules = rules_.RulesOf(pod);
    task.constraints.volumes = volumes_.RulesOf(pod);
    if (task.constraints.gpus && LimitsGpus(pod.meta.ns)) {
      task.constraints.gpus->quota_namespace = pod.meta.ns;
    }
    TRY_ASSIGN(task.constraints.numa, Of(pod.meta, ToNumaRules(pod)));
    if (!has_numa_) task.constraints.numa.cpus.clear();  // nobody asks, and pods stay alike
    if (job) {
      task.job = *job;
      task.sub_group = SubGroupOf(state_.job(*job).spec.sub_groups, pod.meta.labels);
    }
    TRY_ASSIGN(const TaskId id, Of(pod.meta, state_.AddTask(std::move(task))));
    if (pod.meta.deleted) report_.terminating.push_back(id);
    return {};
  }

  LoadReport TakeReport() {
    for (const auto& [name, pods] : missing_) report_.missing_groups.push_back({name, pods});
    return std::move(report_);
  }

 private:
  static bool IsOver(TaskStatus status) {
    return status == TaskStatus::kSucceeded || status == TaskStatus::kFailed;
  }

  [[nodiscard]] bool LimitsGpus(const std::string& name_space) const {
    const auto quotas = state_.QuotasOf(name_space);
    return std::any_of(
        quotas.begin(), quotas.end(), [](const QuotaSpec* quota) { return !quota->gpus.empty(); });
  }

  const objects::PriorityTable& priorities_;
  PodRulesReader rules_;
  const VolumeRulesReader& volumes_;
  bool (*takes_)(const objects::Pod&);
  bool has_numa_;
  ClusterState& state_;
  std::map<std::string, std::size_t> missing_;
  LoadReport report_;
};

Status LoadQueues(const objects::ObjectSet& objects, ClusterState& state) {
  for (const objects::Queue& queue : objects.queues) {
    TRY_ASSIGN(QueueSpec spec, Of(queue.meta, ToQueueSpec(queue, state.resource_names())));
    state.UpsertQueue(std::move(spec));
  }
  if (state.FindQueue("default")) return {};
  QueueSpec spec;
  spec.name = "default";
  spec.uid = "default";
  spec.parent = "root";
  state.UpsertQueue(std::move(spec));
  return {};
}

}  // namespace

std::string Location(const objects::Metadata& meta) {
  const std::string name = objects::ObjectName(meta);
  return meta.source.empty() ? name : meta.source + ": " + name;
}

Result<LoadReport> LoadCluster(const objects::ObjectSet& objects,
                               bool (*takes)(const objects::Pod&),
                               ClusterState& state) {
  const objects::PriorityTable priorities(objects.priority_classes);
  const VolumeRulesReader volumes(objects);
  InternNames(objects, state.resource_names());
  std::map<std::string_view, NumaSpec> numa;
  for (const objects::NumaTopology& topology : objects.numa_topologies) {
    TRY_ASSIGN(numa[topology.meta.name], Of(topology.meta, ToNumaSpec(topology)));
  }
  for (const objects::Node& node : objects.nodes) {
    TRY_ASSIGN(NodeSpec spec, Of(node.meta, ToNodeSpec(node, state.resource_names())));
    spec.volume_limits = volumes.LimitsOf(node.meta.name);
    if (const auto it = numa.find(node.meta.name); it != numa.end()) spec.numa = it->second;
    TRY(Of(node.meta, state.UpsertNode(std::move(spec))));
  }
  for (const objects::HyperNode& hypernode : objects.hypernodes) {
    state.UpsertHyperNode(hypernode.spec);
  }
  TRY(LoadQueues(objects, state));
  for (const objects::ResourceQuota& quota : objects.quotas) {
    TRY_ASSIGN(QuotaSpec spec, Of(quota.meta, ToQuotaSpec(quota, state.resource_names())));
    state.UpsertQuota(std::move(spec));
  }
  for (const objects::PodGroup& group : objects.pod_groups) {
    TRY_ASSIGN(JobSpec spec, Of(group.meta, ToJobSpec(group, priorities, state.resource_names())));
    state.UpsertJob(std::move(spec));
  }
  PodLoader loader(objects, priorities, volumes, takes, state);
  for (const objects::Pod& pod : objects.pods) TRY(loader.Load(pod));
  state.Settle();  // part of loading, not of the first cycle
  LoadReport report = loader.TakeReport();
  WarnOfGpus(objects, state, report.warnings);
  return report;
}

}  // namespace strata
