// The part of ClusterFeed that turns single objects into changes of the state.
#include <optional>
#include <utility>

#include "convert/cluster_feed.h"
#include "convert/disruption.h"
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
  const Task& task = state.workload().task(id);
  const std::string node = task.node.valid() ? state.nodes().spec(task.node).name : "";
  const bool keeps_node = NeedsNode(task.status) && node == spec.node_name && !node.empty();
  const bool keeps_none = !NeedsNode(task.status) && !NeedsNode(spec.status);
  if (!keeps_node && !keeps_none) return false;
  if (task.uid != spec.uid || task.job != spec.job || task.priority != spec.priority ||
      task.gated != spec.gated || task.created != spec.created) {
    return false;
  }
  if (task.job.valid()) {
    const Job& job = state.workload().job(task.job);
    if (job.roles[task.role].name != spec.role) return false;
    if (job.sub_jobs[task.sub_job].key != spec.sub_group) return false;
    if (task.missed_policy != spec.missed_policy) return false;
  }
  if (NeedsNode(spec.status) && state.workload().GpusOf(id) != spec.gpus) return false;
  const ClassSpec& known = state.classes().spec(task.class_id);
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
  const auto known = state_.nodes().Find(spec.name);
  if (known && state_.nodes().spec(*known) == spec) return {};
  TRY(Of(node.meta, state_.UpsertNode(std::move(spec))));
  Changed();
  return {};
}

void ClusterFeed::ReadNodeAgain(const std::string& name) {
  const auto* node = FindIn(nodes_, name);
  // Nothing of the node itself is new, so it cannot have become too large.
  if (node != nullptr) static_cast<void>(ReadNode(*node));
}

Status ClusterFeed::Put(Ref<objects::Node> node) {
  TRY(ReadNode(*node));
  const std::string name = node->meta.name;
  nodes_.insert_or_assign(nodes_.end(), name, std::move(node));
  return {};
}

void ClusterFeed::RemoveNode(const std::string& name) {
  if (nodes_.erase(name) == 0) return;
  state_.RemoveNode(*state_.nodes().Find(name));
  Changed();
}

Status ClusterFeed::Put(Ref<objects::HyperNode> hypernode) {
  const std::string name = hypernode->meta.name;
  const auto* known = FindIn(hypernodes_, name);
  if (known == nullptr || known->spec != hypernode->spec) {
    state_.UpsertHyperNode(hypernode->spec);
    Changed();
  }
  hypernodes_.insert_or_assign(hypernodes_.end(), name, std::move(hypernode));
  return {};
}

void ClusterFeed::RemoveHyperNode(const std::string& name) {
  if (hypernodes_.erase(name) == 0) return;
  state_.RemoveHyperNode(name);
  Changed();
}

Status ClusterFeed::Put(Ref<objects::NumaTopology> topology) {
  TRY(Of(topology->meta, ToNumaSpec(*topology)));
  const std::string name = topology->meta.name;
  numa_.insert_or_assign(name, std::move(topology));
  if (!std::exchange(around_.numa, true)) MakePodsStale(pods_stale_);
  ReadNodeAgain(name);
  return {};
}

void ClusterFeed::RemoveNumaTopology(const std::string& name) {
  if (numa_.erase(name) == 0) return;
  around_.numa = !numa_.empty();
  if (!around_.numa) MakePodsStale(pods_stale_);
  ReadNodeAgain(name);
}

// ---- queues, quotas, jobs
// -----------------------------------------------------------------------------------------------

Status ClusterFeed::ReadQueue(const objects::Queue& queue) {
  TRY_ASSIGN(QueueSpec spec, Of(queue.meta, ToQueueSpec(queue, state_.resource_names())));
  const auto known = state_.workload().FindQueue(spec.name);
  if (known && state_.workload().queue(*known).spec == spec) return {};
  state_.workload().UpsertQueue(std::move(spec));
  names_released_ = true;
  Changed();
  return {};
}

// An operator has said something new about evictions: PodGroups are read again.
void ClusterFeed::FollowSwitch(bool before, bool after) {
  if (before == after || groups_.empty()) return;
  groups_stale_ = true;
  Changed();
}

Status ClusterFeed::Put(Ref<objects::Queue> queue) {
  TRY(ReadQueue(*queue));
  const std::string name = queue->meta.name;
  const auto* known = FindIn(queues_, name);
  FollowSwitch(known != nullptr && SparesJobs(known->meta), SparesJobs(queue->meta));
  queues_.insert_or_assign(name, std::move(queue));
  return {};
}

void ClusterFeed::RemoveQueue(const std::string& name) {
  const auto* known = FindIn(queues_, name);
  if (known == nullptr) return;
  FollowSwitch(SparesJobs(known->meta), false);
  queues_.erase(name);
  QueueSpec fallback = DefaultQueue();
  if (fallback.name == name) {
    state_.workload().UpsertQueue(std::move(fallback));
  } else {
    state_.workload().RemoveQueue(*state_.workload().FindQueue(name));
  }
  names_released_ = true;
  Changed();
}

