#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/ids.h"
#include "sched/eviction/settings.h"
#include "sched/eviction/victim_finder.h"
#include "sched/extension.h"
#include "sched/session.h"

namespace strata {

// What jobs could evict by the configured actions, in sums: a job that waits outside a full queue
// would never come to evict anybody. Whether its gang then really fits is found out later.
//
// Lives for one action of one cycle. COST: nothing until the first question.
class EvictionRelief {
 public:
  // REQUIRES: `session` outlives it.
  explicit EvictionRelief(Session& session) : session_(session) {}
  EvictionRelief(const EvictionRelief&) = delete;
  EvictionRelief& operator=(const EvictionRelief&) = delete;

  // Empty when no configured action evicts. REQUIRES: the job has a queue and minResources.
  [[nodiscard]] Relief For(JobId job);
  // "preempt: it may evict nobody: 4 pods that a disruption budget protects" for each configured
  // action that finds nobody where pods are protected; "" when there is none. For jobs of one queue
  // and priority it is worked out once. COST: O(pods in reach), the first time. REQUIRES: as For.
  [[nodiscard]] const std::string& WhoIsProtected(JobId job);
  // When it may be more because a pod is old enough to go by then. None when every pod is, and when
  // no configured action evicts.
  [[nodiscard]] std::optional<Time> GrowsAt();

 private:
  struct Action {
    std::string name;
    EvictionKind kind = EvictionKind::kPreempt;
    VictimFinder finder;
  };

  void ReadActions();
  [[nodiscard]] EvictionClaim ClaimOf(const Job& job, JobId id) const;

  Session& session_;
  bool read_ = false;
  std::vector<Action> actions_;
  std::map<std::pair<QueueId, std::int32_t>, std::string> protected_;  // by queue and priority
};

}  // namespace strata
