#include "convert/cluster_feed.h"

#include <array>
#include <utility>

#include "convert/gpu_annotations.h"
#include "convert/specs.h"
#include "objects/sort_by_name.h"

namespace strata {
namespace {

bool HasVolumes(const objects::Pod& pod) {
  return !pod.spec.volumes.empty();
}

template <typename T>
void CopyTo(const std::map<std::string, T, std::less<>>& kept, std::vector<T>& out) {
  for (const auto& [name, object] : kept) out.push_back(object);
  objects::SortByName(out);
}

}  // namespace

ClusterFeed::ClusterFeed(TakesPod takes, std::string default_queue)
    : takes_(std::move(takes)),
      default_queue_(std::move(default_queue)),
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
  MakeStale(groups_stale_);
  MakeStale(pods_stale_);
}

Status ClusterFeed::Put(objects::Namespace space) {
  const std::string name = space.meta.name;
  const auto others = around_.rules.LearnNamespace(name, space.meta.labels);
  if (others == PodRulesReader::Others::kMayBeOld) MakeStale(pods_stale_);
  namespaces_.insert_or_assign(name, std::move(space));
  return {};
}

void ClusterFeed::RemoveNamespace(const std::string& name) {
  if (namespaces_.erase(name) == 0) return;
  const auto others = around_.rules.LearnNamespace(name, {});
  if (others == PodRulesReader::Others::kMayBeOld) MakeStale(pods_stale_);
}

template <typename T>
Status ClusterFeed::PutStorage(Kept<T>& kept, T object) {
  const std::string name = objects::NamespacedName(object.meta);
  RemoveStorage(kept, name);
  around_.volumes.Put(kept.insert_or_assign(name, std::move(object)).first->second);
  MakeStale(volume_pods_stale_);
  return {};
}

template <typename T>
void ClusterFeed::RemoveStorage(Kept<T>& kept, const std::string& name) {
  const auto it = kept.find(name);
  if (it == kept.end()) return;
  around_.volumes.Drop(it->second);
  kept.erase(it);
  MakeStale(volume_pods_stale_);
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
  for (objects::Pod& pod : set.pods) {
    const auto held = assumed_.find(objects::NamespacedName(pod.meta));
    if (held == assumed_.end() || held->second.uid != pod.meta.uid) continue;
    const Assumption& binding = held->second;
    pod.spec.node_name = binding.node;
    if (binding.gpus.empty()) continue;
    for (auto& [key, value] : WriteGpuClaim(binding.gpus, binding.node)) {
      pod.meta.annotations.insert_or_assign(key, value);
    }
  }
  CopyTo(groups_, set.pod_groups);
  for (objects::PodGroup& group : set.pod_groups) {
    if (group.queue.empty()) group.queue = default_queue_;
  }
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
