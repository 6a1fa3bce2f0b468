#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "kube/client.h"
#include "net/transport.h"

namespace strata::kube {

// How long a thread has been working on one thing. The thread says when it begins and when it waits
// again; everybody may ask. Thread-safe.
class Heartbeat {
 public:
  Heartbeat(std::string thread, Duration limit) : thread_(std::move(thread)), limit_(limit) {}

  // Works from now on, unless it did already.
  void Begin(net::SteadyTime now) {
    Duration::rep waiting = kWaiting;
    since_.compare_exchange_strong(waiting, now.time_since_epoch().count());
  }
  void End() { since_ = kWaiting; }

  // How long it has been working when that is longer than its limit.
  [[nodiscard]] std::optional<Duration> LateFor(net::SteadyTime now) const;
  [[nodiscard]] const std::string& thread() const { return thread_; }

 private:
  static constexpr Duration::rep kWaiting = -1;

  const std::string thread_;
  const Duration limit_;
  std::atomic<Duration::rep> since_ = kWaiting;
};

// Notices threads of a component that hang: those that have a heartbeat, and the two of its client.
// Thread-safe.
class Liveness {
 public:
  // `client` must outlive it.
  explicit Liveness(Client& client);

  // The heartbeat of one more thread.
  [[nodiscard]] std::shared_ptr<Heartbeat> Add(std::string thread, Duration limit);

  // The first thread that hangs, for people: "thread scheduler has not responded for 75 s"; "" when
  // there is none. Also gives the threads of the client something to respond to, so a thread of
  // theirs that hangs is noticed by a later call.
  [[nodiscard]] std::string LateThread();

 private:
  Client& client_;
  const std::shared_ptr<Heartbeat> reads_;
  const std::shared_ptr<Heartbeat> writes_;
  Mutex mutex_;
  std::vector<std::shared_ptr<Heartbeat>> heartbeats_ GUARDED_BY(mutex_);
};

}  // namespace strata::kube
