#pragma once

#include <cstdint>
#include <map>
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

// A ClusterState that follows a running cluster: objects come, change and go one by one, in any
// order, and the state is what LoadCluster would make of those that are there
// (tests/property/feed_property_test.cc). An object costs what it changes; what concerns many pods
// (a priority class, labels of a namespace, a volume) is worked off at the next Settle.
//
// What was decided and is not yet to be seen in the objects is kept, too: a pod that is being bound
// holds its node, and a phase that was decided stands until it has been written.
//
// Not for use by several threads at once.
class ClusterFeed {
 public:
  // `default_queue` is the queue of PodGroups that name none.
  explicit ClusterFeed(TakesPod takes, std::string default_queue = kDefaultQueue);
  ClusterFeed(const ClusterFeed&) = delete;
  ClusterFeed& operator=(const ClusterFeed&) = delete;

  // Puts objects in, each in the place of the one of its kind and name. Jobs, ConfigMaps, Secrets
  // and PodDisruptionBudgets are passed over. kInvalidArgument, one line, when one cannot be used;
  // it is then as if that object had not come.
  Status Apply(objects::ObjectSet objects);
  // Takes an object out; nothing when it is not there.
  void Remove(std::string_view kind, const std::string& space, const std::string& name);

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

  // Pods that wait for PodGroups which are not there, ascending by name of the group.
  [[nodiscard]] std::vector<MissingGroup> MissingGroups() const;
  // None when there is no such object.
  [[nodiscard]] const objects::PodGroup* FindGroup(const std::string& name) const;
  [[nodiscard]] const objects::Pod* FindPod(const std::string& name) const;
  [[nodiscard]] const objects::Queue* FindQueue(const std::string& name) const;
  // Everything that is there, to be looked at elsewhere: pods that are being bound have their node
  // and the annotations of their GPUs. COST: a copy.
  [[nodiscard]] objects::ObjectSet Objects() const;

 private:
  template <typename T>
  using Kept = std::map<std::string, T, std::less<>>;  // by NamespacedName
  template <typename T>
  [[nodiscard]] static const T* FindIn(const Kept<T>& kept, const std::string& name) {
    const auto it = kept.find(name);
    return it == kept.end() ? nullptr : &it->second;
  }

  // Decided, and not in the pod's object yet.
  struct Assumption {
    std::string uid;
    std::string node;
    GpuClaim gpus;
  };

  Status Put(objects::Node node);
  Status Put(objects::Pod pod);
  Status Put(objects::PodGroup group);
  Status Put(objects::Queue queue);
  Status Put(objects::ResourceQuota quota);
  Status Put(objects::HyperNode hypernode);
  Status Put(objects::NumaTopology topology);
  Status Put(objects::PriorityClass priority);
  Status Put(objects::Namespace space);
  template <typename T>
  Status PutStorage(Kept<T>& kept, T object);
  template <typename T>
  Status PutAll(std::vector<T>& objects);

  void RemoveNode(const std::string& name);
  void RemovePod(const std::string& name);
  void RemoveGroup(const std::string& name);
  void RemoveQueue(const std::string& name);
  void RemoveQuota(const std::string& name);
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
  Status ReadPodAgain(const objects::Pod& pod);
  // Brings the task of the pod into line with `spec`, by its status alone where that is enough.
  Status PutTask(const objects::Pod& pod, TaskSpec spec);
  void DropTask(const std::string& pod);
  void ReadPodsOf(const std::string& group, std::vector<std::string>& problems);
  void TakeJobOut(JobId job, const std::string& group);
  void PriorityClassesChanged();

  void Changed() { ++version_; }
  // What Settle does for these may matter to a decision.
  void MakeStale(bool& which) {
    which = true;
    Changed();
  }

  TakesPod takes_;
  std::string default_queue_;
  ClusterState state_;
  PodSurroundings around_;
  std::uint64_t version_ = 0;

  Kept<objects::Node> nodes_;
  Kept<objects::Pod> pods_;
  Kept<objects::PodGroup> groups_;
  Kept<objects::Queue> queues_;
  Kept<objects::ResourceQuota> quotas_;
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
  std::map<std::string, Assumption> assumed_;             // by pod

  bool pods_stale_ = false;         // all of them
  bool volume_pods_stale_ = false;  // those with volumes
  bool groups_stale_ = false;
  std::set<std::string> stale_groups_;  // whose pods are to be read again
  std::set<std::string> stale_spaces_;  // namespaces, likewise
};

}  // namespace strata
