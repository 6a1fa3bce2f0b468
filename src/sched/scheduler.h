#pragma once

#include <cstdint>
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
#include "sched/cycle_result.h"
#include "sched/eviction/claim_book.h"
#include "sched/trace.h"

namespace strata {

// Checks the arguments of an action; returns a warning for each unknown one. kInvalidArgument when
// one has the wrong type. Warnings and errors begin with the argument: "foo: unknown argument,
// ignored".
[[nodiscard]] Result<std::vector<std::string>> CheckArguments(const ActionConfig& action);

// A compiled configuration: the plugins and actions of a volcano-scheduler.conf, ready to run
// cycles on one ClusterState. Decisions are a function of state, configuration, claims and `now`;
// what is cached between cycles never changes them.
class Scheduler {
 public:
  struct Made {
    std::unique_ptr<Scheduler> scheduler;
    std::vector<std::string> warnings;  // plugins of Volcano not supported yet, unknown arguments
  };
  // kInvalidArgument with one line when the configuration cannot be used: an unknown name (the
  // known ones are listed), an argument of the wrong type. `state` must outlive the scheduler.
  [[nodiscard]] static Result<Made> Make(const SchedulerConfig& config, ClusterState& state);
  ~Scheduler();

  // True when a cycle may decide otherwise although nothing but time has passed, because a plugin
  // says so of itself (Plugin::DependsOnTime).
  [[nodiscard]] bool DependsOnTime() const;

  // Gives every cycle from now on a budget of so many HyperNodes and nodes looked at. Then a job
  // that found no place is tried again only when something that it needs has changed, and a cycle
  // goes on where the previous one stopped (CycleResult::left). Without this, every cycle tries
  // every job. REQUIRES: no cycle is open.
  void LimitWork(std::uint64_t budget);

  // From the next cycle on only the verdict on the job "ns/podgroup" says why, with "" none: most
  // of the time of a cycle in which many jobs wait goes into these sentences.
  void ExplainOnly(std::string job);

  // What it keeps for gangs whose victims are still going. To be carried over to the scheduler that
  // follows it. REQUIRES: no cycle is open, when it is changed.
  [[nodiscard]] ClaimBook& claims();

  // One cycle in three steps, so that a caller can time them. `trace` may be null; else it outlives
  // the cycle.
  void Open(Time now, TraceSink* trace);
  void RunActions();
  // The same; calls `ran` with the name of each action after it has run.
  void RunActions(const std::function<void(const std::string& action)>& ran);
  [[nodiscard]] CycleResult Close();

  // The jobs that wait in each queue, in the order in which they get their turn. REQUIRES: a cycle
  // is open. COST: a sort of the jobs that wait.
  [[nodiscard]] std::map<QueueId, std::vector<JobId>> Lines() const;
  // The jobs that run and that no action may evict as a whole, with the kind of
  // pod that keeps each there ("not preemptable"). REQUIRES: a cycle is open. COST: O(pods).
  [[nodiscard]] std::map<JobId, std::string> JobsThatStay() const;

 private:
  struct Parts;
  explicit Scheduler(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace strata
