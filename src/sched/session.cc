#include "sched/session.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace strata {

bool Session::HasAction(std::string_view name) const {
  return std::any_of(actions_.begin(), actions_.end(), [&](const ActionConfig& action) {
    return action.name == name;
  });
}

void Session::Place(TaskId id,
                    NodeId node,
                    DevicePoint::When when,
                    HyperNodeId domain,
                    std::optional<GpuClaim> given) {
  const Task& task = state_.workload().task(id);
  const ClassSpec& spec = state_.classes().spec(task.class_id);
  const Points& points = plugins_.points();
  const bool now = when == DevicePoint::When::kNow;
  GpuClaim gpus;
  std::optional<DeviceRecord> devices;
  if (spec.gpus && points.devices != nullptr && state_.nodes().spec(node).gpus) {
    gpus = given ? *std::move(given) : points.devices->Choose(state_, spec, node, when);
    if (tracing()) devices = points.devices->Describe(state_, spec, node, gpus);
  }
  now ? state_.journal().Allocate(id, node, std::move(gpus))
      : state_.journal().Pipeline(id, node, std::move(gpus));
  if (!tracing()) return;
  Trace(StepRecord{.kind = now ? StepRecord::Kind::kAllocate : StepRecord::Kind::kPipeline,
                   .job = state_.workload().job(task.job).spec.name,
                   .pod = task.name,
                   .node = state_.nodes().spec(node).name,
                   .hypernode = tree().at(domain).name,
                   .devices = std::move(devices)});
}

void Session::Commit(JobId job) {
  const Journal::Committed done = state_.journal().Commit();
  CHECK(done.evicted.empty());
  for (const TaskId id : done.bound) {
    binds_.push_back({id, state_.workload().task(id).node});
  }
  if (attempts_ != nullptr) attempts_->Bound(job, done.bound);
  if (tracing()) {
    Trace(StepRecord{.kind = StepRecord::Kind::kCommit,
                     .job = state_.workload().job(job).spec.name,
                     .pod = "",
                     .node = "",
                     .hypernode = state_.workload().job(job).allocated_hypernode});
  }
}

void Session::Evict(TaskId id) {
  const Task& task = state_.workload().task(id);
  state_.journal().Evict(id);
  if (!tracing()) return;
  Trace(StepRecord{.kind = StepRecord::Kind::kEvict,
                   .job = state_.workload().job(task.job).spec.name,
                   .pod = task.name,
                   .node = state_.nodes().spec(task.node).name,
                   .hypernode = ""});
}

void Session::CommitEvictions(CycleResult::EvictionPlan plan) {
  const Journal::Committed done = state_.journal().Commit();
  CHECK(done.bound.empty());
  CHECK(done.evicted.size() == plan.PodCount());
  for (const Journal::Eviction& eviction : done.evicted) {
    if (attempts_ != nullptr) attempts_->Evicted(eviction.node);
    state_.budgets().Charge(state_.workload().task(eviction.task).disruption.budgets);
  }
  const auto same = std::find_if(evictions_.begin(), evictions_.end(), [&](const auto& one) {
    return one.claimant == plan.claimant;
  });
  if (same == evictions_.end()) {
    evictions_.push_back(std::move(plan));
  } else {
    same->Add(plan);
  }
}

void Session::SetPhase(JobId job, JobPhase phase) {
  if (state_.workload().job(job).phase == phase) return;
  state_.workload().SetJobPhase(job, phase);
  phases_changed_ = true;
}

CycleResult Session::Close() {
  CycleResult result;
  for (const TaskId id : state_.journal().HeldTasks()) {
    const Task& task = state_.workload().task(id);
    if (task.status == TaskStatus::kPipelined) result.pipelined.push_back({id, task.node});
  }
  state_.journal().ReleaseHeld();
  phases_changed_ = caches_.phases().Update(state_, plugins_) || phases_changed_;
  result.binds = std::move(binds_);
  result.evictions = std::move(evictions_);
  // A job all of whose pods are placed or on their way out waits for nothing.
  std::erase_if(verdicts_, [&](const auto& entry) {
    const TaskCounts& counts = state_.workload().job(entry.first).counts;
    return counts.Total() > 0 && counts.Of(TaskStatus::kPending) == 0;
  });
  result.verdicts = std::move(verdicts_);
  result.warnings = caches_.topologies().Warnings();
  result.phases_changed = phases_changed_;
  result.left = left_;
  if (attempts_ != nullptr) {
    if (const auto due = attempts_->NextTime()) DecideAgainAt(*due);
  }
  result.again_at = again_at_;
  return result;
}

}  // namespace strata
