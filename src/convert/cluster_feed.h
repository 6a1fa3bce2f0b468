#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "convert/load_cluster.h"
#include "convert/pod_tasks.h"
#include "model/cluster_state.h"
#include "objects/object_set.h"

namespace strata {

// Keeps a ClusterState in line with objects: the only way from objects to a state. Objects of a
// running cluster come, change and go one by one, in any order; manifests come all at once
// (LoadCluster). The state is the same either way (tests/property/feed_property_test.cc). An object
// costs what it changes; what concerns many pods that are there already (a priority class, labels
// of a namespace, a volume, GPUs of another kind) is worked off at the next Settle.
//
// What was decided and is not yet to be seen in the objects is kept, too: a pod that is being bound
// holds its node, and a phase that was decided stands until it has been written.
//
// Not for use by several threads at once.
class ClusterFeed {
 public:
  // `state` must be empty and outlive this, which alone puts objects into it. `default_queue` is
  // the queue of PodGroups that name none.
  ClusterFeed(ClusterState& state, TakesPod takes, std::string default_queue = kDefaultQueue);
  ClusterFeed(const ClusterFeed&) = delete;
  ClusterFeed& operator=(const ClusterFeed&) = delete;

  // Puts objects in, each in the place of the one of its kind and name. Jobs, ConfigMaps, Secrets
  // and PodDisruptionBudgets are passed over. kInvalidArgument, one line, when one cannot be used;
  // it is then as if that object had not come.
  // If one of several objects fails, the ones after it are not put in, either.
  Status Apply(objects::ObjectSet objects);
  // The same without copies: `objects` must stay unchanged as long as this lives.
  Status ApplyBorrowed(const objects::ObjectSet& objects);
  // Takes an object out; nothing when it is not there.
  void Remove(std::string_view kind, const std::string& ns, const std::string& name);

  // Works off what Apply and Remove left. To be called before the state is read. What cannot be
  // used any more is left out and becomes a line of `problems`.
  void Settle(std::vector<std::string>& problems);

  [[nodiscard]] const TakesPod& takes() const { return takes_; }
  [[nodiscard]] ClusterState& state() { return state_; }
  [[nodiscard]] const ClusterState& state() const { return state_; }
  // Moves with every change that may matter to a decision.
  [[nodiscard]] std::uint64_t version() const { return version_; }

  // The pod is being bound to the node that it has in the state.
  void Assume(TaskId task);
  // That came to nothing: the pod waits again, unless its object says otherwise.
  void Forget(const std::string& pod, const std::string& uid);
  [[nodiscard]] std::size_t assumed() const { return assumed_.size(); }
  // The pod is being evicted: whatever its object says, it is on its way out until it is gone.
  void Evict(TaskId task);
  // It is not evicted after all.
  void KeepPod(const std::string& pod, const std::string& uid);

  // Pods that wait for PodGroups which are not there, ascending by name of the group.
  [[nodiscard]] std::vector<MissingGroup> MissingGroups() const;
  // Pods that no cycle looks at: each that waits for a PodGroup, with its name, by group; then each
  // that names another scheduler, by name.
  void VisitStranded(
      const std::function<void(const std::string& pod, const std::string& group)>& groupless,
      const std::function<void(const std::string& pod)>& of_another) const {
    for (const auto& [group, pods] : waiting_) {
      for (const std::string& pod : pods) groupless(pod, group);
    }
    for (const std::string& pod : of_another_) of_another(pod);
  }
  // Moves when one of these pods comes or goes.
  [[nodiscard]] std::uint64_t stranded_version() const { return stranded_version_; }
  // None when there is no such object.
  [[nodiscard]] const objects::PodGroup* FindGroup(const std::string& name) const;
  [[nodiscard]] const objects::Pod* FindPod(const std::string& name) const;
  [[nodiscard]] const objects::Node* FindNode(const std::string& name) const;
  // Every pod, ascending by name.
  void VisitPods(const std::function<void(const objects::Pod&)>& visit) const {
    for (const auto& [name, pod] : pods_) visit(*pod);
  }
  // The task of a pod; none when the pod is nothing to the state.
  [[nodiscard]] std::optional<TaskId> FindTask(const std::string& pod) const;
  [[nodiscard]] const objects::Queue* FindQueue(const std::string& name) const;
  // Everything that is there, to be looked at elsewhere: pods that are being bound have their node
  // and the annotations of their GPUs. COST: a copy.
  [[nodiscard]] objects::ObjectSet Objects() const;

 private:
  template <typename T>
  using Ref = std::shared_ptr<const T>;  // owns the object, unless that is borrowed
  template <typename T>
  using Kept = std::map<std::string, Ref<T>, std::less<>>;  // by NamespacedName
  // As find(). The objects of a set come in order of their names: one that is new is behind all
  // others, and that takes one comparison to see.
  template <typename Map>
  [[nodiscard]] static auto Locate(Map& map, const std::string& name) {
    const bool is_behind = map.empty() || map.rbegin()->first < name;
    return is_behind ? map.end() : map.find(name);
  }
  template <typename T>
  [[nodiscard]] static const T* FindIn(const Kept<T>& kept, const std::string& name) {
    const auto it = Locate(kept, name);
    return it == kept.end() ? nullptr : it->second.get();
  }

