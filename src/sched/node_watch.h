#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <vector>

#include "base/ids.h"
#include "model/cluster_state.h"
#include "sched/class_view_cache.h"

namespace strata {

// What changed on the nodes since the previous cycle, and for whom that may be of use.
//
// Inside a cycle room on nodes only becomes less: what is held is given back at the end. So what
// may help a job comes from outside, between Close and Open. There are two exceptions: pods that
// others want to be near to, which a cycle itself places; and nodes from which it evicts, which
// count as changed in the next one.
class NodeWatch {
 public:
  // REQUIRES: both outlive it.
  NodeWatch(const ClusterState& state, ClassViewCache& views) : state_(state), views_(views) {}

  // A cycle has ended: what changes from now on comes from outside.
  void Close();
  // A cycle begins. COST: O(changes of nodes since Close).
  void Open();
  // The cycle bound a task of this class.
  void Bound(ClassId class_id) { binds_.insert(class_id); }
  // The cycle evicted a task from this node.
  void Evicted(NodeId node) { evictions_.push_back(node); }
  // True when such a task counts for a rule of the class that pods can satisfy by being there:
  // affinity, spread.
  [[nodiscard]] bool HasBoundPeersOf(ClassId class_id) const;

  // ---- after Open
  // A node was added, removed or described anew, the tree of HyperNodes changed, or more than is
  // remembered: it may be of use for everybody.
  [[nodiscard]] bool everything() const { return everything_; }
  // Pods came, went, or began to terminate on a node that was there before.
  [[nodiscard]] bool pods_changed() const { return !changed_.empty(); }
  // The previous cycle bound pods, or pods_changed.
  [[nodiscard]] bool any() const { return !changed_.empty() || !last_binds_.empty(); }
  // True when one of the changed nodes has room for a task of the class, or will have it once what
  // terminates there is gone.
  [[nodiscard]] bool HasRoomFor(ClassId class_id);
  // The same as HasBoundPeersOf about the previous cycle, and about all pods on changed nodes.
  [[nodiscard]] bool BringsPeersOf(ClassId class_id);

 private:
  [[nodiscard]] bool FindRoomFor(ClassId class_id);
  [[nodiscard]] bool FindPeersOf(ClassId class_id);

  const ClusterState& state_;
  ClassViewCache& views_;
  std::uint64_t version_ = 0;  // of nodes, at Close
  std::uint64_t epoch_ = 0;    // of nodes
  std::uint64_t tree_version_ = 0;
  bool everything_ = true;
  std::vector<NodeId> changed_;    // ascending, each once
  std::set<ClassId> binds_;        // of the cycle under way
  std::set<ClassId> last_binds_;   // of the previous one
  std::vector<NodeId> evictions_;  // of the cycle under way
  std::map<ClassId, bool> room_;   // answers of HasRoomFor since Open
  std::map<ClassId, bool> peers_;  // answers of BringsPeersOf since Open
};

}  // namespace strata
