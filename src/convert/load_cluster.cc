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
#include "convert/pod_tasks.h"
#include "convert/specs.h"
#include "objects/priority.h"

namespace strata {
namespace {

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

Status LoadPods(const objects::ObjectSet& objects,
                const PodSurroundings& around,
                const TakesPod& takes,
                ClusterState& state,
                LoadReport& report) {
  std::map<std::string, std::size_t> missing;
  for (const objects::Pod& pod : objects.pods) {
    TRY_ASSIGN(PodReading reading, ReadPod(pod, around, takes, state));
    if (reading.waits_for_group) ++missing[reading.group];
    if (!reading.task) continue;
    TRY_ASSIGN(const TaskId id, Of(pod.meta, state.AddTask(*std::move(reading.task))));
    if (pod.meta.deleted) report.terminating.push_back(id);
  }
  for (const auto& [name, pods] : missing) report.missing_groups.push_back({name, pods});
  return {};
}

Status LoadQueues(const objects::ObjectSet& objects, ClusterState& state) {
  for (const objects::Queue& queue : objects.queues) {
    TRY_ASSIGN(QueueSpec spec, Of(queue.meta, ToQueueSpec(queue, state.resource_names())));
    state.UpsertQueue(std::move(spec));
  }
  if (!state.FindQueue(kDefaultQueue)) state.UpsertQueue(DefaultQueue());
  return {};
}

}  // namespace

QueueSpec DefaultQueue() {
  QueueSpec spec;
  spec.name = kDefaultQueue;
  spec.uid = kDefaultQueue;
  spec.parent = "root";
  return spec;
}

Result<LoadReport> LoadCluster(const objects::ObjectSet& objects,
                               const TakesPod& takes,
                               ClusterState& state) {
  const PodSurroundings around{.priorities = objects::PriorityTable(objects.priority_classes),
                               .rules = PodRulesReader(objects),
                               .volumes = VolumeRulesReader(objects),
                               .numa = !objects.numa_topologies.empty()};
  InternNames(objects, state.resource_names());
  std::map<std::string_view, NumaSpec> numa;
  for (const objects::NumaTopology& topology : objects.numa_topologies) {
    TRY_ASSIGN(numa[topology.meta.name], Of(topology.meta, ToNumaSpec(topology)));
  }
  for (const objects::Node& node : objects.nodes) {
    TRY_ASSIGN(NodeSpec spec, Of(node.meta, ToNodeSpec(node, state.resource_names())));
    spec.volume_limits = around.volumes.LimitsOf(node.meta.name);
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
    TRY_ASSIGN(JobSpec spec,
               Of(group.meta, ToJobSpec(group, around.priorities, state.resource_names())));
    state.UpsertJob(std::move(spec));
  }
  LoadReport report;
  TRY(LoadPods(objects, around, takes, state, report));
  state.Settle();  // part of loading, not of the first cycle
  WarnOfGpus(objects, state, report.warnings);
  return report;
}

}  // namespace strata
