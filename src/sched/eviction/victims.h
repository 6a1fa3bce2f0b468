#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/ids.h"
#include "sched/eviction/cost.h"
#include "sched/eviction/victim_finder.h"
#include "sched/session.h"
#include "sched/victim_point.h"

namespace strata {

// A unit that may go, and what it costs when it alone goes.
struct Victim {
  VictimUnit unit;
  UnitPrice price;
  Cost alone;
};

// Everything that may go for one claim, in one order: surplus pods one by one, then whole gangs;
// among equals the cheaper first. Taken in this order, most are allowed: a queue loses surplus
// while it has more than its share, before it loses a gang.
class VictimList {
 public:
  // COST: O(pods x tiers), and to sort them.
  VictimList(const Session& session,
             const std::vector<VictimFinder::Candidate>& candidates,
             VictimOrder order);

  [[nodiscard]] const std::vector<Victim>& all() const { return victims_; }
  // Those with a pod below the HyperNode, in that order. Valid as long as the list.
  [[nodiscard]] std::vector<const Victim*> In(HyperNodeId hypernode) const;

 private:
  std::vector<Victim> victims_;
  std::vector<std::vector<std::uint32_t>> in_;  // by HyperNode, indexes of victims_
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

 private:
  Session& session_;
  const VictimVotes& votes_;
  std::size_t tier_;
  const EvictionClaim& claim_;
};

}  // namespace strata