Status ClusterFeed::ReadQuota(const objects::ResourceQuota& quota) {
  TRY_ASSIGN(QuotaSpec spec, Of(quota.meta, ToQuotaSpec(quota, state_.resource_names())));
  for (const QuotaSpec* known : state_.quotas().Of(quota.meta.ns)) {
    if (*known == spec) return {};
  }
  const bool limited = LimitsGpus(state_, quota.meta.ns);
  state_.quotas().Upsert(std::move(spec));
  if (LimitsGpus(state_, quota.meta.ns) != limited) MakeNamespaceStale(quota.meta.ns);
  names_released_ = true;
  Changed();
  return {};
}

Status ClusterFeed::Put(Ref<objects::ResourceQuota> quota) {
  TRY(ReadQuota(*quota));
  const std::string name = objects::NamespacedName(quota->meta);
  quotas_.insert_or_assign(name, std::move(quota));
  return {};
}

void ClusterFeed::RemoveQuota(const std::string& name) {
  if (quotas_.erase(name) == 0) return;
  const std::string ns = name.substr(0, name.find('/'));
  const bool limited = LimitsGpus(state_, ns);
  state_.quotas().Remove(name);
  if (LimitsGpus(state_, ns) != limited) MakeNamespaceStale(ns);
  names_released_ = true;
  Changed();
}

Status ClusterFeed::Put(Ref<objects::PodDisruptionBudget> budget) {
  const std::string name = objects::NamespacedName(budget->meta);
  BudgetSpec spec = ToBudgetSpec(*budget);
  const auto known = state_.budgets().all().find(name);
  if (known == state_.budgets().all().end() || known->second != spec) {
    if (state_.budgets().Upsert(std::move(spec))) MakeNamespaceStale(budget->meta.ns);
    Changed();
  }
  budgets_.insert_or_assign(name, std::move(budget));
  return {};
}

void ClusterFeed::RemoveBudget(const std::string& name) {
  if (budgets_.erase(name) == 0) return;
  if (state_.budgets().Remove(name)) MakeNamespaceStale(name.substr(0, name.find('/')));
  Changed();
}

Status ClusterFeed::ReadGroup(const objects::PodGroup& group) {
  TRY_ASSIGN(JobSpec spec,
             Of(group.meta, ToJobSpec(group, around_.priorities, state_.resource_names())));
  if (group.queue.empty()) spec.queue = default_queue_;
  const auto* queue = FindIn(queues_, spec.queue);
  const auto* ns = FindIn(namespaces_, group.meta.ns);
  if ((queue != nullptr && SparesJobs(queue->meta)) || (ns != nullptr && SparesJobs(ns->meta))) {
    spec.preemptable = false;
  }
  const std::string name = spec.name;
  const auto known = state_.workload().FindJob(name);
  if (!known) {
    state_.workload().UpsertJob(std::move(spec));
    if (pods_of_group_.contains(name)) stale_groups_.insert(name);
    Changed();
    return {};
  }
  const JobSpec& before = state_.workload().job(*known).spec;
  const JobPhase phase = state_.workload().job(*known).phase;
  const bool decided = phase != before.phase;  // here, and not written yet when this was
  const JobPhase next = decided ? phase : spec.phase;
  JobSpec unmoved = spec;
  unmoved.phase = before.phase;
  unmoved.was_whole = before.was_whole;
  const bool same = unmoved == before;
  if (!same || next != phase) Changed();
  if (!same) ReleaseNamesOf(before);
  if (!same && spec.sub_groups != before.sub_groups) {
    TakeJobOut(*known, name);
    stale_groups_.insert(name);
  }
  state_.workload().SetJobPhase(state_.workload().UpsertJob(std::move(spec)), next);
  return {};
}

Status ClusterFeed::Put(Ref<objects::PodGroup> group) {
  TRY(ReadGroup(*group));
  const std::string name = objects::NamespacedName(group->meta);
  groups_.insert_or_assign(groups_.end(), name, std::move(group));
  return {};
}

void ClusterFeed::TakeJobOut(JobId job, const std::string& group) {
  // Also those that are not the job's yet: they are read again, and that may be due.
  if (const auto it = pods_of_group_.find(group); it != pods_of_group_.end()) {
    for (const std::string& pod : it->second) DropTask(pod);
  }
  ReleaseNamesOf(state_.workload().job(job).spec);
  state_.workload().RemoveJob(job);
}

void ClusterFeed::RemoveGroup(const std::string& name) {
  if (groups_.erase(name) == 0) return;
  TakeJobOut(*state_.workload().FindJob(name), name);
  stale_groups_.insert(name);
  Changed();
}

// ---- pods
// ---------------------------------------------------------------------------------------------------------------

Status ClusterFeed::Put(Ref<objects::Pod> pod) {
  const std::string name = objects::NamespacedName(pod->meta);
  const std::string group = GroupOf(*pod);
  const objects::Pod* const before = FindIn(pods_, name);
  TRY(ReadPodAgain(name, *pod));
  if (before != nullptr && GroupOf(*before) != group) LeaveGroup(name, GroupOf(*before));
  std::set<std::string>& members = pods_of_group_[group];
  members.insert(members.end(), name);
  pods_.insert_or_assign(pods_.end(), name, std::move(pod));
  return {};
}

