#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "base/ids.h"
#include "sched/eviction/cost.h"
#include "sched/eviction/freed_room.h"
#include "sched/eviction/victims.h"
#include "sched/session.h"

namespace strata {

// Some of the victims of a HyperNode, and what it costs when they go.
struct Clearing {
  std::vector<std::size_t> units;  // indexes of the victims, ascending
  Cost cost;
};

// Finds the cheapest victims whose room is enough for a gang in one HyperNode, by counting slots
// (FreedRoom). With at most kExactUnits units in the HyperNode every combination is considered;
// otherwise the better of two orders is taken: the cheapest units first, or the cheapest nodes
// first, each time without the units that turn out not to be needed. If both fail because of what
// may not go together, nodes are cleared one by one, and those that yield no room are left alone.
//
// Uses the journal to ask what is allowed, and leaves it as it was.
class ClearingSearch {
 public:
  static constexpr std::size_t kExactUnits = 16;
  // Pods evicted on trial before the search for the best combination gives up.
  static constexpr std::size_t kMaxMoves = 100'000;

  // REQUIRES: all of them outlive it.
  ClearingSearch(Session& session,
                 const UnitTaker& taker,
                 const std::vector<Victim>& victims,
                 const FreedRoom& room,
                 VictimOrder order);

  // None when all units together are not enough, or may not go together. Stops at a clearing that
  // costs no more than `least`, which none costs less than.
  [[nodiscard]] std::optional<Clearing> Find(const Cost& least);
  // The same among all combinations, counting only those for which `proof` holds while the journal
  // evicts them. Asks it at most `max_proofs` times. REQUIRES: at most kExactUnits victims.
  [[nodiscard]] std::optional<Clearing> FindProven(const std::function<bool()>& proof,
                                                   std::size_t max_proofs);
  // True when combinations were left out that may be enough: by kMaxMoves or max_proofs, or because
  // there are more than kExactUnits units.
  [[nodiscard]] bool cut() const { return cut_; }

  // Sets the cost, and leaves out surplus pods of gangs that go as a whole.
  [[nodiscard]] Clearing Make(std::vector<std::size_t> units) const;
  // The units of the clearing from the dearest to the cheapest.
  [[nodiscard]] std::vector<std::size_t> FromDearest(const Clearing& clearing) const;

 private:
  struct Branch;  // of the search through all combinations
  // The units with pods on one node.
  using OnNode = std::vector<std::size_t>;

  // Takes units in this order until they are enough; then drops what is not needed, the dearest
  // first.
  [[nodiscard]] std::optional<Clearing> TakeInOrder(const std::vector<std::size_t>& order);
  // The same node by node; what yields no room stays.
  [[nodiscard]] std::optional<Clearing> TakeNodesThatHelp();
  // False when the room would not be enough if all went that may go alone.
  [[nodiscard]] bool AllTogetherSuffice() const;
  [[nodiscard]] std::vector<std::size_t> ByCost() const;
  [[nodiscard]] std::vector<std::size_t> ByNode() const;
  // The nodes that pods of the gang could use, the cheapest first.
  [[nodiscard]] std::vector<OnNode> NodesByCost() const;
  [[nodiscard]] Clearing WithoutUnneeded(Clearing clearing) const;
  void TryCombinations(Branch& branch);
  void TryAll(Branch& branch, std::size_t next);
  void TryWith(Branch& branch, std::size_t unit);
  void TryWithout(Branch& branch, std::size_t unit);

  Session& session_;
  const UnitTaker& taker_;
  const std::vector<Victim>& victims_;
  const FreedRoom& room_;  // with nobody gone
  VictimOrder order_;
  bool cut_ = false;
};

}  // namespace strata
