#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/ids.h"
#include "model/cluster_state.h"
#include "sched/class_view.h"
#include "sched/max_tree.h"

namespace strata {

// The nodes of one HyperNode in the order of the tree, cut into chains.
struct DomainShape {
  struct Group {
    ChainId chain;
    HyperNodeId leaf;
    std::uint32_t begin = 0;  // positions in `nodes`
    std::uint32_t end = 0;
  };
  std::span<const NodeId> nodes;  // the tree's own
  std::vector<Group> groups;

  DomainShape() = default;
  DomainShape(const HyperNodeTree& tree, HyperNodeId domain);
};

// The best node of every chain of a domain for one class, kept up to date as nodes change.
class DomainIndex {
 public:
  // For tasks that start now, or for those that wait until what is being released is gone.
  enum class Start : std::uint8_t { kNow, kLater };
  // COST: O(nodes of the domain).
  DomainIndex(const DomainShape& shape, ClassView& view, Start start = Start::kNow);

  // To be called when the node at this position changed. COST: O(log nodes).
  void Refresh(const DomainShape& shape, std::size_t position);

  // Nodes of the group that take a task of the class.
  [[nodiscard]] std::uint32_t Feasible(std::size_t group) const { return feasible_[group]; }
  // The position of the best of them: the highest node-local score, then the lower name.
  // REQUIRES: Feasible(group) > 0.
  [[nodiscard]] std::size_t BestOf(std::size_t group) const { return best_[group]; }
  [[nodiscard]] Score ScoreAt(std::size_t position) const { return scores_.at(position); }

 private:
  void FillScores(std::span<const NodeId> nodes, std::span<Score> out);

  ClassView& view_;
  const Start start_;
  MaxTree scores_;
  std::vector<std::uint32_t> group_of_;  // by position
  std::vector<std::uint32_t> feasible_;
  std::vector<std::size_t> best_;
};

}  // namespace strata
