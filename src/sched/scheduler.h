#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/ids.h"
#include "base/result.h"
#include "model/cluster_state.h"
#include "sched/config.h"
#include "sched/extension.h"
#include "sched/trace.h"

namespace strata {

class Search;
class Session;

// What one cycle decided. Nothing of it has happened outside yet.
struct CycleResult {
  struct Bind {
    TaskId task;
    NodeId node;
  };
  struct Warning {
    std::string object;  // "PodGroup ns/pg"
    std::string reason;
    std::string message;
  };
  std::vector<Bind> binds;      // in decision order; the tasks are kBinding in the state
  std::vector<Bind> pipelined;  // waiting for what is being released; pending again in the state
  std::vector<TaskId> evicted;  // kReleasing in the state
  std::map<JobId, Refusal> verdicts;  // why a job with tasks left was not placed
  bool phases_changed = false;        // some PodGroup phase moved
  // About jobs that are there, sorted, each once. Shared with the cycle before while they are the
  // same.
  std::shared_ptr<const std::vector<Warning>> warnings;
};

// Looks at the arguments of an action, and warns of those that nobody knows. Volcano's tune its
// speed, never what it decides, so here nothing else reads them. kInvalidArgument when one has the
// wrong type. What is said begins with the argument: "foo: unknown argument, ignored".
[[nodiscard]] Result<std::vector<std::string>> CheckArguments(const ActionConfig& action);

// A compiled configuration: the plugins and actions of a volcano-scheduler.conf, ready to run
// cycles. It keeps caches between cycles, so one Scheduler belongs to one ClusterState. Decisions
// are a function of state, configuration and `now`.
class Scheduler {
 public:
  struct Made {
    std::unique_ptr<Scheduler> scheduler;
    std::vector<std::string>
        warnings;  // names Volcano has and Strata has not, arguments nobody reads
  };
  // kInvalidArgument with one line when the configuration cannot be used: an unknown name (the
  // known ones are listed), an argument of the wrong type. `state` must outlive the scheduler.
  [[nodiscard]] static Result<Made> Make(const SchedulerConfig& config, ClusterState& state);
  ~Scheduler();

  // One cycle in three steps, so that a caller can time them. `trace` may be null.
  void Open(Time now, TraceSink* trace);
  void RunActions();
  // The same; `ran` is told the name of each action when it has ended.
  void RunActions(const std::function<void(const std::string& action)>& ran);
  [[nodiscard]] CycleResult Close();

 private:
  explicit Scheduler(std::unique_ptr<Session> session);
  std::unique_ptr<Session> session_;
  std::unique_ptr<Search> search_;
};

}  // namespace strata
