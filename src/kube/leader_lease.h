#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/clock.h"
#include "kube/client.h"
#include "kube/lease_state.h"
#include "kube/pacing.h"

namespace strata::kube {

// Takes part in the election for a Lease until it is destroyed. Its calls go before the write rate
// of the client, so that a busy process does not lose its lease to its own writes.
//
// Volcano's lease is named as its scheduler ("volcano") in namespace volcano-system; for it, losing
// the lease ends the process.
class LeaderLease {
 public:
  struct Hooks {
    // On the thread of client.writes(), in turns; must not block. After `stopped` it goes on
    // trying.
    std::function<void()> started;
    std::function<void()> stopped;
    std::function<void(const std::string& error)> trouble;  // may be empty
  };

  // `client` and `clock` must outlive it.
  LeaderLease(
      Client& client, LeaseSettings settings, Hooks hooks, const Clock& clock, Random random);
  LeaderLease(const LeaderLease&) = delete;
  LeaderLease& operator=(const LeaderLease&) = delete;
  // Stops leading (hooks.stopped, when it led), then gives the lease to whoever wants it, which it
  // waits for, two seconds at most, unless it is on the thread of client.writes(). No hook is
  // called afterwards.
  ~LeaderLease();

  // From now on the lease is not given back: nobody else gets it before its time is over. For who
  // goes while something that only a leader may do is still under way.
  void KeepToItsEnd();

  // Whether we lead at this moment, by the clock and not by what hooks have been called: to be
  // asked right before whatever only a leader may do (each bind, not each cycle). From any thread;
  // costs the reading of a clock, takes no lock and asks nobody.
  //
  // A call that was started while we led may reach the server later, by its timeout at most: keep
  // that under LeaseSettings::duration - renew (5 s) where the server would not refuse it anyway. A
  // second bind of a pod is refused (409), so binds need no such care.
  [[nodiscard]] bool Leads() const;

 private:
  class Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace strata::kube
