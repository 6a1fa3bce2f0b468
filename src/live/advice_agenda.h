#pragma once

#include <map>
#include <optional>
#include <string>

#include "base/clock.h"
#include "explain/kept_relaxations.h"
#include "net/transport.h"
#include "sched/extension.h"

namespace strata::live {

// Which waiting job is looked into next for what would let it start, and when.
//
// A verdict is looked into once, when it has held for a moment: what changes from cycle to cycle
// is out of date before there is an answer. One job at a time, the one due for longest first; after
// a search of some length comes a rest of nine times that, so that at most a tenth of the time goes
// into them however large the cluster is.
//
// A value; time is an argument. Not for use by several threads at once.
class AdviceAgenda {
 public:
  static constexpr Duration kSettle = std::chrono::seconds(1);
  static constexpr int kRest = 9;

  // After a cycle: the verdicts of the jobs that wait. Says whether the search under way is for a
  // verdict of the past.
  [[nodiscard]] bool Follow(const KeptRelaxations::Verdicts& verdicts, net::SteadyTime now);

  // When Begin may have a job; none while there is nothing to do or a search is under way.
  [[nodiscard]] std::optional<net::SteadyTime> NextLook() const;

  struct Item {
    std::string job;
    Refusal verdict;
  };
  // The job whose search begins now, if there is one; until Finish there is no other.
  // COST: O(waiting jobs), at most once per kSettle.
  [[nodiscard]] std::optional<Item> Begin(net::SteadyTime now);

  // What was found, none when the search was given up. Says whether that is to be told: it is about
  // the verdict that the job has.
  [[nodiscard]] bool Finish(std::optional<RelaxationReport> report, net::SteadyTime now);

 private:
  KeptRelaxations kept_;
  std::map<std::string, net::SteadyTime> since_;  // when the verdict of the job became what it is
  std::optional<net::SteadyTime> look_at_;
  net::SteadyTime rest_until_{};
  std::optional<Item> under_way_;
  net::SteadyTime began_{};
};

}  // namespace strata::live
