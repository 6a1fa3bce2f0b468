#include "kube/delta.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace strata::kube {

void DeltaQueue::Push(std::vector<Delta> deltas) {
  if (deltas.empty()) return;
  {
    const std::lock_guard lock(mutex_);
    if (deltas_.empty()) {
      deltas_ = std::move(deltas);
    } else {
      deltas_.insert(deltas_.end(),
                     std::make_move_iterator(deltas.begin()),
                     std::make_move_iterator(deltas.end()));
    }
  }
  changed_.notify_one();
  const std::lock_guard lock(wake_mutex_);
  if (wake_) wake_();
}

std::vector<Delta> DeltaQueue::Wait(Duration limit) {
  constexpr Duration kLongest = std::chrono::hours(24 * 365);  // now + limit must not overflow
  std::unique_lock lock(mutex_);
  changed_.wait_for(
      lock, std::min(limit, kLongest), [this] { return closed_ || !deltas_.empty(); });
  return std::exchange(deltas_, {});
}

void DeltaQueue::Close() {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
  }
  changed_.notify_all();
}

void DeltaQueue::SetWake(std::function<void()> wake) {
  const std::lock_guard lock(wake_mutex_);
  wake_ = std::move(wake);
  if (!wake_) return;
  bool waiting = false;
  {
    const std::lock_guard inner(mutex_);
    waiting = !deltas_.empty();
  }
  if (waiting) wake_();
}

}  // namespace strata::kube
