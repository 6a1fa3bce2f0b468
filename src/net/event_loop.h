#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>

#include "base/clock.h"

namespace strata::net {

enum class TimerId : std::uint64_t {};

// The one thread on which a server and everything it owns lives. Callbacks run one after the other:
// state that only the loop uses needs no locks.
//
// Post and Stop may be called from any thread, everything else on the loop's own.
class EventLoop {
 public:
  EventLoop();
  EventLoop(const EventLoop&) = delete;
  EventLoop& operator=(const EventLoop&) = delete;
  ~EventLoop();

  // Runs callbacks on the calling thread until Stop.
  void Run();
  void Stop();
  void Post(std::function<void()> callback);

  TimerId After(Duration delay, std::function<void()> callback);
  void Cancel(TimerId timer);  // nothing when it has fired

  // Calls `callback` on the loop for each of these signals that comes, instead of what the system
  // would do.
  void OnSignals(std::initializer_list<int> signals, std::function<void()> callback);

  struct Impl;  // Asio; seen by the sources of this folder only
  [[nodiscard]] Impl& impl() { return *impl_; }

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace strata::net
