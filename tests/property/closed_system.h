#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <utility>

#include "sched/config.h"
#include "tests/property/crowd.h"
#include "tests/support/cycle.h"

namespace strata::testing {

// Victims that come back waiting, as their controllers make them anew. The claimant gets the room
// that it waits for, as by the claims of a running scheduler.
class ClosedSystem {
 public:
  ClosedSystem(ClusterState& state, const SchedulerConfig& config)
      : state_(state), cycles_(state, config) {}

  // The number of pods that were evicted.
  std::size_t RunCycle() {
    now_ += std::chrono::hours(2);  // nobody is in its cooldown any more
    cycles_.SetNow(now_);
    const Decisions decided = cycles_.Run();
    for (const TaskId id : state_.workload().AllTasks()) {
      const Task& task = state_.workload().task(id);
      if (task.status == TaskStatus::kBinding) Start(id, task.node);
      if (task.status == TaskStatus::kReleasing) ComeBack(id);
    }
    for (const TaskId id : state_.workload().AllTasks()) {
      const auto waits = decided.pipelined.find(state_.workload().task(id).name);
      if (waits != decided.pipelined.end()) Start(id, *state_.nodes().Find(waits->second));
    }
    return decided.evicted.size();
  }

 private:
  void Start(TaskId id, NodeId node) {
    Disruption disruption = state_.workload().task(id).disruption;
    disruption.runs_since = ToMoment(now_);
    state_.workload().SetDisruption(id, disruption);
    state_.workload().Move(id, TaskStatus::kRunning, node);
  }
  void ComeBack(TaskId id) {
    const Task& task = state_.workload().task(id);
    TaskSpec spec;
    spec.name = task.name;
    spec.uid = task.uid + "+";
    spec.job = task.job;
    spec.role = state_.workload().job(task.job).roles[task.role].name;
    spec.sub_group = state_.workload().job(task.job).sub_jobs[task.sub_job].key;
    spec.constraints = state_.classes().spec(task.class_id);
    spec.priority = task.priority;
    spec.created = task.created;
    spec.disruption = task.disruption;
    spec.disruption.runs_since = {};
    state_.workload().RemoveTask(id);
    state_.workload().AddTask(std::move(spec));
  }

  ClusterState& state_;
  Cycles cycles_;
  Time now_ = CrowdNow();
};

}  // namespace strata::testing
