#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "sched/eviction/clearing_search.h"
#include "sched/eviction/room_request.h"
#include "sched/eviction/victims.h"
#include "sched/search.h"
#include "sched/session.h"

namespace strata {

// Where the tasks of a gang go, in the order in which they were placed.
using Places = std::vector<std::pair<TaskId, NodeId>>;

// True when what the worksheet asks for has its place although nobody is evicted: now, or once what
// is being released is gone. Leaves the journal as it was.
[[nodiscard]] bool FitsWithoutEviction(Session& session,
                                       Search& search,
                                       JobId job,
                                       const Worksheet& worksheet);

// Finds out whether a gang starts once some victims are gone, by letting the search itself place it
// in the journal, and who of them need not go.
//
// Leaves the journal as it was, unless it says otherwise.
class PlanProof {
 public:
  // REQUIRES: all of them outlive it.
  PlanProof(Session& session,
            Search& search,
            const UnitTaker& taker,
            const std::vector<Victim>& victims,
            const RoomRequest& asked,
            HyperNodeId domain)
      : session_(session),
        search_(search),
        taker_(taker),
        victims_(victims),
        asked_(asked),
        domain_(domain) {}

  // Where the search puts what is asked for, in the state as it is; none when it finds no place for
  // all of it inside the topology.
  [[nodiscard]] std::optional<Places> FindPlaces();
  // The same once these units are gone; none also when they may not go together.
  [[nodiscard]] std::optional<Places> FindPlacesWithout(const std::vector<std::size_t>& units);

  // The units without those that the places do not need, tried from the dearest. `from_dearest`
  // has the same units in that order. REQUIRES: the places are those of FindPlacesWithout(units).
  [[nodiscard]] std::vector<std::size_t> WithoutUnneeded(
      std::vector<std::size_t> units,
      const std::vector<std::size_t>& from_dearest,
      const Places& places);

  // Evicts the units and pipelines the tasks, and leaves that in the journal. False, and nothing
  // done, when a unit may not go or a task does not fit.
  [[nodiscard]] bool Apply(const std::vector<std::size_t>& units, const Places& places);

 private:
  [[nodiscard]] bool Evict(const std::vector<std::size_t>& units);
  [[nodiscard]] bool Pipeline(const Places& places);
  // True when what the unit has on nodes that the gang takes is still free after Apply, by amounts.
  [[nodiscard]] bool MayStay(const VictimUnit& unit, const std::set<NodeId>& taken) const;

  Session& session_;
  Search& search_;
  const UnitTaker& taker_;
  const std::vector<Victim>& victims_;
  const RoomRequest& asked_;
  HyperNodeId domain_;
};

}  // namespace strata
