#include "kube/delta.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>

namespace strata::kube {

void DeltaQueue::Push(std::vector<Delta> deltas) {
  if (deltas.empty()) return;
  {
    const MutexLock lock(mutex_);
    if (deltas_.empty()) {
      deltas_ = std::move(deltas);
    } else {
      deltas_.insert(deltas_.end(),
                     std::make_move_iterator(deltas.begin()),
                     std::make_move_iterator(deltas.end()));
    }
  }
  changed_.NotifyOne();
  const MutexLock lock(wake_mutex_);
  if (wake_) wake_();
}

std::vector<Delta> DeltaQueue::Wait(Duration limit) {
  constexpr Duration kLongest = std::chrono::hours(24 * 365);  // now + limit must not overflow
  const auto end = std::chrono::steady_clock::now() + std::min(limit, kLongest);
  const MutexLock lock(mutex_);
  while (limit > Duration(0) && !closed_ && deltas_.empty() && changed_.WaitUntil(mutex_, end)) {
  }
  return std::exchange(deltas_, {});
}

void DeltaQueue::Close() {
  {
    const MutexLock lock(mutex_);
    closed_ = true;
  }
  changed_.NotifyAll();
}

void DeltaQueue::SetWake(std::function<void()> wake) {
  const MutexLock lock(wake_mutex_);
  wake_ = std::move(wake);
  if (!wake_) return;
  bool waiting = false;
  {
    const MutexLock inner(mutex_);
    waiting = !deltas_.empty();
  }
  if (waiting) wake_();
}

}  // namespace strata::kube
