#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <utility>

#include "base/clock.h"
#include "net/transport.h"

namespace strata::histories {

// The time of a history, and what happens in it: tasks by time, then in the order in which they
// were planned. No time passes between them but by RunNext.
class Timeline final : public Clock {
 public:
  using TaskId = std::uint64_t;

  [[nodiscard]] net::SteadyTime now() const { return now_; }
  // The time of day, of a clock that nobody sets.
  [[nodiscard]] Time Now() const override { return kStart + now_.time_since_epoch(); }

  TaskId After(Duration delay, std::function<void()> task) {
    const TaskId id = ++last_;
    const net::SteadyTime due = now_ + std::max(delay, Duration(0));
    tasks_.emplace(std::pair(due, id), std::move(task));
    dues_.emplace(id, due);
    return id;
  }
  void Cancel(TaskId id) {  // nothing when it has run
    const auto found = dues_.find(id);
    if (found == dues_.end()) return;
    tasks_.erase({found->second, id});
    dues_.erase(found);
  }
  // Runs everything up to `end`.
  void RunUntil(net::SteadyTime end) {
    while (!tasks_.empty() && tasks_.begin()->first.first <= end) RunNext();
    now_ = end;
  }

 private:
  static constexpr Time kStart = Time(std::chrono::seconds(1'800'000'000));

  void RunNext() {
    auto first = tasks_.extract(tasks_.begin());
    now_ = first.key().first;
    dues_.erase(first.key().second);
    first.mapped()();
  }

  net::SteadyTime now_{};
  std::map<std::pair<net::SteadyTime, TaskId>, std::function<void()>> tasks_;
  std::map<TaskId, net::SteadyTime> dues_;
  TaskId last_ = 0;
};

}  // namespace strata::histories
