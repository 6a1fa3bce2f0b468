#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "sched/session.h"

namespace strata {

// The tasks of one job in task order. Valid until a task of the job is added or removed.
class RankOrder {
 public:
  // COST: O(tasks) when they are sorted already, else O(tasks x log tasks).
  RankOrder(const Session& session, const Job& job);

  [[nodiscard]] std::span<const TaskId> tasks() const { return order_; }
  // The last task before `task` that has a node, or waits for one; none if there is none.
  // COST: O(log tasks), and the tasks in between.
  [[nodiscard]] TaskId PlacedBefore(const ClusterState& state, TaskId task) const;
  // The same without a RankOrder, for a single question. COST: O(tasks).
  [[nodiscard]] static TaskId PlacedBefore(const Session& session, const Job& job, TaskId task);

 private:
  std::vector<TaskId> order_;
  std::vector<std::pair<TaskId, std::uint32_t>> ranks_;  // ascending by task
};

}  // namespace strata
