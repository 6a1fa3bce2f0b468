#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "base/clock.h"
#include "net/transport.h"
#include "sched/cycle_result.h"

namespace strata::live {

// Decides when the next cycle runs and how long the scheduler's thread may sleep. A value without
// effects: time is an argument.
//
// A cycle is due when there is something to decide, at most once per period, once the whole cluster
// has been seen, and while this scheduler leads. A cycle whose budget ended before its work did is
// followed by the next one at once.
class CycleAgenda {
 public:
  // What the decisions depend on at one moment.
  struct Moment {
    net::SteadyTime now{};
    bool synced = false;             // everything that was there at the start has been seen, and
                                     // everything that was there when this scheduler began to lead
    bool leads = false;              // by the lease, or because there is none
    std::uint64_t feed_version = 0;  // ClusterFeed::version()
  };
  // What a cycle left to be decided.
  struct CycleEnd {
    std::uint64_t feed_version = 0;                     // after the cycle
    bool changed_state = false;                         // CycleResult::ChangedState
    bool some_wait = false;                             // jobs have a verdict
    CycleResult::Left left = CycleResult::Left::kNone;  // jobs that its budget did not reach
    std::optional<net::SteadyTime> again_at = {};       // CycleResult::again_at
  };

  // `period` is the least time from one cycle to the next.
  explicit CycleAgenda(Duration period) : period_(period) {}

  // A new configuration is in force. `depends_on_time`: its decisions change as time passes.
  void UseConfig(bool depends_on_time);
  // There is more to decide than the feed's version tells: this scheduler has begun to lead.
  void DecideAgain() { dirty_ = true; }
  void EndCycle(const CycleEnd& end, net::SteadyTime now);

  [[nodiscard]] bool IsCycleDue(const Moment& moment) const;
  // How long the thread may sleep, 0 or more. `dues` are the moments at which other work of a
  // leader is due; `poll` is the time after which the thread looks around in any case.
  [[nodiscard]] Duration TimeToSleep(const Moment& moment,
                                     std::span<const std::optional<net::SteadyTime>> dues,
                                     Duration poll) const;

 private:
  [[nodiscard]] bool HasWork(const Moment& moment) const;

  Duration period_;
  bool dirty_ = true;
  bool depends_on_time_ = false;
  bool some_wait_ = false;
  std::uint64_t decided_version_ = 0;  // of the feed, when the last cycle ended
  net::SteadyTime next_cycle_{};
  std::optional<net::SteadyTime> again_at_;
};

}  // namespace strata::live
