#include "objects/expand_job.h"

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "objects/pod_request.h"
#include "objects/sort_by_name.h"
#include "objects/volcano_keys.h"

namespace strata::objects {
namespace {

constexpr std::int64_t kMaxPods = 1'000'000;

template <std::size_t kSize>
void Inherit(const std::array<std::string_view, kSize>& keys, const Labels& from, Labels& to) {
  for (const std::string_view key : keys) {
    if (const std::string* value = Find(from, key)) to[std::string(key)] = *value;
  }
}

void Set(Labels& labels, std::string_view key, std::string value) {
  labels[std::string(key)] = std::move(value);
}

SubGroupPolicy SubGroupOf(const JobTask& task) {
  const PartitionPolicy& partition = *task.partition;
  SubGroupPolicy policy;
  policy.name = task.name;
  policy.topology = partition.topology;
  policy.sub_group_size = partition.partition_size;
  policy.min_sub_groups = partition.min_partitions;
  policy.selector =
      LabelSelector{{Requirement{std::string(kTaskSpecKey), SelectorOp::kIn, {task.name}}}};
  policy.match_label_keys = {std::string(kPartitionIdKey)};
  return policy;
}

std::int32_t PriorityOf(const JobTask& task, const PriorityTable& priorities) {
  const PodSpec& spec = task.pod_template.spec;
  return spec.priority.value_or(priorities.ValueOf(spec.priority_class_name).value_or(0));
}

ResourceList MinResourcesOf(const Job& job, const PriorityTable& priorities) {
  std::vector<const JobTask*> tasks;
  for (const JobTask& task : job.tasks) tasks.push_back(&task);
  std::stable_sort(tasks.begin(), tasks.end(), [&](const JobTask* a, const JobTask* b) {
    return PriorityOf(*a, priorities) > PriorityOf(*b, priorities);
  });
  ResourceList sum;
  std::int32_t left = job.min_available;
  const auto take = [&](const JobTask& task, std::int32_t pods) {
    const std::int32_t taken = std::min(left, pods);
    left -= taken;
    if (taken == 0) return;
    for (const auto& [name, amount] : PodRequest(task.pod_template.spec)) {
      sum[name] += amount * taken;
    }
  };
  for (const JobTask* task : tasks) take(*task, task->min_available);
  for (const JobTask* task : tasks) take(*task, task->replicas - task->min_available);
  return sum;
}

void SetPodMetadata(const Job& job, const JobTask& task, std::int32_t index, Metadata& meta) {
  const std::string index_text = std::to_string(index);
  Labels& annotations = meta.annotations;
  Set(annotations, kTaskIndexKey, index_text);
  Set(annotations, kTaskSpecKey, task.name);
  Set(annotations, kJobNameKey, job.meta.name);
  Set(annotations, kQueueNameKey, job.queue);
  Set(annotations, kJobVersionKey, std::to_string(job.version));
  Set(annotations, kTemplateUidKey, job.meta.name + "-" + task.name);
  Set(annotations, kJobRetryCountKey, std::to_string(job.retry_count));
  if (!task.topology_policy.empty()) Set(annotations, kNumaPolicyKey, task.topology_policy);
  Inherit(kInheritedAnnotations, job.meta.annotations, annotations);

  Labels& labels = meta.labels;
  Set(labels, kTaskIndexKey, index_text);
  Set(labels, kTaskSpecKey, task.name);
  Set(labels, kJobNameKey, job.meta.name);
  Set(labels, kJobNamespaceKey, job.meta.ns);
  Set(labels, kQueueNameKey, job.queue);
  if (task.partition) {
    Set(labels, kPartitionIdKey, std::to_string(index / task.partition->partition_size));
  }
  Inherit(kInheritedLabels, job.meta.labels, labels);
}

std::set<std::string> NamesOf(const auto& list) {
  std::set<std::string> names;
  for (const auto& object : list) names.insert(NamespacedName(object.meta));
  return names;
}

void AddClaims(const Job& job, std::set<std::string>& known, ObjectSet& objects) {
  for (std::size_t i = 0; i < job.volumes.size(); ++i) {
    if (!job.volumes[i].claim) continue;
    PersistentVolumeClaim claim;
    claim.meta.kind = "PersistentVolumeClaim";
    claim.meta.name = claim.meta.uid = ClaimNameFor(job, i);
    claim.meta.ns = job.meta.ns;
    claim.meta.created = job.meta.created;
    claim.meta.owners = {OwnerOf(job)};
    claim.spec = *job.volumes[i].claim;
    if (known.insert(NamespacedName(claim.meta)).second) objects.claims.push_back(std::move(claim));
  }
}

// Names of what is there, loaded or made.
struct Known {
  std::set<std::string> pod_groups;
  std::set<std::string> pods;
  std::set<std::string> claims;
};

void Expand(const Job& job, const PriorityTable& priorities, Known& known, ObjectSet& objects) {
  const std::string prefix = job.meta.ns + "/";
  std::string group = PodGroupNameOf(job);
  if (!known.pod_groups.contains(prefix + group)) {
    if (known.pod_groups.contains(prefix + job.meta.name)) {
      group = job.meta.name;
    } else {
      objects.pod_groups.push_back(MakePodGroup(job, priorities));
      known.pod_groups.insert(prefix + group);
    }
  }
  AddClaims(job, known.claims, objects);
  for (const JobTask& task : job.tasks) {
    for (std::int32_t index = 0; index < task.replicas; ++index) {
      const std::string name = prefix + PodNameOf(job, task, index);
      if (known.pods.insert(name).second) objects.pods.push_back(MakePod(job, task, index, group));
    }
  }
}

}  // namespace

std::string PodGroupNameOf(const Job& job) {
  return job.meta.name + "-" + job.meta.uid;
}

OwnerReference OwnerOf(const Job& job) {
  return {"batch.volcano.sh/v1alpha1", "Job", job.meta.name, job.meta.uid, true};
}

std::string ClaimNameFor(const Job& job, std::size_t volume) {
  const JobVolume& wanted = job.volumes[volume];
  return wanted.claim_name.empty() ? fmt::format("{}-pvc-{}", job.meta.name, volume)
                                   : wanted.claim_name;
}

std::string PodNameOf(const Job& job, const JobTask& task, std::int32_t index) {
  return fmt::format("{}-{}-{}", job.meta.name, task.name, index);
}

Metadata PodMetadataOf(const Job& job,
                       const JobTask& task,
                       std::int32_t index,
                       const std::string& pod_group) {
  Metadata meta;
  meta.kind = "Pod";
  meta.name = PodNameOf(job, task, index);
  meta.ns = job.meta.ns;
  meta.labels = task.pod_template.labels;
  meta.annotations = task.pod_template.annotations;
  meta.created = job.meta.created;
  meta.owners = {OwnerOf(job)};
  SetPodMetadata(job, task, index, meta);
  Set(meta.annotations, kGroupNameAnnotation, pod_group);
  return meta;
}

PodGroup MakePodGroup(const Job& job, const PriorityTable& priorities) {
  PodGroup group;
  group.meta.kind = "PodGroup";
  group.meta.name = group.meta.uid = PodGroupNameOf(job);
  group.meta.ns = job.meta.ns;
  group.meta.labels = job.meta.labels;
  group.meta.annotations = job.meta.annotations;
  group.meta.created = job.meta.created;
  group.meta.owners = {OwnerOf(job)};
  group.min_member = job.min_available;
  for (const JobTask& task : job.tasks) {
    group.min_task_member[task.name] = task.min_available;
    if (task.partition) group.sub_groups.push_back(SubGroupOf(task));
  }
  group.queue = job.queue;
  group.priority_class_name = job.priority_class_name;
  group.min_resources = MinResourcesOf(job, priorities);
  group.topology = job.topology;
  return group;
}

Pod MakePod(const Job& job, const JobTask& task, std::int32_t index, const std::string& pod_group) {
  Pod pod;
  pod.meta = PodMetadataOf(job, task, index, pod_group);
  pod.meta.uid = pod.meta.name;
  pod.spec = task.pod_template.spec;
  if (pod.spec.scheduler_name.empty()) pod.spec.scheduler_name = job.scheduler_name;
  for (std::size_t i = 0; i < job.volumes.size(); ++i) {
    Volume volume;
    volume.claim_name = ClaimNameFor(job, i);
    volume.name = volume.claim_name;
    pod.spec.volumes.push_back(std::move(volume));
  }
  MergeMatchLabelKeys(pod);
  return pod;
}

Status ExpandJobs(ObjectSet& objects) {
  const PriorityTable priorities(objects.priority_classes);
  Known known{NamesOf(objects.pod_groups), NamesOf(objects.pods), NamesOf(objects.claims)};
  for (const Job& job : objects.jobs) {
    if (MakesNoPods(job.phase)) continue;
    std::int64_t pods = 0;
    for (const JobTask& task : job.tasks) pods += task.replicas;
    if (pods > kMaxPods) {
      return Fail(Code::kInvalidArgument,
                  fmt::format("{}: {}: spec.tasks: {} pods are more than one job can have ({})",
                              job.meta.source,
                              ObjectName(job.meta),
                              pods,
                              kMaxPods));
    }
    Expand(job, priorities, known, objects);
  }
  SortByName(objects.pod_groups);
  SortByName(objects.pods);
  SortByName(objects.claims);
  return {};
}

}  // namespace strata::objects
