#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/ids.h"
#include "defrag/board.h"
#include "defrag/plan.h"

namespace strata {

// Pods of one job that move together: all of them, or some that the gang can spare meanwhile.
struct Mover {
  JobId job;
  bool whole_gang = false;
  std::vector<TaskId> tasks;
  std::int64_t lost_work = 0;
};

// What moves cost, the most important first.
struct MoveCost {
  std::int64_t gangs = 0;
  std::int64_t pods = 0;
  std::int64_t lost_work = 0;

  void Add(const Mover& mover) {
    gangs += mover.whole_gang ? 1 : 0;
    pods += static_cast<std::int64_t>(mover.tasks.size());
    lost_work += mover.lost_work;
  }
  auto operator<=>(const MoveCost&) const = default;
};

// Finds who can move, and moves them on the board.
class Movers {
 public:
  // `bound_pods` never move: those that belong to their node. REQUIRES: all of them outlive it.
  Movers(Board& board, const std::set<std::string>& bound_pods, bool allow_higher_tier)
      : board_(board), bound_pods_(bound_pods), allow_higher_tier_(allow_higher_tier) {}

  // The pods that can leave these nodes, by job, the cheapest first; ties by the names of jobs.
  [[nodiscard]] std::vector<Mover> On(std::span<const NodeId> nodes);
  // Why the nodes cannot be free of pods, as a sentence about somebody on them; none when they can.
  [[nodiscard]] std::optional<std::string> WhoStaysOn(std::span<const NodeId> nodes) const;

  // Lets the movers find places one after the other; a mover without one is tried again after each
  // success. Returns those that found none, which are where they were. Stops when `done` says so.
  template <typename Done>
  [[nodiscard]] std::vector<Mover> MoveAll(std::vector<Mover> movers,
                                           const Done& done,
                                           std::vector<DefragPlan::Move>& moves) {
    for (std::size_t i = 0; i < movers.size() && !done();) {
      if (auto move = TryMove(movers[i])) {
        moves.push_back(*std::move(move));
        movers.erase(movers.begin() + static_cast<std::ptrdiff_t>(i));
        i = 0;
      } else {
        ++i;
      }
    }
    if (done()) movers.clear();
    return movers;
  }

  // The nodes of the running pods of the job, ascending, each once.
  [[nodiscard]] std::vector<NodeId> NodesOf(JobId job) const;
  // The lowest HyperNode that holds the pods of the job.
  [[nodiscard]] DefragPlan::Place PlaceOf(JobId job) const;

 private:
  [[nodiscard]] std::optional<DefragPlan::Move> TryMove(const Mover& mover);
  [[nodiscard]] Mover MoverOf(JobId job, std::vector<TaskId> here);
  // True when the gang has its minimums without these pods.
  [[nodiscard]] bool CanSpare(JobId job, std::span<const TaskId> tasks);

  Board& board_;
  const std::set<std::string>& bound_pods_;
  bool allow_higher_tier_;
};

}  // namespace strata
