#include "sched/plugins/priority.h"

#include <algorithm>

#include "sched/plugins/argument_rules.h"
#include "sched/victim_point.h"

namespace strata {
namespace {

int HigherFirst(std::int32_t a, std::int32_t b) {
  if (a == b) return 0;
  return a > b ? -1 : 1;
}

class Priority final : public Plugin, public OrderPoint, public StarvingPoint, public VictimPoint {
 public:
  [[nodiscard]] bool Starving(const Job& job) const override {
    return job.counts.Ready() + job.counts.Of(TaskStatus::kPipelined) < job.counts.Total();
  }

  void Open(const ClusterState& state, Time /*now*/) override { state_ = &state; }

  [[nodiscard]] int CompareJobs(const Job& a, const Job& b) const override {
    return HigherFirst(a.spec.priority, b.spec.priority);
  }

  [[nodiscard]] int CompareSubJobs(const Job& /*job*/,
                                   const SubJob& a,
                                   const SubJob& b) const override {
    return HigherFirst(HighestPending(a), HighestPending(b));
  }

  [[nodiscard]] int CompareTasks(const Task& a, const Task& b) const override {
    return HigherFirst(a.priority, b.priority);
  }

  [[nodiscard]] bool DecidesOn(EvictionKind kind) const override {
    return kind != EvictionKind::kReclaim;
  }

  [[nodiscard]] bool Grants(const EvictionClaim& claim, const VictimUnit& unit) const override {
    if (claim.kind == EvictionKind::kWithinJob) {
      return std::all_of(unit.tasks.begin(), unit.tasks.end(), [&](TaskId task) {
        return state_->workload().task(task).priority < claim.task_priority;
      });
    }
    return IsBelow(claim, state_->workload().job(unit.job).spec.priority);
  }
  [[nodiscard]] bool MayGrant(const EvictionClaim& claim,
                              QueueId /*queue*/,
                              std::int32_t priority) const override {
    return IsBelow(claim, priority);
  }

 private:
  [[nodiscard]] bool IsBelow(const EvictionClaim& claim, std::int32_t priority) const {
    return priority < state_->workload().job(claim.job).spec.priority;
  }
  [[nodiscard]] std::int32_t HighestPending(const SubJob& sub_job) const {
    std::int32_t highest = 0;
    for (const TaskId id : sub_job.tasks) {
      const Task& task = state_->workload().task(id);
      if (task.status == TaskStatus::kPending) highest = std::max(highest, task.priority);
    }
    return highest;
  }

  const ClusterState* state_ = nullptr;
};

}  // namespace

Result<MadePlugin> MakePriority(const PluginConfig& config, ResourceNames& /*resources*/) {
  return MadePlugin{.plugin = std::make_unique<Priority>(), .warnings = WarnOfUnknown(config, {})};
}

}  // namespace strata
