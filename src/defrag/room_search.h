#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/ids.h"
#include "defrag/board.h"
#include "defrag/movers.h"
#include "defrag/plan.h"
#include "report/topology_report.h"

namespace strata {

// What fits now into the best HyperNode of each tier; empty when no node can have such amounts.
[[nodiscard]] std::vector<TopologyReport::TierFit> LargestFits(const ClusterState& state,
                                                               const objects::ResourceList& shape);

// Moves, and the nodes on which they make room.
struct MadeRoom {
  std::vector<DefragPlan::Move> moves;
  std::vector<NodeId> nodes;
  std::vector<DefragPlan::Place> target;
  // What fits into the best HyperNode of each tier once they are done, before anybody starts there.
  std::vector<TopologyReport::TierFit> fits;
  MoveCost cost;
};

// Finds moves that let a waiting job start. For each set of nodes that it tries:
//
//   1. Pods there are taken off, the cheapest first and twice as many each time, until the
//      scheduler starts the job. What it then does not need stays, the dearest first.
//   2. From the beginning: the nodes that the job got are cordoned, and one mover after the other
//      is placed anew. One that finds no place has to stay, and 1 begins again without it.
//   3. The job starts, or the set of nodes is given up.
//
// Leaves the board as it was. COST: a cycle for each mover that is tried.
class RoomSearch {
 public:
  // `shape` is that of the pods that are counted. REQUIRES: all of them outlive it.
  RoomSearch(Board& board, Movers& movers, JobId job, const objects::ResourceList& shape)
      : board_(board), movers_(movers), job_(job), shape_(shape) {}

  // Moves of pods on these nodes. REQUIRES: the job has not started.
  [[nodiscard]] std::optional<MadeRoom> Find(std::span<const NodeId> nodes);
  // True when the job has its minimums.
  [[nodiscard]] bool Started() const;

 private:
  // Those of the movers who have to go, and the nodes that the job then gets.
  struct Choice {
    std::vector<Mover> leaving;
    std::vector<NodeId> nodes;
  };
  [[nodiscard]] std::optional<Choice> Choose(const std::vector<Mover>& movers);
  // The nodes that the job gets once these are off theirs; none when it does not start.
  [[nodiscard]] std::optional<std::vector<NodeId>> NodesWithout(std::span<const Mover> movers);
  // Those who have to go even so; the dearest, which come last, are tried first.
  [[nodiscard]] std::vector<Mover> WithoutUnneeded(std::vector<Mover> leaving);
  // Carries the choice out; `stuck` receives those who found no place.
  [[nodiscard]] std::optional<MadeRoom> CarryOut(const Choice& choice, std::vector<Mover>& stuck);

  Board& board_;
  Movers& movers_;
  JobId job_;
  const objects::ResourceList& shape_;
};

}  // namespace strata
