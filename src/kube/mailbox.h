#pragma once

#include <chrono>
#include <functional>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"

namespace strata::kube {

// How other threads reach the one that does a component's work: that thread sleeps here until its
// next work is due, and runs what they post. So what it owns needs no locks. Thread-safe; one
// thread waits.
class Mailbox {
 public:
  using Letter = std::function<void()>;

  void Post(Letter letter) {
    {
      const MutexLock lock(mutex_);
      letters_.push_back(std::move(letter));
    }
    changed_.NotifyOne();
  }
  // Ends the wait that is under way, or the next one.
  void Wake() {
    Post([] {});
  }

  // What was posted, waiting for something at most `limit`. COST: no system call where that is 0.
  [[nodiscard]] std::vector<Letter> Wait(Duration limit) {
    const auto end = std::chrono::steady_clock::now() + limit;
    const MutexLock lock(mutex_);
    while (limit > Duration(0) && letters_.empty() && changed_.WaitUntil(mutex_, end)) {
    }
    return std::exchange(letters_, {});
  }
  // The same, and runs it.
  void Serve(Duration limit) {
    for (const Letter& letter : Wait(limit)) letter();
  }

 private:
  Mutex mutex_;
  CondVar changed_;
  std::vector<Letter> letters_ GUARDED_BY(mutex_);
};

}  // namespace strata::kube
