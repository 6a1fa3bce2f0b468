#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/ids.h"
#include "sched/eviction/claim.h"
#include "sched/extension.h"
#include "sched/victim_point.h"

namespace strata {

// What one cycle decided, as values. Nothing of it has happened outside yet: the caller binds the
// tasks and writes statuses and events.
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
  // Pods that go so that the gang of one job can start, all of them or none; or the pods of an
  // incomplete gang that is taken back.
  struct EvictionPlan {
    struct Victim {
      JobId job;
      VictimUnit::Kind unit = VictimUnit::Kind::kSurplus;
      std::vector<TaskId> tasks;
      bool has_budget = false;  // a disruption budget selects one of them
    };
    std::string action;
    JobId claimant;               // the job that gets their room; its tasks are in `pipelined`
    std::string hypernode;        // where its gang fits then; "" for the cluster as a whole
    std::int32_t tier = 0;        // of the HyperNode
    std::vector<Victim> victims;  // by job, each job once

    // The same job gets still more room.
    void Add(const EvictionPlan& more) {
      for (const Victim& victim : more.victims) {
        const auto known = std::find_if(victims.begin(), victims.end(), [&](const Victim& one) {
          return one.job == victim.job;
        });
        if (known == victims.end()) {
          victims.push_back(victim);
          continue;
        }
        known->tasks.insert(known->tasks.end(), victim.tasks.begin(), victim.tasks.end());
        known->has_budget = known->has_budget || victim.has_budget;
      }
    }
    [[nodiscard]] std::size_t PodCount() const {
      std::size_t pods = 0;
      for (const Victim& victim : victims) pods += victim.tasks.size();
      return pods;
    }
    // True for an incomplete gang that is taken back: it is the claimant itself, and gets no room.
    [[nodiscard]] bool TakesBack() const {
      return victims.size() == 1 && victims.front().job == claimant &&
             victims.front().unit == VictimUnit::Kind::kGang;
    }
    // Those that are broken; the others lose surplus pods alone.
    [[nodiscard]] std::size_t GangCount() const {
      std::size_t gangs = 0;
      for (const Victim& victim : victims) {
        if (victim.unit == VictimUnit::Kind::kGang) ++gangs;
      }
      return gangs;
    }
  };
  std::vector<Bind> binds;      // in decision order; the tasks are kBinding in the state
  std::vector<Bind> pipelined;  // wait for resources being released; pending again in the state
  std::vector<EvictionPlan> evictions;  // in decision order; the tasks are kReleasing in the state
  std::map<JobId, Refusal> verdicts;    // for each job with pending tasks: why they were not placed
  bool phases_changed = false;          // at least one PodGroup changed its phase
  // The jobs that the budget of the cycle did not reach. kForLater: nothing that they need has
  // changed since they were tried, so they may wait for the next period. kForNow: the next cycle is
  // due at once.
  enum class Left : std::uint8_t { kNone, kForLater, kForNow };
  Left left = Left::kNone;
  std::vector<ClaimEnd> ended;   // claims that are over
  std::size_t claims = 0;        // those that live, the new ones of `evictions` included
  std::optional<Time> again_at;  // when a cycle may decide otherwise though nothing has changed
  // The state is another one than before the cycle.
  [[nodiscard]] bool ChangedState() const {
    return !binds.empty() || !evictions.empty() || !ended.empty() || phases_changed;
  }
  // About the jobs of the state, sorted, without duplicates. Shared with the previous result while
  // there is no change.
  std::shared_ptr<const std::vector<Warning>> warnings;
};

}  // namespace strata
