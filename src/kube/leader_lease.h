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
    // Told why this process does not lead yet, once for each holder: "lease volcano-system/volcano
    // is held by host_1; ...". May be empty.
    std::function<void(const std::string& why)> waiting = {};
    // Asked before each attempt. What it names (Liveness::LateThread) hangs: this process does not
    // lead, and the lease is left to its end. "": nothing. May be empty.
    std::function<std::string()> late_thread = {};
    // Kept up to date, for the calls that carry it; they are given up when it ends. May be null.
    std::shared_ptr<Leadership> leadership = nullptr;
  };

  // `client` and `clock` must outlive it.
  LeaderLease(
      Client& client, LeaseSettings settings, Hooks hooks, const Clock& clock, Random random);
  LeaderLease(const LeaderLease&) = delete;
  LeaderLease& operator=(const LeaderLease&) = delete;
  // Stops leading (hooks.stopped, when it led), then releases the lease, which it
  // waits for, two seconds at most, unless it is on the thread of client.writes(). No hook is
  // called afterwards.
  ~LeaderLease();

  // From now on the lease is not given back: nobody else gets it before its time is over. For who
  // goes while something that only a leader may do is still under way.
  void KeepToItsEnd();

  // Whether we lead at this moment, by the clock and not by what hooks have been called. From any
  // thread; costs the reading of a clock, takes no lock and asks nobody. A call that only the
  // leader may make carries Hooks::leadership: then no attempt of it is sent or waited for beyond
  // the end of the lease, LeaseSettings::duration - renew (5 s) before another can take it.
  [[nodiscard]] bool Leads() const;

 private:
  class Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace strata::kube
