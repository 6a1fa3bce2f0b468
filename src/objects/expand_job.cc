#include "objects/expand_job.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "objects/pod_request.h"
#include "objects/sort_by_name.h"
#include "objects/syntax.h"
#include "objects/text_check.h"
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
    for (const auto& [name, amount] : QuotaUsage(task.pod_template.spec)) {
      sum[name] += amount * taken;
    }
  };
  for (const JobTask* task : tasks) take(*task, task->min_available);
  for (const JobTask* task : tasks) take(*task, task->replicas - task->min_available);
  return sum;
}

tl::unexpected<Error> RefuseJob(const Job& job, const std::string& what) {
  return Fail(Code::kInvalidArgument, OneLine(fmt::format("{}: {}", Location(job.meta), what)));
}

// Gives `labels` those of `wanted` that it lacks, or has without a value.
void FillIn(const Labels& wanted, Labels& labels) {
  for (const auto& [key, value] : wanted) {
    std::string& mine = labels[key];
    if (mine.empty()) mine = value;
  }
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

std::string HolderName(const Job& job) {
  return "Job " + job.meta.name;
}

// The controller of an object: "Job train", or with its API version where it is not a Volcano Job;
// "" when nobody does.
std::string HolderOf(const Metadata& meta) {
  const auto owner = std::find_if(
      meta.owners.begin(), meta.owners.end(), [](const auto& each) { return each.controller; });
  if (owner == meta.owners.end()) return "";
  const bool is_job = owner->kind == "Job" && owner->api_version.starts_with("batch.volcano.sh/");
  return (is_job ? "" : owner->api_version + " ") + owner->kind + " " + owner->name;
}

bool IsOthers(const Job& job, const Metadata& meta) {
  const std::string holder = HolderOf(meta);
  return !holder.empty() && holder != HolderName(job);
}

// Why a pod with the name of one of the job's is not the job's; "" when it is.
std::string WhyNotOf(const Job& job, const Metadata& pod, const std::string& group) {
  if (IsOthers(job, pod)) return HolderOf(pod) + " controls it";
  const std::string* named = Find(pod.annotations, kGroupNameAnnotation);
  if (named == nullptr || named->empty() || *named == group) return "";
  return "it names PodGroup " + *named;
}

// Puts what is there, loaded or made, beside what the jobs want.
class Expansion {
 public:
  explicit Expansion(ObjectSet& objects)
      : objects_(objects),
        priorities_(objects.priority_classes),
        groups_(GroupsOfJobs(objects)),
        claims_(NamesOf(objects.claims)) {
    for (const PodGroup& group : objects.pod_groups) {
      holders_.emplace(NamespacedName(group.meta), HolderOf(group.meta));
    }
    for (const Pod& pod : objects.pods) pods_.emplace(NamespacedName(pod.meta), pods_.size());
  }

  Status Expand(const Job& job) {
    const std::string full_name = groups_.find(NamespacedName(job.meta))->second;
    const std::string group = full_name.substr(full_name.find('/') + 1);
    TRY(AddGroup(job, full_name));
    AddClaims(job, claims_, objects_);
    for (const JobTask& task : job.tasks) {
      for (std::int32_t index = 0; index < task.replicas; ++index) {
        AddPod(job, task, index, group);
      }
    }
    return {};
  }

 private:
  Status AddGroup(const Job& job, const std::string& full_name) {
    const auto [known, is_new] = holders_.emplace(full_name, HolderName(job));
    if (!is_new && known->second.empty()) known->second = HolderName(job);
    if (known->second != HolderName(job)) {
      return RefuseJob(job,
                       fmt::format("its PodGroup {} is that of {} (want another name or uid)",
                                   full_name,
                                   known->second));
    }
    if (!is_new) return {};
    PodGroup made = MakePodGroup(job, priorities_);
    for (const auto& [name, amount] : *made.min_resources) {
      const std::string problem = TooLarge(name, amount);
      if (problem.empty()) continue;
      return RefuseJob(
          job,
          fmt::format("spec.tasks: requests of the first {} pods (minAvailable): {}: {}",
                      job.min_available,
                      name,
                      problem));
    }
    objects_.pod_groups.push_back(std::move(made));
    return {};
  }

  void AddPod(const Job& job, const JobTask& task, std::int32_t index, const std::string& group) {
    const std::string name = job.meta.ns + "/" + PodNameOf(job, task, index);
    const auto [known, is_new] = pods_.emplace(name, objects_.pods.size());
    if (is_new) {
      objects_.pods.push_back(MakePod(job, task, index, group));
      return;
    }
    Pod& pod = objects_.pods[known->second];
    if (const std::string why = WhyNotOf(job, pod.meta, group); !why.empty()) {
      objects_.warnings.push_back(
          OneLine(fmt::format("{}: Pod {} is not this job's: {}", Location(job.meta), name, why)));
      return;
    }
    Metadata wanted;
    SetPodMetadata(job, task, index, wanted);
    Set(wanted.annotations, kGroupNameAnnotation, group);
    FillIn(wanted.labels, pod.meta.labels);
    FillIn(wanted.annotations, pod.meta.annotations);
    if (HolderOf(pod.meta).empty()) pod.meta.owners.push_back(OwnerOf(job));
    MergeMatchLabelKeys(pod);
  }

  ObjectSet& objects_;
  const PriorityTable priorities_;
  const std::map<std::string, std::string, std::less<>> groups_;
  std::map<std::string, std::string> holders_;  // of PodGroups; "": nobody yet
  std::map<std::string, std::size_t> pods_;     // place in the set
  std::set<std::string> claims_;
};

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
  meta.origin = Location(job.meta);
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
  group.meta.origin = Location(job.meta);
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
  std::string& priority_class = pod.spec.priority_class_name;
  if (priority_class.empty()) priority_class = job.priority_class_name;
  for (std::size_t i = 0; i < job.volumes.size(); ++i) {
    Volume volume;
    volume.claim_name = ClaimNameFor(job, i);
    volume.name = volume.claim_name;
    pod.spec.volumes.push_back(std::move(volume));
  }
  MergeMatchLabelKeys(pod);
  return pod;
}