void ClusterFeed::RemovePod(const std::string& name) {
  const auto it = pods_.find(name);
  if (it == pods_.end()) return;
  const std::string group = GroupOf(*it->second);
  pods_.erase(it);
  assumed_.erase(name);
  evicted_.erase(name);
  stranded_version_ += of_another_.erase(name);
  DropTask(name);
  LeaveGroup(name, group);
}

void ClusterFeed::LeaveGroup(const std::string& pod, const std::string& group) {
  for (auto* index : {&pods_of_group_, &waiting_}) {
    const auto entry = index->find(group);
    if (entry == index->end()) continue;
    const std::size_t left = entry->second.erase(pod);
    if (index == &waiting_) stranded_version_ += left;
    if (entry->second.empty()) index->erase(entry);
  }
}

Status ClusterFeed::ReadPodAgain(const std::string& name, const objects::Pod& pod) {
  // A pod that is being bound may land on its node whatever happens to it meanwhile, so it is read
  // as one that is there.
  const auto held = assumed_.find(name);
  const bool binding =
      pod.spec.node_name.empty() && held != assumed_.end() && held->second.uid == pod.meta.uid;
  std::optional<objects::Pod> there;
  if (binding) {
    there = pod;
    there->spec.node_name = held->second.node;
  }
  TRY_ASSIGN(PodReading reading, ReadPod(there ? *there : pod, around_, takes_, state_));
  if (binding && reading.task) {
    reading.task->status = TaskStatus::kBinding;
    reading.task->gpus = held->second.gpus;
  }
  const auto evicted = evicted_.find(name);
  if (evicted != evicted_.end() && evicted->second == pod.meta.uid && reading.task) {
    reading.task->status = TaskStatus::kReleasing;
  }
  if (reading.task) {
    PutTask(name, *std::move(reading.task));
  } else {
    DropTask(name);
  }
  if (reading.waits_for_group) {
    if (waiting_[reading.group].insert(name).second) ++stranded_version_;
  } else if (const auto it = waiting_.find(reading.group); it != waiting_.end()) {
    stranded_version_ += it->second.erase(name);
    if (it->second.empty()) waiting_.erase(it);
  }
  if (!reading.of_another) {
    stranded_version_ += of_another_.erase(name);
  } else if (of_another_.insert(name).second) {
    ++stranded_version_;
  }
  if (!pod.spec.node_name.empty()) assumed_.erase(name);
  return {};
}

void ClusterFeed::PutTask(const std::string& name, TaskSpec spec) {
  const auto known = Locate(tasks_, name);
  if (known != tasks_.end() && DiffersInStatusOnly(state_, known->second, spec)) {
    // A pod that was bound says since when it runs. That moves no sum, so no cycle follows from it.
    state_.workload().SetDisruption(known->second, spec.disruption);
    const TaskStatus before = state_.workload().task(known->second).status;
    if (before == spec.status) return;
    state_.workload().SetTaskStatus(known->second, spec.status);
    Changed();
    return;
  }
  if (known != tasks_.end()) DropTask(name);
  tasks_.insert_or_assign(tasks_.end(), name, state_.workload().AddTask(std::move(spec)));
  Changed();
}

void ClusterFeed::DropTask(const std::string& pod) {
  const auto it = Locate(tasks_, pod);
  if (it == tasks_.end()) return;
  ReleaseNames(state_.classes().spec(state_.workload().task(it->second).class_id).request);
  state_.workload().RemoveTask(it->second);
  tasks_.erase(it);
  Changed();
}

void ClusterFeed::Assume(TaskId id) {
  const Task& task = state_.workload().task(id);
  assumed_[task.name] = {
      task.uid, state_.nodes().spec(task.node).name, state_.workload().GpusOf(id)};
}

void ClusterFeed::Evict(TaskId id) {
  const Task& task = state_.workload().task(id);
  evicted_[task.name] = task.uid;
  if (task.status == TaskStatus::kReleasing) return;
  state_.workload().SetTaskStatus(id, TaskStatus::kReleasing);
  Changed();
}

void ClusterFeed::KeepPod(const std::string& pod, const std::string& uid) {
  const auto it = evicted_.find(pod);
  if (it == evicted_.end() || it->second != uid) return;
  evicted_.erase(it);
  // It was read before in the same way but for its status.
  if (const auto* known = FindIn(pods_, pod)) static_cast<void>(ReadPodAgain(pod, *known));
}

void ClusterFeed::Forget(const std::string& pod, const std::string& uid) {
  const auto it = assumed_.find(pod);
  if (it == assumed_.end() || it->second.uid != uid) return;
  assumed_.erase(it);
  const auto* known = FindIn(pods_, pod);
  if (known == nullptr || ReadPodAgain(pod, *known)) return;
  // An update meanwhile that only a pod on a node may have: it waits no longer, and Settle says
  // why.
  DropTask(pod);
  stale_groups_.insert(GroupOf(*known));
}

}  // namespace strata
