#include "kube/delta.h"

#include <iterator>
#include <utility>

namespace strata::kube {

void DeltaQueue::Push(std::vector<Delta> deltas) {
  if (deltas.empty()) return;
  std::function<void()> wake;
  {
    const std::lock_guard lock(mutex_);
    if (deltas_.empty()) {
      deltas_ = std::move(deltas);
    } else {
      deltas_.insert(deltas_.end(),
                     std::make_move_iterator(deltas.begin()),
                     std::make_move_iterator(deltas.end()));
    }
    wake = wake_;
  }
  changed_.notify_one();
  if (wake) wake();
}

std::vector<Delta> DeltaQueue::Wait(Duration limit) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, limit, [this] { return closed_ || !deltas_.empty(); });
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
  const std::lock_guard lock(mutex_);
  wake_ = std::move(wake);
}

}  // namespace strata::kube
