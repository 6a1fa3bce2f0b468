#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "sched/eviction/cost.h"
#include "sched/eviction/victim_finder.h"
#include "sched/session.h"
#include "sched/victim_point.h"

namespace strata {

// A unit that may go, and what it costs.
struct Victim {
  VictimUnit unit;
  UnitPrice price;
  std::string_view job_name;
};

// What may go for one claim, by HyperNode.
class VictimMap {
 public:
  // REQUIRES: `found` outlives it.
  VictimMap(const Session& session, const VictimFinder& finder, const VictimFinder::Found& found)
      : session_(session), finder_(finder), found_(found) {}

  // The units with a pod below the HyperNode, in one order: surplus pods one by one, then whole
  // gangs; among equals the cheaper first. Taken in this order, most are allowed: a queue loses
  // surplus while it has more than its share, before it loses a gang. With `highest`, without gangs
  // of a higher priority. COST: O(candidates + nodes of the HyperNode), and to sort the units.
  [[nodiscard]] std::vector<Victim> UnitsIn(HyperNodeId hypernode,
                                            VictimOrder order,
                                            std::optional<std::int32_t> highest = {}) const;

 private:
  const Session& session_;
  const VictimFinder& finder_;
  const VictimFinder::Found& found_;
};

// Evicts units in the journal, as far as the state and the plugins allow it at that moment.
class UnitTaker {
 public:
  // REQUIRES: all of them outlive it.
  UnitTaker(Session& session,
            const VictimVotes& votes,
            std::size_t tier,
            const EvictionClaim& claim)
      : session_(session), votes_(votes), tier_(tier), claim_(claim) {}

  // The pods that were evicted: those of the unit that still run. None when the unit may not go:
  // its gang would fall below its minimum, or its queue below its share.
  std::vector<TaskId> Take(const VictimUnit& unit) const;
  // True when pods of the unit have not been evicted yet.
  [[nodiscard]] bool Runs(const VictimUnit& unit) const;
  // True when Take would evict pods. Leaves the journal as it was.
  [[nodiscard]] bool MayGo(const VictimUnit& unit) const;

 private:
  // True when the gang of the pod can do without it.
  [[nodiscard]] bool IsLoose(TaskId task) const;

  Session& session_;
  const VictimVotes& votes_;
  std::size_t tier_;
  const EvictionClaim& claim_;
};

}  // namespace strata
