#pragma once

#include <stop_token>

#include "base/mutex.h"
#include "base/result.h"

namespace strata {

// Which parts of a cluster are ready, and the first failure of a part. Thread-safe.
class Readiness {
 public:
  // A part is ready.
  void IsReady() {
    const MutexLock lock(mutex_);
    ++ready_;
    changed_.NotifyAll();
  }
  // A part has ended. The first error is kept.
  void HasEnded(const Status& outcome) {
    const MutexLock lock(mutex_);
    if (!outcome && outcome_) outcome_ = outcome;
    changed_.NotifyAll();
  }
  // Waits until `parts` parts are ready. False when a part failed or `stop` was requested before.
  [[nodiscard]] bool WaitForReady(int parts, const std::stop_token& stop) {
    const MutexLock lock(mutex_);
    while (ready_ < parts && outcome_ && changed_.Wait(mutex_, stop)) {
    }
    return ready_ >= parts && outcome_;
  }
  // Waits until a part has failed, and returns its error; OK when `stop` was requested before.
  [[nodiscard]] Status WaitForFailure(const std::stop_token& stop) {
    const MutexLock lock(mutex_);
    while (outcome_ && changed_.Wait(mutex_, stop)) {
    }
    return outcome_;
  }

 private:
  Mutex mutex_;
  StoppableCondVar changed_;
  int ready_ GUARDED_BY(mutex_) = 0;
  Status outcome_ GUARDED_BY(mutex_);
};

}  // namespace strata
