#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "model/cluster_state.h"
#include "sched/extension.h"
#include "sched/plugins/queue_shares.h"

// What queues may have when each names its own part: Volcano's `capacity`.
namespace strata {

inline constexpr double kUnlimited = std::numeric_limits<double>::infinity();

// One queue of the tree. Amounts are by ResourceId; what is unlimited is infinite.
struct CapacityQueue {
  std::string name;
  QueueId queue;                      // none for a root that no object defines
  std::vector<std::size_t> path;      // itself first, then its ancestors up to the root
  std::vector<std::size_t> children;  // ascending by name
  std::vector<QueueId> below;         // itself and its descendants
  Amounts guarantee;                  // at least the sum of its children's
  Amounts capability;                 // what it does not name is its parent's
  Amounts real_capability;
  Amounts deserved;              // 0 where it names nothing
  std::optional<Refusal> fault;  // its place in the hierarchy is wrong: it gets nothing

  // True when the queue deserves something; one that does not comes after those that do.
  [[nodiscard]] bool Deserves() const;
};

// All queues with what they may have. Keeps no sums of what they have: those are read from the
// state, so a tree holds for a whole cycle.
class CapacityTree {
 public:
  enum class Shape : std::uint8_t {
    // No parents. realCapability = (total - all guarantees) at least 0, + its own, at most
    // capability; deserved = spec.deserved, at most realCapability, at least its guarantee.
    kFlat,
    // By spec.parent below "root", which exists even when no object defines it. realCapability =
    // (parent's - its children's guarantees) at least 0, + its own, at most capability; the root is
    // as large as the cluster in resources that are guaranteed to a queue, else unlimited. deserved
    // =
    // spec.deserved, at least its guarantee; of the root the sum of its children's.
    //
    // A queue whose parent is missing, or that is its own ancestor, is invalid, and so is
    // everything below it; a queue with children takes no jobs.
    kHierarchical,
  };

  CapacityTree() = default;
  CapacityTree(const ClusterState& state, Shape shape);

  [[nodiscard]] std::span<const CapacityQueue> queues() const { return queues_; }
  [[nodiscard]] const CapacityQueue& at(std::size_t index) const { return queues_[index]; }
  [[nodiscard]] std::optional<std::size_t> Find(QueueId queue) const;

  // The largest part of what it deserves that the queue, with all below it, has of any resource it
  // deserves; 1 if it deserves nothing.
  [[nodiscard]] double ShareOf(const ClusterState& state, std::size_t index) const;
  // What the queue and all below it have of one resource.
  [[nodiscard]] double Allocated(const ClusterState& state,
                                 std::size_t index,
                                 ResourceId resource) const;

 private:
  void Add(const ClusterState& state, QueueId id);
  void FinishFlat(const ClusterState& state);
  void FinishHierarchy(const ClusterState& state);
  // Fills children and, for queues that hang in the air, fault; returns the queues below the root,
  // parents before children.
  std::vector<std::size_t> Link(const ClusterState& state);
  [[nodiscard]] Refusal FaultOf(std::size_t index,
                                const std::vector<std::optional<std::size_t>>& parents) const;
  void LimitChildren(std::size_t index);

  std::vector<CapacityQueue> queues_;           // ascending by name, an unwritten root last
  std::vector<std::optional<std::size_t>> of_;  // by QueueId
};

}  // namespace strata
