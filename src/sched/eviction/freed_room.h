#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/ids.h"
#include "sched/session.h"
#include "sched/shortage.h"

namespace strata {

// How many pods of a gang a HyperNode could hold if certain pods were gone, by amounts and by the
// specs of the nodes alone. Filters that look at other pods may leave less, never more: what does
// not suffice here cannot be enough.
//
// Changes nothing of the state.
class FreedRoom {
 public:
  // As things will be when everything that is being released is gone. COST: O(nodes x classes).
  FreedRoom(Session& session, const Wanted& wanted, HyperNodeId domain);

  // Counts the room of the pod as free, or as taken again. Pods outside the domain do not matter.
  void Free(TaskId task) { Change(task, +1); }
  void Take(TaskId task) { Change(task, -1); }

  // True when there is a slot for each pod that is wanted.
  [[nodiscard]] bool Suffices() const;
  // How many of the wanted pods have no slot.
  [[nodiscard]] std::uint64_t Lacking() const;
  // The nodes of the domain that could hold a wanted pod if they were empty, ascending by name.
  [[nodiscard]] std::vector<NodeId> UsefulNodes() const;

 private:
  struct Class {
    std::vector<std::pair<std::size_t, Amount>> request;  // index into resources_, amount
    std::uint64_t wanted = 0;
    std::uint64_t max_per_node = 0;
    std::vector<bool> admitted;        // by node
    std::vector<std::uint64_t> slots;  // by node
    std::uint64_t total = 0;
    bool hopeless = false;  // asks for a resource that no node has
  };

  void Change(TaskId task, int sign);
  [[nodiscard]] std::uint64_t CountSlots(const Class& one, std::size_t node) const;
  [[nodiscard]] std::optional<std::size_t> PositionOf(NodeId node) const;

  const ClusterState& state_;
  std::vector<NodeId> nodes_;          // of the domain, ascending
  std::vector<ResourceId> resources_;  // that are wanted
  std::vector<Amount> free_;           // by node and resource
  std::vector<Class> classes_;
};

}  // namespace strata
