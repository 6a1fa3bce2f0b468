#include "sched/rank_order.h"

#include <algorithm>

#include "base/check.h"

namespace strata {
namespace {

bool IsPlaced(const Task& task) {
  const bool holds = IsAllocated(task.status) || task.status == TaskStatus::kPipelined;
  return holds && task.node.valid();
}

}  // namespace

RankOrder::RankOrder(const Session& session, const Job& job) {
  for (const SubJob& sub_job : job.sub_jobs) {
    order_.insert(order_.end(), sub_job.tasks.begin(), sub_job.tasks.end());
  }
  const auto before = [&](TaskId a, TaskId b) { return session.plugins().TaskBefore(a, b); };
  if (!std::is_sorted(order_.begin(), order_.end(), before)) {
    std::sort(order_.begin(), order_.end(), before);
  }
  ranks_.reserve(order_.size());
  for (std::size_t i = 0; i < order_.size(); ++i) {
    ranks_.emplace_back(order_[i], static_cast<std::uint32_t>(i));
  }
  if (!std::is_sorted(ranks_.begin(), ranks_.end())) std::sort(ranks_.begin(), ranks_.end());
}

TaskId RankOrder::PlacedBefore(const ClusterState& state, TaskId task) const {
  const auto it =
      std::lower_bound(ranks_.begin(), ranks_.end(), std::pair<TaskId, std::uint32_t>{task, 0});
  CHECK(it != ranks_.end() && it->first == task);
  for (std::size_t i = it->second; i-- > 0;) {
    if (IsPlaced(state.workload().task(order_[i]))) return order_[i];
  }
  return TaskId{};
}

TaskId RankOrder::PlacedBefore(const Session& session, const Job& job, TaskId task) {
  TaskId last;
  for (const SubJob& sub_job : job.sub_jobs) {
    for (const TaskId id : sub_job.tasks) {
      if (!IsPlaced(session.state().workload().task(id)) ||
          !session.plugins().TaskBefore(id, task)) {
        continue;
      }
      if (!last.valid() || session.plugins().TaskBefore(last, id)) last = id;
    }
  }
  return last;
}

}  // namespace strata
