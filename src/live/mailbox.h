#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <utility>
#include <vector>

#include "base/clock.h"

namespace strata::live {

// How other threads reach the one that schedules: it runs what they post. Thread-safe.
class Mailbox {
 public:
  using Letter = std::function<void()>;

  void Post(Letter letter) {
    {
      const std::lock_guard lock(mutex_);
      letters_.push_back(std::move(letter));
    }
    changed_.notify_one();
  }
  // Ends the wait that is under way, or the next one.
  void Wake() {
    Post([] {});
  }

  // What was posted, waiting for something at most `limit`.
  [[nodiscard]] std::vector<Letter> Wait(Duration limit) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, limit, [this] { return !letters_.empty(); });
    return std::exchange(letters_, {});
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Letter> letters_;
};

}  // namespace strata::live
