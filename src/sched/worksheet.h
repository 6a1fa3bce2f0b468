#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/ids.h"
#include "sched/need.h"
#include "sched/rank_order.h"
#include "sched/session.h"

namespace strata {

// The pending tasks of one job that a cycle may still place, by sub-job, in task order. Excludes
// BestEffort tasks (backfill places them) and tasks with scheduling gates.
class Worksheet {
 public:
  struct Sheet {
    std::size_t sub_job = 0;
    std::vector<TaskId> tasks;
    std::size_t next = 0;                    // tasks before this one are placed or given up
    std::shared_ptr<const RankOrder> ranks;  // of the whole job

    [[nodiscard]] std::span<const TaskId> left() const { return std::span(tasks).subspan(next); }
  };

  Worksheet(const Session& session, JobId job);

  [[nodiscard]] bool empty() const;
  [[nodiscard]] std::size_t left() const;
  // The sub-job to place next: those still needed for minSubGroups first, then by sub-job order.
  // None when nothing is left.
  [[nodiscard]] Sheet* Next(const Session& session);
  // To be called after tasks of this sheet, or of any, were placed: the order may have changed.
  void Reorder(const Session& session, const Sheet& changed);
  void Reorder(const Session& session);
  [[nodiscard]] std::vector<Sheet>& sheets() { return sheets_; }
  [[nodiscard]] const std::vector<Sheet>& sheets() const { return sheets_; }
  // The ranks of the whole job; null when the worksheet was empty from the beginning.
  [[nodiscard]] const RankOrder* ranks() const {
    return sheets_.empty() ? nullptr : sheets_.front().ranks.get();
  }
  // Everything that is left, in task order.
  [[nodiscard]] std::vector<TaskId> AllLeft(const Session& session) const;

  // The same worksheet with the tasks of which `keeps` holds.
  [[nodiscard]] Worksheet Only(const Session& session,
                               const std::function<bool(TaskId)>& keeps) const;

 private:
  [[nodiscard]] bool Precedes(const Session& session, std::size_t a, std::size_t b) const;
  [[nodiscard]] bool IsNeeded(const Session& session, const Sheet& sheet) const;
  void CountReady(const Session& session);

  JobId job_;
  std::vector<Sheet> sheets_;
  std::deque<std::size_t> order_;       // of the sheets with tasks left, by sub-job order
  std::vector<std::int32_t> to_start_;  // sub-jobs still needed, by policy
};

// How many more tasks must be placed until the sub-job is ready, at most `pending`.
[[nodiscard]] std::size_t MissingForGang(const Job& job,
                                         const SubJob& sub_job,
                                         std::size_t pending);

// What the gang of the job still needs: minResources less what it already uses, or the sum over the
// tasks it still lacks.
[[nodiscard]] Need NeedOf(const Session& session, JobId job, const Worksheet& worksheet);
// The same for one sub-job: the sum over the tasks it still lacks.
[[nodiscard]] Need NeedOf(const ClusterState& state, const Job& job, const Worksheet::Sheet& sheet);

}  // namespace strata
