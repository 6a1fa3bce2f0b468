#pragma once

#include <chrono>
#include <functional>
#include <utility>

#include "apiserver/api_server.h"
#include "net/event_loop.h"

namespace strata::apiserver {

// The timers of a loop.
class LoopTimers : public Timers {
 public:
  explicit LoopTimers(net::EventLoop& loop) : loop_(loop) {}

  Id After(Duration delay, std::function<void()> callback) override {
    return static_cast<Id>(loop_.After(delay, std::move(callback)));
  }
  [[nodiscard]] Duration Elapsed() const override {
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    return std::chrono::duration_cast<Duration>(now);
  }
  void Cancel(Id timer) override { loop_.Cancel(static_cast<net::TimerId>(timer)); }

 private:
  net::EventLoop& loop_;
};

}  // namespace strata::apiserver