  // Decided, and not in the pod's object yet.
  struct Assumption {
    std::string uid;
    std::string node;
    GpuClaim gpus;
  };

  Status Put(Ref<objects::Node> node);
  Status Put(Ref<objects::Pod> pod);
  Status Put(Ref<objects::PodGroup> group);
  Status Put(Ref<objects::Queue> queue);
  Status Put(Ref<objects::ResourceQuota> quota);
  Status Put(Ref<objects::PodDisruptionBudget> budget);
  Status Put(Ref<objects::HyperNode> hypernode);
  Status Put(Ref<objects::NumaTopology> topology);
  Status Put(Ref<objects::Namespace> ns);
  template <typename T>
  void PutStorage(Kept<T>& kept, Ref<T> object);
  // Moves the objects out of a set, or borrows those of a constant one.
  template <typename Set>
  Status ApplyAll(Set& objects);
  template <typename Classes>
  void PutPriorityClasses(Classes& classes);
  void Learn(const std::vector<objects::Pod>& pods);

  void RemoveNode(const std::string& name);
  void RemovePod(const std::string& name);
  void RemoveGroup(const std::string& name);
  void RemoveQueue(const std::string& name);
  void RemoveQuota(const std::string& name);
  void RemoveBudget(const std::string& name);
  void RemoveHyperNode(const std::string& name);
  void RemoveNumaTopology(const std::string& name);
  void RemovePriorityClass(const std::string& name);
  void RemoveNamespace(const std::string& name);
  template <typename T>
  void RemoveStorage(Kept<T>& kept, const std::string& name);

  Status ReadNode(const objects::Node& node);
  // The node as it is to be after its CSINode or Numatopology changed.
  void ReadNodeAgain(const std::string& name);
  Status ReadGroup(const objects::PodGroup& group);
  Status ReadPodAgain(const std::string& name, const objects::Pod& pod);
  // Brings the task of the pod into line with `spec`, by its status alone where that is enough.
  void PutTask(const std::string& name, TaskSpec spec);
  void DropTask(const std::string& pod);
  void LeaveGroup(const std::string& pod, const std::string& group);
  void ReadPodsOf(const std::string& group, std::vector<std::string>& problems);
  void TakeJobOut(JobId job, const std::string& group);
  void PriorityClassesChanged();
  void FollowFoundNames();
  // `amounts` is used no longer: names of absent resources in it may have lost their last user.
  void ReleaseNames(const Resources& amounts) {
    names_released_ = names_released_ || !amounts.absent().empty();
  }
  void ReleaseNamesOf(const JobSpec& job) {
    if (job.min_resources) ReleaseNames(*job.min_resources);
    ReleaseNames(job.min_quota);
  }
  void ForgetNames();
  Status ReadQueue(const objects::Queue& queue);
  void FollowSwitch(bool before, bool after);
  Status ReadQuota(const objects::ResourceQuota& quota);

  void Changed() { ++version_; }
  // Pods that were read before are to be read again: all of them, those with volumes, those of a
  // namespace. What Settle does for them may matter to a decision.
  void MakePodsStale(bool& which) {
    which = which || !pods_.empty();
    Changed();
  }
  void MakeNamespaceStale(const std::string& ns);

  TakesPod takes_;
  std::string default_queue_;
  ClusterState& state_;
  PodSurroundings around_;
  std::uint64_t version_ = 0;

  Kept<objects::Node> nodes_;
  Kept<objects::Pod> pods_;
  Kept<objects::PodGroup> groups_;
  Kept<objects::Queue> queues_;
  Kept<objects::ResourceQuota> quotas_;
  Kept<objects::PodDisruptionBudget> budgets_;
  Kept<objects::HyperNode> hypernodes_;
  Kept<objects::NumaTopology> numa_;
  Kept<objects::PriorityClass> priorities_;
  Kept<objects::Namespace> namespaces_;
  Kept<objects::PersistentVolumeClaim> claims_;
  Kept<objects::PersistentVolume> volumes_;
  Kept<objects::StorageClass> storage_classes_;
  Kept<objects::CsiNode> csi_nodes_;

  std::map<std::string, TaskId, std::less<>> tasks_;  // by pod
  std::map<std::string, std::set<std::string>> pods_of_group_;
  std::map<std::string, std::set<std::string>> waiting_;  // pods without their group, by group
  std::set<std::string> of_another_;                      // pods that name another scheduler
  std::uint64_t stranded_version_ = 0;                    // of these two
  std::map<std::string, Assumption> assumed_;             // by pod
  std::map<std::string, std::string> evicted_;            // uid, by pod

  bool pods_stale_ = false;         // all of them
  bool volume_pods_stale_ = false;  // those with volumes
  bool groups_stale_ = false;
  std::set<std::string> stale_groups_;      // whose pods are to be read again
  std::set<std::string> stale_namespaces_;  // namespaces, likewise
  std::uint64_t found_names_seen_ = 0;      // ResourceNames::found_version
  bool names_released_ = false;
  std::size_t absent_seen_ = 0;  // ResourceNames::absent_count, after the last Settle
};

}  // namespace strata