std::map<std::string, std::string, std::less<>> GroupsOfJobs(const ObjectSet& objects) {
  std::map<std::string, const Metadata*, std::less<>> given;
  for (const PodGroup& group : objects.pod_groups) {
    given.emplace(NamespacedName(group.meta), &group.meta);
  }
  std::set<std::string> by_uid;  // they come first: <job>-<uid> may be the name of another job
  std::map<std::string, std::string, std::less<>> groups;
  for (const Job& job : objects.jobs) {
    const std::string full_name = job.meta.ns + "/" + PodGroupNameOf(job);
    groups.emplace(NamespacedName(job.meta), full_name);
    const auto known = given.find(full_name);
    if (known != given.end() && !IsOthers(job, *known->second)) by_uid.insert(full_name);
  }
  for (const Job& job : objects.jobs) {
    const std::string name = NamespacedName(job.meta);
    std::string& group = groups[name];
    const auto known = given.find(name);
    if (by_uid.contains(group) || known == given.end() || by_uid.contains(name)) continue;
    if (!IsOthers(job, *known->second)) group = name;
  }
  return groups;
}

Status ExpandJobs(ObjectSet& objects, const MakesPods& makes_pods) {
  Expansion expansion(objects);
  for (const Job& job : objects.jobs) {
    if (MakesNoPods(job.phase) || (makes_pods && !makes_pods(job))) continue;
    std::int64_t pods = 0;
    for (const JobTask& task : job.tasks) pods += task.replicas;
    if (pods > kMaxPods) {
      return RefuseJob(
          job,
          fmt::format("spec.tasks: {} pods are more than one job can have ({})", pods, kMaxPods));
    }
    TRY(expansion.Expand(job));
  }
  SortByName(objects.pod_groups);
  SortByName(objects.pods);
  SortByName(objects.claims);
  std::sort(objects.warnings.begin(), objects.warnings.end());
  return {};
}

}  // namespace strata::objects
