#include "convert/specs.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "convert/amounts.h"
#include "convert/disruption.h"
#include "convert/gpu_annotations.h"
#include "convert/gpu_request.h"
#include "convert/load_cluster.h"
#include "convert/role_affinity.h"
#include "objects/annotation_values.h"
#include "objects/pod_request.h"
#include "objects/volcano_keys.h"

namespace strata {
namespace {

constexpr std::string_view kVolcanoGroupNameAnnotation = "scheduling.volcano.sh/group-name";
constexpr std::string_view kTaskSpecAnnotation = "volcano.sh/task-spec";
constexpr std::string_view kHierarchyAnnotation = "volcano.sh/hierarchy";
constexpr std::string_view kHierarchyWeightsAnnotation = "volcano.sh/hierarchy-weights";
constexpr const char* kHostnameLabel = "kubernetes.io/hostname";
constexpr Amount kDefaultMaxPods = 110;

// Puts the name of the field before an error.
template <typename T>
Result<T> InField(std::string_view field, Result<T> result) {
  if (result) return result;
  return tl::unexpected<Error>(std::move(result).error().Context(std::string(field)));
}

// What the node controller would add for the Ready condition.
std::optional<Taint> ReadinessTaint(const objects::Node& node) {
  const objects::Condition* ready = objects::FindCondition(node.conditions, "Ready");
  if (ready == nullptr || ready->status == "True") return std::nullopt;
  const bool silent = ready->status == "Unknown";
  return Taint{.key = silent ? "node.kubernetes.io/unreachable" : "node.kubernetes.io/not-ready",
               .value = "",
               .effect = TaintEffect::kNoSchedule};
}

TopologySpec ToTopology(const std::optional<objects::NetworkTopology>& topology) {
  if (!topology) return {};
  return {.mode = topology->mode == objects::TopologyMode::kHard ? TopologySpec::Mode::kHard
                                                                 : TopologySpec::Mode::kSoft,
          .highest_tier = topology->highest_tier_allowed,
          .highest_tier_name = topology->highest_tier_name};
}

SubGroupPolicy ToPolicy(const objects::SubGroupPolicy& policy) {
  return {.name = policy.name,
          .selector = policy.selector,
          .match_label_keys = policy.match_label_keys,
          .size = policy.sub_group_size,
          .min_sub_groups = policy.min_sub_groups,
          .topology = ToTopology(policy.topology)};
}

JobPhase ToPhase(objects::PodGroupPhase phase) {
  switch (phase) {
    case objects::PodGroupPhase::kPending:
      return JobPhase::kPending;
    case objects::PodGroupPhase::kInqueue:
      return JobPhase::kInqueue;
    case objects::PodGroupPhase::kRunning:
      return JobPhase::kRunning;
    case objects::PodGroupPhase::kUnknown:
      return JobPhase::kUnknown;
    case objects::PodGroupPhase::kCompleted:
      return JobPhase::kCompleted;
  }
  return JobPhase::kPending;
}

std::string AnnotationOf(const objects::Metadata& meta, std::string_view key) {
  const std::string* value = objects::Find(meta.annotations, key);
  return value == nullptr ? "" : *value;
}

// How long the job may wait, by the first such annotation; none without one.
Result<std::optional<Duration>> SlaWaitingTime(const objects::Metadata& meta) {
  for (const std::string_view key : objects::kSlaKeys) {
    const std::string* text = objects::Find(meta.annotations, key);
    if (text == nullptr) continue;
    TRY_ASSIGN(
        const Duration waiting,
        InField("metadata.annotations." + std::string(key), objects::ParseWaitingTime(*text)));
    return std::optional(waiting);
  }
  return std::optional<Duration>();
}

std::int32_t TaskPriority(const objects::Pod& pod, const objects::PriorityTable& priorities) {
  if (const std::string* text = objects::Find(pod.meta.annotations, objects::kTaskPriorityKey)) {
    if (const auto priority = objects::ParseInt32(*text)) return *priority;
  }
  if (pod.spec.priority) return *pod.spec.priority;
  if (pod.spec.priority_class_name.empty()) return 1;
  return priorities.ValueOf(pod.spec.priority_class_name).value_or(1);
}

// Equal pods must have equal specs, so lists whose order means nothing are sorted.
template <typename T>
std::vector<T> SortedUnique(std::vector<T> items) {
  std::sort(items.begin(), items.end());
  items.erase(std::unique(items.begin(), items.end()), items.end());
  return items;
}

Result<ClassSpec> ToClassSpec(const objects::Pod& pod, ResourceNames& names) {
  ClassSpec spec;
  TRY_ASSIGN(spec.request,
             InField("spec.containers: requests", ToResources(objects::PodRequest(pod), names)));
  spec.request.Set(kPods, 1);
  TRY_ASSIGN(
      const Resources nonzero,
      InField("spec.containers: requests", ToResources(objects::NonZeroPodRequest(pod), names)));
  spec.nonzero_cpu = nonzero.Get(kCpu);
  spec.nonzero_memory = nonzero.Get(kMemory);
  spec.node_selector = pod.spec.node_selector;
  spec.affinity = pod.spec.node_affinity;
  spec.tolerations = SortedUnique(pod.spec.tolerations);
  spec.host_ports = SortedUnique(objects::HostPortsOf(pod.spec));
  spec.gpus = ReadGpuRequest(pod, nullptr);
  return spec;
}

}  // namespace

Result<NodeSpec> ToNodeSpec(const objects::Node& node, ResourceNames& names) {
  Labels labels = node.meta.labels;
  labels.emplace(kHostnameLabel, node.meta.name);
  NodeSpec spec{.name = node.meta.name,
                .labels = labels,
                .taints = node.taints,
                .unschedulable = node.unschedulable,
                .allocatable = {},
                .gpus = {}};
  if (auto read = ReadNodeGpus(node)) spec.gpus = std::move(read->node);
  TRY_ASSIGN(spec.allocatable,
             InField("status.allocatable", ToResources(node.allocatable, names, ListOf::kNode)));
  if (!node.allocatable.contains("pods")) spec.allocatable.Set(kPods, kDefaultMaxPods);
  if (const auto taint = ReadinessTaint(node)) {
    const bool known = std::any_of(spec.taints.begin(), spec.taints.end(), [&](const Taint& have) {
      return have.key == taint->key && have.effect == taint->effect;
    });
    if (!known) spec.taints.push_back(*taint);
  }
  spec.taints = SortedUnique(std::move(spec.taints));
  return spec;
}

Result<QueueSpec> ToQueueSpec(const objects::Queue& queue, ResourceNames& names) {
  QueueSpec spec{.name = queue.meta.name,
                 .uid = queue.meta.uid,
                 .weight = queue.weight,
                 .priority = queue.priority,
                 .open = queue.state == objects::QueueState::kOpen,
                 .reclaimable = queue.reclaimable,
                 .capability = {},
                 .guarantee = {},
                 .deserved = {},
                 .parent = queue.parent,
                 .created = queue.meta.created,
                 .state = std::string(objects::ToString(queue.state)),
                 .hierarchy = AnnotationOf(queue.meta, kHierarchyAnnotation),
                 .hierarchy_weights = AnnotationOf(queue.meta, kHierarchyWeightsAnnotation)};
  TRY_ASSIGN(spec.capability,
             InField("spec.capability", ToLimits(CountedInGpus(queue.capability), names)));
  TRY_ASSIGN(
      spec.guarantee,
      InField("spec.guarantee.resource", ToResources(CountedInGpus(queue.guarantee), names)));
  TRY_ASSIGN(spec.deserved,
             InField("spec.deserved", ToLimits(CountedInGpus(queue.deserved), names)));
  spec.node_groups = {.required = queue.node_groups.required,
                      .preferred = queue.node_groups.preferred,
                      .anti_required = queue.anti_node_groups.required,
                      .anti_preferred = queue.anti_node_groups.preferred};
  for (const auto& [group, limits] : queue.node_group_limits) {
    const std::string field =
        fmt::format("metadata.annotations.{}.{}", objects::kNodeGroupLimitsKey, group);
    TRY_ASSIGN(spec.node_group_limits[group],
               InField(field, ToLimits(CountedInGpus(limits), names)));
  }
  return spec;
}

Result<JobSpec> ToJobSpec(const objects::PodGroup& group,
                          const objects::PriorityTable& priorities,
                          ResourceNames& names) {
  JobSpec spec;
  spec.name = objects::NamespacedName(group.meta);
  spec.uid = group.meta.uid;
  spec.queue = group.queue.empty() ? kDefaultQueue : group.queue;
  spec.priority =
      priorities.ValueOf(group.priority_class_name).value_or(priorities.global_default());
  spec.min_available = group.min_member;
  spec.min_task_member.insert(group.min_task_member.begin(), group.min_task_member.end());
  if (group.min_resources) {
    TRY_ASSIGN(spec.min_resources,
               InField("spec.minResources", ToResources(*group.min_resources, names)));
    spec.min_gpus = ReadMinGpus(*group.min_resources);
    TRY_ASSIGN(const ResourceLimits of_quotas,
               InField("spec.minResources", ToQuotaLimits(*group.min_resources, names)));
    for (const auto& [id, amount] : of_quotas) spec.min_quota.Set(id, amount);
  }
  spec.topology = ToTopology(group.topology);
  for (const objects::SubGroupPolicy& policy : group.sub_groups) {
    spec.sub_groups.push_back(ToPolicy(policy));
  }
  spec.created = group.meta.created;
  spec.phase = ToPhase(group.phase);
  TRY_ASSIGN(spec.sla_waiting_time, SlaWaitingTime(group.meta));
  TRY_ASSIGN(spec.role_affinity, ToRoleAffinity(group.meta));
  spec.preemptable = SaysPreemptable(group.meta);
  spec.was_whole = spec.phase == JobPhase::kRunning || spec.phase == JobPhase::kCompleted ||
                   objects::FindCondition(group.conditions, "Scheduled") != nullptr;
  return spec;
}

namespace {

// `limits.nvidia.com/gpumem` and its like, in MiB, percent and GPUs.
Result<GpuLimits> ToGpuLimits(const objects::ResourceList& hard) {
  constexpr std::string_view kPrefix = "limits.";
  GpuLimits limits;
  for (const GpuPart& part : kGpuParts) {
    const std::string name = std::string(kPrefix).append(part.resource);
    const auto it = hard.find(name);
    if (it == hard.end()) continue;
    TRY_ASSIGN(const std::int64_t value, InField(name, it->second.Value()));
    limits.*part.limit = value;
  }
  return limits;
}

}  // namespace

BudgetSpec ToBudgetSpec(const objects::PodDisruptionBudget& budget) {
  using Said = objects::PodDisruptionBudget::Amount;
  using Percent = objects::PodDisruptionBudget::Percent;
  const auto amount = [](const std::optional<Said>& said) -> std::optional<BudgetSpec::Amount> {
    if (!said) return std::nullopt;
    if (const auto* percent = std::get_if<Percent>(&*said)) {
      return BudgetSpec::Amount{.number = percent->value, .percent = true};
    }
    return BudgetSpec::Amount{.number = std::get<std::int32_t>(*said)};
  };
  BudgetSpec spec{.name = objects::NamespacedName(budget.meta),
                  .selector = budget.selector,
                  .min_available = amount(budget.min_available),
                  .max_unavailable = amount(budget.max_unavailable),
                  .allowed = budget.disruptions_allowed,
                  .disrupted = {}};
  for (const std::string& pod : budget.disrupted_pods) {
    spec.disrupted.push_back(budget.meta.ns + "/" + pod);
  }
  return spec;
}

Result<QuotaSpec> ToQuotaSpec(const objects::ResourceQuota& quota, ResourceNames& names) {
  QuotaSpec spec{.name = objects::NamespacedName(quota.meta), .hard = {}, .used = {}};
  TRY_ASSIGN(spec.hard, InField("spec.hard", ToLimits(quota.hard, names)));
  TRY_ASSIGN(spec.used, InField("status.used", ToResources(quota.used, names)));
  TRY_ASSIGN(ResourceLimits limits, InField("spec.hard", ToQuotaLimits(quota.hard, names)));
  spec.hard.merge(limits);
  TRY_ASSIGN(const ResourceLimits used, InField("status.used", ToQuotaLimits(quota.used, names)));
  for (const auto& [id, amount] : used) spec.used.Set(id, amount);
  TRY_ASSIGN(spec.gpus, InField("spec.hard", ToGpuLimits(quota.hard)));
  return spec;
}

TaskStatus StatusOf(const objects::Pod& pod) {
  const bool terminating = pod.meta.deleted.has_value();
  // One that is evicted and ends well while it stops has not done its work.
  if (terminating && !pod.spec.node_name.empty() && IsPreempted(pod)) return TaskStatus::kReleasing;
  switch (pod.status.phase) {
    case objects::PodPhase::kPending:
      if (terminating) return TaskStatus::kReleasing;
      return pod.spec.node_name.empty() ? TaskStatus::kPending : TaskStatus::kBound;
    case objects::PodPhase::kRunning:
      return terminating ? TaskStatus::kReleasing : TaskStatus::kRunning;
    case objects::PodPhase::kSucceeded:
      return TaskStatus::kSucceeded;
    case objects::PodPhase::kFailed:
      return TaskStatus::kFailed;
    case objects::PodPhase::kUnknown:
      return TaskStatus::kUnknown;
  }
  return TaskStatus::kUnknown;
}

Result<TaskSpec> ToTaskSpec(const objects::Pod& pod,
                            const objects::PriorityTable& priorities,
                            ResourceNames& names) {
  if (LacksGpuCounts(pod.spec)) {
    objects::Pod counted = pod;
    AddDefaultGpuCounts(counted.spec);
    return ToTaskSpec(counted, priorities, names);
  }
  TaskSpec spec;
  spec.name = objects::NamespacedName(pod.meta);
  spec.uid = pod.meta.uid;
  if (const std::string* role = objects::Find(pod.meta.annotations, kTaskSpecAnnotation)) {
    spec.role = *role;
  }
  TRY_ASSIGN(spec.constraints, ToClassSpec(pod, names));
  spec.priority = TaskPriority(pod, priorities);
  spec.created = pod.meta.created;
  spec.status = StatusOf(pod);
  spec.node_name = pod.spec.node_name;
  spec.gated = !pod.spec.scheduling_gates.empty();
  spec.disruption = ToDisruption(pod, priorities);
  if (!pod.spec.node_name.empty()) {
    spec.gpus = ReadGpuClaim(pod.meta.annotations, pod.spec).claim;
  }
  return spec;
}

std::string GroupOf(const objects::Pod& pod) {
  for (const std::string_view key : {objects::kGroupNameAnnotation, kVolcanoGroupNameAnnotation}) {
    const std::string* name = objects::Find(pod.meta.annotations, key);
    if (name != nullptr && !name->empty()) return pod.meta.ns + "/" + *name;
  }
  return "";
}

}  // namespace strata
