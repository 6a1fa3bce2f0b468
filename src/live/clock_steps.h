#pragma once

#include <chrono>
#include <optional>

#include "base/clock.h"
#include "net/transport.h"
#include "sched/eviction/claim_book.h"

namespace strata::live {

// Notices when somebody sets the clock of the machine. Drift, and corrections below two seconds
// between two calls, are not steps.
class ClockSteps {
 public:
  // How far the clock was set since the last call, negative for back; zero: it was not.
  [[nodiscard]] Duration Take(Time wall, net::SteadyTime steady) {
    const Duration offset = wall.time_since_epoch() - steady.time_since_epoch();
    const Duration step = offset - offset_.value_or(offset);
    offset_ = offset;
    return step < kSmallest && step > -kSmallest ? Duration(0) : step;
  }

 private:
  static constexpr Duration kSmallest = std::chrono::seconds(2);
  std::optional<Duration> offset_;
};

// The claims, with deadlines as far away as they were before the clock was set by `step`. Refusals
// and the count of broken gangs are forgotten.
[[nodiscard]] inline ClaimBook MoveDeadlines(const ClaimBook& claims, Duration step) {
  ClaimBook moved;
  for (const auto& [job, claim] : claims.all()) {
    GangClaim copy = claim;
    copy.since += step;
    for (GangClaim::Victim& victim : copy.victims) victim.until += step;
    moved.Add(std::move(copy));
  }
  return moved;
}

}  // namespace strata::live
