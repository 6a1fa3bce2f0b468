#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "sched/cycle_result.h"
#include "sched/eviction/settings.h"
#include "sched/eviction/victim_finder.h"
#include "sched/search.h"
#include "sched/session.h"

namespace strata {

// Finds incomplete gangs that are to be taken back. A scheduler that is killed between two binds
// leaves a gang with some of its pods; if the room for the others is used by then, those pods hold
// their nodes for nothing, for ever. Once they are gone the job waits as a whole, like any other.
//
// A gang that once had its minimum (JobSpec::was_whole) is never taken back, whatever it has lost
// since: its pods may have work to save, and its controller decides about it. Nor is one whose
// pods are protected, too young to be evicted, still being bound, terminating or not all there; nor
// one that can be completed in this cycle, or by what is being released.
//
// Lives for one action of one cycle, to be asked after the action has made room for gangs.
class TakeBack {
 public:
  // REQUIRES: all of them outlive it.
  TakeBack(Session& session, Search& search, const EvictionSettings& settings)
      : session_(session), search_(search), action_(settings.action), finder_(session, settings) {}

  // The incomplete gangs that nobody else is going to help, those that cost least first: by
  // priority, then pods, then later creation. To be asked about one by one, since the room of one
  // may be what the next lacks. COST: O(waiting jobs).
  [[nodiscard]] std::vector<JobId> Candidates();
  // The plan that takes the gang back, and evicts nobody yet; none when the gang is to stay.
  // REQUIRES: the journal is empty. COST: that of a search, if nothing else keeps the gang.
  [[nodiscard]] std::optional<CycleResult::EvictionPlan> PlanFor(JobId job);

 private:
  [[nodiscard]] bool IsCandidate(const Job& job) const;
  // True when every pod that the gang has not placed can be placed now, as far as it goes itself.
  [[nodiscard]] bool HasAllPods(JobId job) const;

  Session& session_;
  Search& search_;
  const std::string action_;
  VictimFinder finder_;
};

}  // namespace strata
