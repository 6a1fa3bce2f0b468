#include "convert/cluster_feed.h"

#include <array>
#include <optional>
#include <utility>

#include "convert/numa_rules.h"
#include "convert/specs.h"
#include "objects/sort_by_name.h"

namespace strata {
namespace {

bool HasVolumes(const objects::Pod& pod) {
  return !pod.spec.volumes.empty();
}

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
  }
  if (NeedsNode(spec.status) && state.GpusOf(id) != spec.gpus) return false;
  const ClassSpec& known = state.task_class(task.class_id);
  ClassSpec wanted = spec.constraints;
  wanted.node_groups = known.node_groups;  // the state's own business
  return known == wanted;
}

template <typename T>
const T* FindIn(const std::map<std::string, T, std::less<>>& kept, const std::string& name) {
  const auto it = kept.find(name);
  return it == kept.end() ? nullptr : &it->second;
}

template <typename T>
void CopyTo(const std::map<std::string, T, std::less<>>& kept, std::vector<T>& out) {
  for (const auto& [name, object] : kept) out.push_back(object);
  objects::SortByName(out);
}

}  // namespace

ClusterFeed::ClusterFeed(TakesPod takes)
    : takes_(std::move(takes)),
      around_{.priorities = objects::PriorityTable({}), .rules = {}, .volumes = {}, .numa = false} {
  state_.UpsertQueue(DefaultQueue());
}

template <typename T>
Status ClusterFeed::PutAll(std::vector<T>& objects) {
  for (T& object : objects) TRY(Put(std::move(object)));
  return {};
}

Status ClusterFeed::Apply(objects::ObjectSet objects) {
  TRY(PutAll(objects.priority_classes));
  TRY(PutAll(objects.namespaces));
  for (auto& claim : objects.claims) TRY(PutStorage(claims_, std::move(claim)));
  for (auto& volume : objects.volumes) TRY(PutStorage(volumes_, std::move(volume)));
  for (auto& storage : objects.storage_classes) {
    TRY(PutStorage(storage_classes_, std::move(storage)));
  }
  for (auto& node : objects.csi_nodes) {
    const std::string name = node.meta.name;
    TRY(PutStorage(csi_nodes_, std::move(node)));
    ReadNodeAgain(name);
  }
  TRY(PutAll(objects.numa_topologies));
  TRY(PutAll(objects.nodes));
  TRY(PutAll(objects.hypernodes));
  TRY(PutAll(objects.queues));
  TRY(PutAll(objects.quotas));
  TRY(PutAll(objects.pod_groups));
  return PutAll(objects.pods);
}

void ClusterFeed::Remove(std::string_view kind, const std::string& space, const std::string& name) {
  using Member = void (ClusterFeed::*)(const std::string&);
  constexpr std::array<std::pair<std::string_view, Member>, 9> kRemovers = {
      {{"Pod", &ClusterFeed::RemovePod},
       {"Node", &ClusterFeed::RemoveNode},
       {"PodGroup", &ClusterFeed::RemoveGroup},
       {"Queue", &ClusterFeed::RemoveQueue},
       {"ResourceQuota", &ClusterFeed::RemoveQuota},
       {"HyperNode", &ClusterFeed::RemoveHyperNode},
       {"Numatopology", &ClusterFeed::RemoveNumaTopology},
       {"PriorityClass", &ClusterFeed::RemovePriorityClass},
       {"Namespace", &ClusterFeed::RemoveNamespace}}};
  const std::string full_name = space.empty() ? name : space + "/" + name;
  for (const auto& [its_kind, remove] : kRemovers) {
    if (its_kind == kind) return (this->*remove)(full_name);
  }
  if (kind == "PersistentVolumeClaim") RemoveStorage(claims_, full_name);
  if (kind == "PersistentVolume") RemoveStorage(volumes_, full_name);
  if (kind == "StorageClass") RemoveStorage(storage_classes_, full_name);
  if (kind == "CSINode") {
    RemoveStorage(csi_nodes_, full_name);
    ReadNodeAgain(full_name);
  }
}

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
  if (!std::exchange(around_.numa, true)) pods_stale_ = true;
  ReadNodeAgain(name);
  return {};
}

void ClusterFeed::RemoveNumaTopology(const std::string& name) {
  if (numa_.erase(name) == 0) return;
  around_.numa = !numa_.empty();
  if (!around_.numa) pods_stale_ = true;
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
  stale_spaces_.insert(quota.meta.ns);
  state_.UpsertQuota(std::move(spec));
  Changed();
  const std::string name = objects::NamespacedName(quota.meta);
  quotas_.insert_or_assign(name, std::move(quota));
  return {};
}

void ClusterFeed::RemoveQuota(const std::string& name) {
  if (quotas_.erase(name) == 0) return;
  stale_spaces_.insert(name.substr(0, name.find('/')));
  state_.RemoveQuota(name);
  Changed();
}

