#include "convert/cluster_feed.h"

#include <array>
#include <utility>

#include "convert/disruption.h"
#include "convert/gpu_annotations.h"
#include "convert/specs.h"
#include "model/gpu_amounts.h"
#include "objects/sort_by_name.h"

namespace strata {
namespace {

bool HasVolumes(const objects::Pod& pod) {
  return !pod.spec.volumes.empty();
}

template <typename Kept, typename T>
void CopyTo(const Kept& kept, std::vector<T>& out) {
  out.reserve(kept.size());
  for (const auto& [name, object] : kept) out.push_back(*object);
  objects::SortByName(out);
}

// The object, moved out of its set, or where it is when the set is constant.
template <typename T>
std::shared_ptr<const T> Take(T& object) {
  return std::make_shared<const T>(std::move(object));
}
template <typename T>
std::shared_ptr<const T> Take(const T& object) {
  return {std::shared_ptr<const T>(), &object};
}

}  // namespace

ClusterFeed::ClusterFeed(ClusterState& state, TakesPod takes, std::string default_queue)
    : takes_(std::move(takes)),
      default_queue_(std::move(default_queue)),
      state_(state),
      around_{.priorities = objects::PriorityTable({}), .rules = {}, .volumes = {}, .numa = false} {
  // GPUs are counted by this name, whatever they are asked for by.
  state_.resource_names().Intern(kGpuResource);
  state_.GrowTables();
  state_.workload().UpsertQueue(DefaultQueue());
}

Status ClusterFeed::Apply(objects::ObjectSet objects) {
  return ApplyAll(objects);
}

Status ClusterFeed::ApplyBorrowed(const objects::ObjectSet& objects) {
  return ApplyAll(objects);
}

// What others are read by comes before them, so that a whole cluster is read once.
template <typename Set>
Status ClusterFeed::ApplyAll(Set& objects) {
  const auto put_all = [this](auto& list) -> Status {
    // this->, because clang 14 otherwise calls the capture unused.
    for (auto& object : list) TRY(this->Put(Take(object)));
    return {};
  };
  PutPriorityClasses(objects.priority_classes);
  TRY(put_all(objects.namespaces));
  for (auto& claim : objects.claims) PutStorage(claims_, Take(claim));
  for (auto& volume : objects.volumes) PutStorage(volumes_, Take(volume));
  for (auto& storage : objects.storage_classes) PutStorage(storage_classes_, Take(storage));
  for (auto& node : objects.csi_nodes) {
    const std::string name = node.meta.name;
    PutStorage(csi_nodes_, Take(node));
    ReadNodeAgain(name);
  }
  TRY(put_all(objects.numa_topologies));
  TRY(put_all(objects.nodes));
  TRY(put_all(objects.hypernodes));
  TRY(put_all(objects.queues));
  TRY(put_all(objects.quotas));
  TRY(put_all(objects.disruption_budgets));
  TRY(put_all(objects.pod_groups));
  Learn(objects.pods);
  return put_all(objects.pods);
}

void ClusterFeed::Remove(std::string_view kind, const std::string& ns, const std::string& name) {
  using Member = void (ClusterFeed::*)(const std::string&);
  constexpr std::array<std::pair<std::string_view, Member>, 10> kRemovers = {
      {{"Pod", &ClusterFeed::RemovePod},
       {"Node", &ClusterFeed::RemoveNode},
       {"PodGroup", &ClusterFeed::RemoveGroup},
       {"Queue", &ClusterFeed::RemoveQueue},
       {"ResourceQuota", &ClusterFeed::RemoveQuota},
       {"PodDisruptionBudget", &ClusterFeed::RemoveBudget},
       {"HyperNode", &ClusterFeed::RemoveHyperNode},
       {"Numatopology", &ClusterFeed::RemoveNumaTopology},
       {"PriorityClass", &ClusterFeed::RemovePriorityClass},
       {"Namespace", &ClusterFeed::RemoveNamespace}}};
  const std::string full_name = ns.empty() ? name : ns + "/" + name;
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

template <typename Classes>
void ClusterFeed::PutPriorityClasses(Classes& classes) {
  bool changed = false;
  for (auto& priority : classes) {
    const std::string name = priority.meta.name;
    const auto* known = FindIn(priorities_, name);
    changed = changed || known == nullptr || known->value != priority.value ||
              known->global_default != priority.global_default;
    priorities_.insert_or_assign(name, Take(priority));
  }
  if (changed) PriorityClassesChanged();
}

void ClusterFeed::RemovePriorityClass(const std::string& name) {
  if (priorities_.erase(name) > 0) PriorityClassesChanged();
}

void ClusterFeed::PriorityClassesChanged() {
  std::vector<objects::PriorityClass> classes;
  CopyTo(priorities_, classes);
  around_.priorities = objects::PriorityTable(classes);
  groups_stale_ = !groups_.empty();
  MakePodsStale(pods_stale_);
}

void ClusterFeed::Learn(const std::vector<objects::Pod>& pods) {
  for (const objects::Pod& pod : pods) {
    const auto others = around_.rules.Learn(pod);
    if (others == PodRulesReader::Others::kMayBeOld) MakePodsStale(pods_stale_);
  }
}

void ClusterFeed::MakeNamespaceStale(const std::string& ns) {
  if (!pods_.empty()) stale_namespaces_.insert(ns);
}

Status ClusterFeed::Put(Ref<objects::Namespace> ns) {
  const std::string name = ns->meta.name;
  const auto* known = FindIn(namespaces_, name);
  FollowSwitch(known != nullptr && SparesJobs(known->meta), SparesJobs(ns->meta));
  const auto others = around_.rules.LearnNamespace(name, ns->meta.labels);
  if (others == PodRulesReader::Others::kMayBeOld) MakePodsStale(pods_stale_);
  namespaces_.insert_or_assign(name, std::move(ns));
  return {};
}

void ClusterFeed::RemoveNamespace(const std::string& name) {
  const auto* known = FindIn(namespaces_, name);
  if (known == nullptr) return;
  FollowSwitch(SparesJobs(known->meta), false);
  namespaces_.erase(name);
  const auto others = around_.rules.LearnNamespace(name, {});
  if (others == PodRulesReader::Others::kMayBeOld) MakePodsStale(pods_stale_);
}

template <typename T>
void ClusterFeed::PutStorage(Kept<T>& kept, Ref<T> object) {
  const std::string name = objects::NamespacedName(object->meta);
  RemoveStorage(kept, name);
  around_.volumes.Put(*kept.insert_or_assign(name, std::move(object)).first->second);
  MakePodsStale(volume_pods_stale_);
}

template <typename T>
void ClusterFeed::RemoveStorage(Kept<T>& kept, const std::string& name) {
  const auto it = kept.find(name);
  if (it == kept.end()) return;
  around_.volumes.Drop(*it->second);
  kept.erase(it);
  MakePodsStale(volume_pods_stale_);
}

void ClusterFeed::Settle(std::vector<std::string>& problems) {
  const auto note = [&](const Status& status) {
    if (!status) problems.push_back(status.error().message);
  };
  FollowFoundNames();
  if (std::exchange(groups_stale_, false)) {
    for (const auto& [name, group] : groups_) note(ReadGroup(*group));
  }
  const bool all = std::exchange(pods_stale_, false);
  const bool with_volumes = std::exchange(volume_pods_stale_, false);
  const std::set<std::string> spaces = std::exchange(stale_namespaces_, {});
  const std::set<std::string> groups = std::exchange(stale_groups_, {});
  if (all || with_volumes || !spaces.empty()) {
    for (const auto& [name, pod] : pods_) {
      const bool concerned = all || (with_volumes && HasVolumes(*pod)) ||
                             spaces.contains(pod->meta.ns) || groups.contains(GroupOf(*pod));
      if (concerned) note(ReadPodAgain(name, *pod));
    }
  } else {
    for (const std::string& group : groups) ReadPodsOf(group, problems);
  }
  ForgetNames();
  state_.CountShares();
  state_.sums().Settle();
}

void ClusterFeed::ForgetNames() {
  const std::size_t known = state_.resource_names().absent_count();
  // More of them than before may be those of an object that turned out invalid.
  if (std::exchange(names_released_, false) || known != absent_seen_) state_.ForgetAbsentNames();
  absent_seen_ = state_.resource_names().absent_count();
}

// A resource that no node had is one of a node now, under another id: what names resources is read
// again.
void ClusterFeed::FollowFoundNames() {
  const std::uint64_t now = state_.resource_names().found_version();
  if (std::exchange(found_names_seen_, now) == now) return;
  for (const auto& [name, queue] : queues_) static_cast<void>(ReadQueue(*queue));
  for (const auto& [name, quota] : quotas_) static_cast<void>(ReadQuota(*quota));
  groups_stale_ = !groups_.empty();
  pods_stale_ = !pods_.empty();
  Changed();
}

void ClusterFeed::ReadPodsOf(const std::string& group, std::vector<std::string>& problems) {
  const auto it = pods_of_group_.find(group);
  if (it == pods_of_group_.end()) return;
  for (const std::string& name : it->second) {
    const Status read = ReadPodAgain(name, *pods_.find(name)->second);
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

const objects::Node* ClusterFeed::FindNode(const std::string& name) const {
  return FindIn(nodes_, name);
}

std::optional<TaskId> ClusterFeed::FindTask(const std::string& pod) const {
  const auto it = tasks_.find(pod);
  return it == tasks_.end() ? std::nullopt : std::optional(it->second);
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
  CopyTo(budgets_, set.disruption_budgets);
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
