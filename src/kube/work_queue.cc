#include "kube/work_queue.h"

#include <algorithm>
#include <chrono>

#include "base/check.h"
#include "kube/pacing.h"

namespace strata::kube {
namespace {

// Callers may say "never" by a delay without end.
net::SteadyTime After(net::SteadyTime now, Duration delay) {
  constexpr Duration kLongest = std::chrono::hours(24 * 365 * 100);
  return now + std::min(delay, kLongest);
}

}  // namespace

void WorkQueueState::Add(const std::string& key) {
  if (closed_) return;
  if (busy_.contains(key)) {
    again_.insert(key);
  } else if (in_line_.insert(key).second) {
    line_.push_back(key);
  }
}

void WorkQueueState::AddAt(const std::string& key, net::SteadyTime due) {
  if (closed_) return;
  const auto [at, is_new] = due_.try_emplace(key, due);
  if (!is_new) {
    if (at->second <= due) return;
    by_due_.erase({at->second, key});
    at->second = due;
  }
  by_due_.emplace(due, key);
}

void WorkQueueState::AddRateLimited(const std::string& key, net::SteadyTime now) {
  constexpr int kMaxDoublings = 64;
  if (closed_) return;
  int& failures = failures_[key];
  const Duration delay = Doubled(limits_.first, failures, limits_.max);
  failures = std::min(failures + 1, kMaxDoublings);
  AddAt(key, After(now, delay));
}

void WorkQueueState::MoveDue(net::SteadyTime now) {
  while (!by_due_.empty() && by_due_.begin()->first <= now) {
    const std::string key = by_due_.begin()->second;
    by_due_.erase(by_due_.begin());
    due_.erase(key);
    Add(key);
  }
}

std::optional<std::string> WorkQueueState::Next(net::SteadyTime now) {
  MoveDue(now);
  if (line_.empty()) return std::nullopt;
  std::string key = std::move(line_.front());
  line_.pop_front();
  in_line_.erase(key);
  busy_.insert(key);
  return key;
}

void WorkQueueState::Done(const std::string& key) {
  CHECK(busy_.erase(key) == 1);
  if (again_.erase(key) == 0) return;
  in_line_.insert(key);
  line_.push_back(key);
}

std::optional<net::SteadyTime> WorkQueueState::NextDue() const {
  return by_due_.empty() ? std::nullopt : std::optional(by_due_.begin()->first);
}

void WorkQueueState::Close() {
  closed_ = true;
  due_.clear();
  by_due_.clear();
}

WorkQueue::WorkQueue(WorkQueueState::Limits limits, Now now)
    : state_(limits), now_(std::move(now)) {}

void WorkQueue::Add(const std::string& key) {
  {
    const MutexLock lock(mutex_);
    state_.Add(key);
  }
  changed_.NotifyOne();
}

void WorkQueue::AddAfter(const std::string& key, Duration delay) {
  {
    const MutexLock lock(mutex_);
    state_.AddAt(key, After(now_(), delay));
  }
  changed_.NotifyAll();  // somebody waits for a later time
}

void WorkQueue::AddRateLimited(const std::string& key) {
  {
    const MutexLock lock(mutex_);
    state_.AddRateLimited(key, now_());
  }
  changed_.NotifyAll();
}

void WorkQueue::Forget(const std::string& key) {
  const MutexLock lock(mutex_);
  state_.Forget(key);
}

std::optional<std::string> WorkQueue::Get() {
  const MutexLock lock(mutex_);
  while (true) {
    const net::SteadyTime now = now_();
    if (auto key = state_.Next(now)) return key;
    if (state_.closed() && state_.IsDrained()) return std::nullopt;
    if (const auto due = state_.NextDue()) {
      constexpr Duration kLookAgain = std::chrono::hours(1);  // a machine may sleep in between
      changed_.WaitUntil(
          mutex_, std::chrono::steady_clock::now() + std::min<Duration>(*due - now, kLookAgain));
    } else {
      changed_.Wait(mutex_);
    }
  }
}

std::optional<std::string> WorkQueue::TryGet() {
  const MutexLock lock(mutex_);
  return state_.Next(now_());
}

std::optional<net::SteadyTime> WorkQueue::NextDue() {
  const MutexLock lock(mutex_);
  return state_.size() > 0 ? now_() : state_.NextDue();
}

void WorkQueue::Done(const std::string& key) {
  {
    const MutexLock lock(mutex_);
    state_.Done(key);
  }
  // Also those who wait for the end of a closed queue.
  changed_.NotifyAll();
}

void WorkQueue::Close() {
  {
    const MutexLock lock(mutex_);
    state_.Close();
  }
  changed_.NotifyAll();
}

}  // namespace strata::kube
