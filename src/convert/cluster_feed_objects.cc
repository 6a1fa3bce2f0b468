// The part of ClusterFeed that turns single objects into changes of the state.
#include <optional>
#include <utility>

#include "convert/cluster_feed.h"
#include "convert/numa_rules.h"
#include "convert/specs.h"

namespace strata {
namespace {

// Where a status leaves a task, as far as its node is concerned.
bool NeedsNode(TaskStatus status) {
  return status != TaskStatus::kPending && status != TaskStatus::kSucceeded &&
         status != TaskStatus::kFailed;
}

// Whether `spec` says nothing new of the task but how far it is.
bool DiffersInStatusOnly(const ClusterState& state, TaskId id, const TaskSpec& spec) {
  const Task& task = state.task(id);
  const std::string node = task.node.valid() ? state.node(task.node).name : "";
  const bool keeps_node = NeedsNode(task.status) && node == spec.node_name && !node.empty();
  const bool keeps_none = !NeedsNode(task.status) && !NeedsNode(spec.status);
  if (!keeps_node && !keeps_none) return false;
  if (task.uid != spec.uid || task.job != spec.job || task.priority != spec.priority ||
      task.gated != spec.gated || task.created != spec.created) {
    return false;
  }
  if (task.job.valid()) {
    const Job& job = state.job(task.job);
    if (job.roles[task.role].name != spec.role) return false;
    if (job.sub_jobs[task.sub_job].key != spec.sub_group) return false;
    if (task.missed_policy != spec.missed_policy) return false;
  }
  if (NeedsNode(spec.status) && state.GpusOf(id) != spec.gpus) return false;
  const ClassSpec& known = state.task_class(task.class_id);
  ClassSpec wanted = spec.constraints;
  wanted.node_groups = known.node_groups;  // the state's own business
  return known == wanted;
}

}  // namespace

// ---- nodes and HyperNodes
// -------------------------------------------------------------------------------------------

Status ClusterFeed::ReadNode(const objects::Node& node) {
  TRY_ASSIGN(NodeSpec spec, Of(node.meta, ToNodeSpec(node, state_.resource_names())));
  state_.GrowTables();
  spec.volume_limits = around_.volumes.LimitsOf(node.meta.name);
  if (const auto* topology = FindIn(numa_, node.meta.name)) {
    TRY_ASSIGN(spec.numa, Of(topology->meta, ToNumaSpec(*topology)));
  }
  const auto known = state_.FindNode(spec.name);
  if (known && state_.node(*known) == spec) return {};
  TRY(Of(node.meta, state_.UpsertNode(std::move(spec))));
  Changed();
  return {};
}

void ClusterFeed::ReadNodeAgain(const std::string& name) {
  const auto* node = FindIn(nodes_, name);
  // Nothing of the node itself is new, so it cannot have become too large.
  if (node != nullptr) static_cast<void>(ReadNode(*node));
}

Status ClusterFeed::Put(objects::Node node) {
  TRY(ReadNode(node));
  const std::string name = node.meta.name;
  nodes_.insert_or_assign(name, std::move(node));
  return {};
}

void ClusterFeed::RemoveNode(const std::string& name) {
  if (nodes_.erase(name) == 0) return;
  state_.RemoveNode(*state_.FindNode(name));
  Changed();
}

Status ClusterFeed::Put(objects::HyperNode hypernode) {
  const std::string name = hypernode.meta.name;
  const auto* known = FindIn(hypernodes_, name);
  if (known == nullptr || known->spec != hypernode.spec) {
    state_.UpsertHyperNode(hypernode.spec);
    Changed();
  }
  hypernodes_.insert_or_assign(name, std::move(hypernode));
  return {};
}

void ClusterFeed::RemoveHyperNode(const std::string& name) {
  if (hypernodes_.erase(name) == 0) return;
  state_.RemoveHyperNode(name);
  Changed();
}

Status ClusterFeed::Put(objects::NumaTopology topology) {
  TRY(Of(topology.meta, ToNumaSpec(topology)));
  const std::string name = topology.meta.name;
  numa_.insert_or_assign(name, std::move(topology));
  if (!std::exchange(around_.numa, true)) MakeStale(pods_stale_);
  ReadNodeAgain(name);
  return {};
}

void ClusterFeed::RemoveNumaTopology(const std::string& name) {
  if (numa_.erase(name) == 0) return;
  around_.numa = !numa_.empty();
  if (!around_.numa) MakeStale(pods_stale_);
  ReadNodeAgain(name);
}

// ---- queues, quotas, jobs
// -----------------------------------------------------------------------------------------------

Status ClusterFeed::Put(objects::Queue queue) {
  TRY_ASSIGN(QueueSpec spec, Of(queue.meta, ToQueueSpec(queue, state_.resource_names())));
  state_.GrowTables();
  const auto known = state_.FindQueue(spec.name);
  if (!known || state_.queue(*known).spec != spec) {
    state_.UpsertQueue(std::move(spec));
    Changed();
  }
  const std::string name = queue.meta.name;
  queues_.insert_or_assign(name, std::move(queue));
  return {};
}

void ClusterFeed::RemoveQueue(const std::string& name) {
  if (queues_.erase(name) == 0) return;
  QueueSpec fallback = DefaultQueue();
  if (fallback.name == name) {
    state_.UpsertQueue(std::move(fallback));
  } else {
    state_.RemoveQueue(*state_.FindQueue(name));
  }
  Changed();
}

Status ClusterFeed::Put(objects::ResourceQuota quota) {
  TRY_ASSIGN(QuotaSpec spec, Of(quota.meta, ToQuotaSpec(quota, state_.resource_names())));
  state_.GrowTables();
  for (const QuotaSpec* known : state_.QuotasOf(quota.meta.ns)) {
    if (*known == spec) return {};
  }
  const bool limited = LimitsGpus(state_, quota.meta.ns);
  state_.UpsertQuota(std::move(spec));
  if (LimitsGpus(state_, quota.meta.ns) != limited) stale_spaces_.insert(quota.meta.ns);
  Changed();
  const std::string name = objects::NamespacedName(quota.meta);
  quotas_.insert_or_assign(name, std::move(quota));
  return {};
}

void ClusterFeed::RemoveQuota(const std::string& name) {
  if (quotas_.erase(name) == 0) return;
  const std::string space = name.substr(0, name.find('/'));
  const bool limited = LimitsGpus(state_, space);
  state_.RemoveQuota(name);
  if (LimitsGpus(state_, space) != limited) stale_spaces_.insert(space);
  Changed();
}

Status ClusterFeed::ReadGroup(const objects::PodGroup& group) {
  TRY_ASSIGN(JobSpec spec,
             Of(group.meta, ToJobSpec(group, around_.priorities, state_.resource_names())));
  if (group.queue.empty()) spec.queue = default_queue_;
  state_.GrowTables();
  const std::string name = spec.name;
  const auto known = state_.FindJob(name);
  if (!known) {
    state_.UpsertJob(std::move(spec));
    stale_groups_.insert(name);
    Changed();
    return {};
  }
  const JobSpec& before = state_.job(*known).spec;
  const JobPhase phase = state_.job(*known).phase;
  const bool decided = phase != before.phase;  // here, and not written yet when this was
  const JobPhase next = decided ? phase : spec.phase;
  JobSpec unmoved = spec;
  unmoved.phase = before.phase;
  const bool same = unmoved == before;
  if (!same || next != phase) Changed();
  if (!same && spec.sub_groups != before.sub_groups) {
    TakeJobOut(*known, name);
    stale_groups_.insert(name);
  }
  state_.SetJobPhase(state_.UpsertJob(std::move(spec)), next);
  return {};
}

Status ClusterFeed::Put(objects::PodGroup group) {
  TRY(ReadGroup(group));
  const std::string name = objects::NamespacedName(group.meta);
  groups_.insert_or_assign(name, std::move(group));
  return {};
}

void ClusterFeed::TakeJobOut(JobId job, const std::string& group) {
  // Also those that are not the job's yet: they are read again, and that may be due.
  if (const auto it = pods_of_group_.find(group); it != pods_of_group_.end()) {
    for (const std::string& pod : it->second) DropTask(pod);
  }
  state_.RemoveJob(job);
}

void ClusterFeed::RemoveGroup(const std::string& name) {
  if (groups_.erase(name) == 0) return;
  TakeJobOut(*state_.FindJob(name), name);
  stale_groups_.insert(name);
  Changed();
}

// ---- pods
// ---------------------------------------------------------------------------------------------------------------

Status ClusterFeed::Put(objects::Pod pod) {
  const std::string name = objects::NamespacedName(pod.meta);
  if (around_.rules.Learn(pod) == PodRulesReader::Others::kMayBeOld) MakeStale(pods_stale_);
  const auto known = pods_.find(name);
  if (known != pods_.end() && GroupOf(known->second) != GroupOf(pod)) RemovePod(name);
  TRY(ReadPodAgain(pod));
  pods_of_group_[GroupOf(pod)].insert(name);
  pods_.insert_or_assign(name, std::move(pod));
  return {};
}

void ClusterFeed::RemovePod(const std::string& name) {
  const auto it = pods_.find(name);
  if (it == pods_.end()) return;
  const std::string group = GroupOf(it->second);
  pods_.erase(it);
  assumed_.erase(name);
  DropTask(name);
  for (auto* index : {&pods_of_group_, &waiting_}) {
    const auto entry = index->find(group);
    if (entry == index->end()) continue;
    entry->second.erase(name);
    if (entry->second.empty()) index->erase(entry);
  }
}

Status ClusterFeed::ReadPodAgain(const objects::Pod& pod) {
  const std::string name = objects::NamespacedName(pod.meta);
  // A pod that is being bound may land on its node whatever happens to it meanwhile, so it is read
  // as one that is there.
  const auto held = assumed_.find(name);
  const bool binding =
      pod.spec.node_name.empty() && held != assumed_.end() && held->second.uid == pod.meta.uid;
  objects::Pod there;
  if (binding) {
    there = pod;
    there.spec.node_name = held->second.node;
  }
  TRY_ASSIGN(PodReading reading, ReadPod(binding ? there : pod, around_, takes_, state_));
  if (!pod.spec.node_name.empty()) assumed_.erase(name);
  if (reading.waits_for_group) {
    waiting_[reading.group].insert(name);
  } else if (const auto it = waiting_.find(reading.group); it != waiting_.end()) {
    it->second.erase(name);
    if (it->second.empty()) waiting_.erase(it);
  }
  if (!reading.task) {
    DropTask(name);
    return {};
  }
  return PutTask(pod, *std::move(reading.task));
}

Status ClusterFeed::PutTask(const objects::Pod& pod, TaskSpec spec) {
  const std::string name = objects::NamespacedName(pod.meta);
  if (const auto it = assumed_.find(name); it != assumed_.end() && it->second.uid == spec.uid) {
    spec.status = TaskStatus::kBinding;
    spec.node_name = it->second.node;
    spec.gpus = it->second.gpus;
  }
  const auto known = tasks_.find(name);
  if (known != tasks_.end() && DiffersInStatusOnly(state_, known->second, spec)) {
    const TaskStatus before = state_.task(known->second).status;
    if (before == spec.status) return {};
    state_.SetTaskStatus(known->second, spec.status);
    Changed();
    return {};
  }
  DropTask(name);
  TRY_ASSIGN(const TaskId id, Of(pod.meta, state_.AddTask(std::move(spec))));
  tasks_.insert_or_assign(name, id);
  Changed();
  return {};
}

void ClusterFeed::DropTask(const std::string& pod) {
  const auto it = tasks_.find(pod);
  if (it == tasks_.end()) return;
  state_.RemoveTask(it->second);
  tasks_.erase(it);
  Changed();
}

void ClusterFeed::Assume(TaskId id) {
  const Task& task = state_.task(id);
  assumed_[task.name] = {task.uid, state_.node(task.node).name, state_.GpusOf(id)};
}

void ClusterFeed::Forget(const std::string& pod, const std::string& uid) {
  const auto it = assumed_.find(pod);
  if (it == assumed_.end() || it->second.uid != uid) return;
  assumed_.erase(it);
  if (const auto* known = FindIn(pods_, pod)) static_cast<void>(ReadPodAgain(*known));
}

}  // namespace strata