Status ClusterFeed::ReadGroup(const objects::PodGroup& group) {
  TRY_ASSIGN(JobSpec spec,
             Of(group.meta, ToJobSpec(group, around_.priorities, state_.resource_names())));
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
  for (const std::string& pod : pods_of_group_[group]) tasks_.erase(pod);
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
  if (around_.rules.Learn(pod) == PodRulesReader::Others::kMayBeOld) pods_stale_ = true;
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
  TRY_ASSIGN(PodReading reading, ReadPod(pod, around_, takes_, state_));
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

// ---- what concerns many pods
// -------------------------------------------------------------------------------------------

Status ClusterFeed::Put(objects::PriorityClass priority) {
  const std::string name = priority.meta.name;
  const auto* known = FindIn(priorities_, name);
  const bool same = known != nullptr && known->value == priority.value &&
                    known->global_default == priority.global_default;
  priorities_.insert_or_assign(name, std::move(priority));
  if (!same) PriorityClassesChanged();
  return {};
}

void ClusterFeed::RemovePriorityClass(const std::string& name) {
  if (priorities_.erase(name) > 0) PriorityClassesChanged();
}

void ClusterFeed::PriorityClassesChanged() {
  std::vector<objects::PriorityClass> classes;
  CopyTo(priorities_, classes);
  around_.priorities = objects::PriorityTable(classes);
  groups_stale_ = true;
  pods_stale_ = true;
}

Status ClusterFeed::Put(objects::Namespace space) {
  const std::string name = space.meta.name;
  const auto others = around_.rules.LearnNamespace(name, space.meta.labels);
  if (others == PodRulesReader::Others::kMayBeOld) pods_stale_ = true;
  namespaces_.insert_or_assign(name, std::move(space));
  return {};
}

void ClusterFeed::RemoveNamespace(const std::string& name) {
  if (namespaces_.erase(name) == 0) return;
  const auto others = around_.rules.LearnNamespace(name, {});
  if (others == PodRulesReader::Others::kMayBeOld) pods_stale_ = true;
}

template <typename T>
Status ClusterFeed::PutStorage(Kept<T>& kept, T object) {
  const std::string name = objects::NamespacedName(object.meta);
  RemoveStorage(kept, name);
  around_.volumes.Put(kept.insert_or_assign(name, std::move(object)).first->second);
  volume_pods_stale_ = true;
  return {};
}

template <typename T>
void ClusterFeed::RemoveStorage(Kept<T>& kept, const std::string& name) {
  const auto it = kept.find(name);
  if (it == kept.end()) return;
  around_.volumes.Drop(it->second);
  kept.erase(it);
  volume_pods_stale_ = true;
}

void ClusterFeed::Settle(std::vector<std::string>& problems) {
  const auto note = [&](const Status& status) {
    if (!status) problems.push_back(status.error().message);
  };
  if (std::exchange(groups_stale_, false)) {
    for (const auto& [name, group] : groups_) note(ReadGroup(group));
  }
  const bool all = std::exchange(pods_stale_, false);
  const bool with_volumes = std::exchange(volume_pods_stale_, false);
  const std::set<std::string> spaces = std::exchange(stale_spaces_, {});
  const std::set<std::string> groups = std::exchange(stale_groups_, {});
  if (all || with_volumes || !spaces.empty()) {
    for (const auto& [name, pod] : pods_) {
      const bool concerned = all || (with_volumes && HasVolumes(pod)) ||
                             spaces.contains(pod.meta.ns) || groups.contains(GroupOf(pod));
      if (concerned) note(ReadPodAgain(pod));
    }
  } else {
    for (const std::string& group : groups) ReadPodsOf(group, problems);
  }
  state_.Settle();
}

void ClusterFeed::ReadPodsOf(const std::string& group, std::vector<std::string>& problems) {
  const auto it = pods_of_group_.find(group);
  if (it == pods_of_group_.end()) return;
  for (const std::string& name : it->second) {
    const Status read = ReadPodAgain(pods_.find(name)->second);
    if (!read) problems.push_back(read.error().message);
  }
}

// ---- questions
// ----------------------------------------------------------------------------------------------------------

std::vector<MissingGroup> ClusterFeed::MissingGroups() const {
  std::vector<MissingGroup> missing;
  for (const auto& [name, pods] : waiting_) missing.push_back({name, pods.size()});
  return missing;
}

const objects::PodGroup* ClusterFeed::FindGroup(const std::string& name) const {
  return FindIn(groups_, name);
}

const objects::Pod* ClusterFeed::FindPod(const std::string& name) const {
  return FindIn(pods_, name);
}

const objects::Queue* ClusterFeed::FindQueue(const std::string& name) const {
  return FindIn(queues_, name);
}

objects::ObjectSet ClusterFeed::Objects() const {
  objects::ObjectSet set;
  CopyTo(nodes_, set.nodes);
  CopyTo(pods_, set.pods);
  CopyTo(groups_, set.pod_groups);
  CopyTo(queues_, set.queues);
  CopyTo(quotas_, set.quotas);
  CopyTo(hypernodes_, set.hypernodes);
  CopyTo(numa_, set.numa_topologies);
  CopyTo(priorities_, set.priority_classes);
  CopyTo(namespaces_, set.namespaces);
  CopyTo(claims_, set.claims);
  CopyTo(volumes_, set.volumes);
  CopyTo(storage_classes_, set.storage_classes);
  CopyTo(csi_nodes_, set.csi_nodes);
  return set;
}

}  // namespace strata
