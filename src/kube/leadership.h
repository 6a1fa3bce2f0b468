#pragma once

#include <algorithm>
#include <atomic>
#include <memory>

#include "base/clock.h"
#include "net/transport.h"

namespace strata::kube {

// Until when this process may do what only the leader may do. A LeaderLease keeps it up to date;
// the calls that need it carry it (Call::leadership), and Client asks it before every attempt.
// Thread-safe; costs the reading of one number.
class Leadership {
 public:
  Leadership() = default;  // does not lead yet

  // For a process that has no rivals.
  [[nodiscard]] static std::shared_ptr<Leadership> Always() {
    auto leadership = std::make_shared<Leadership>();
    leadership->GrantUntil(net::SteadyTime::max());
    return leadership;
  }

  void GrantUntil(net::SteadyTime end) { end_ = end.time_since_epoch().count(); }
  void Revoke() { end_ = 0; }

  // Zero: it does not lead.
  [[nodiscard]] Duration TimeLeft(net::SteadyTime now) const {
    return std::max(Duration(end_) - now.time_since_epoch(), Duration(0));
  }
  [[nodiscard]] bool Holds(net::SteadyTime now) const { return TimeLeft(now) > Duration(0); }

 private:
  std::atomic<Duration::rep> end_ = 0;
};

}  // namespace strata::kube
