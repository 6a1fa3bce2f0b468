#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <stop_token>
#include <string>
#include <thread>

#include "base/mutex.h"

namespace strata::page {

// One thread that does things one after the other. From any thread.
class Worker {
 public:
  using Task = std::function<void(const std::stop_token&)>;

  // `name` is that of the thread; at most `most` tasks wait.
  Worker(std::string name, std::size_t most);
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;
  // What is under way is asked to stop, and waited for; what waits is dropped.
  ~Worker();

  // False when too many wait. Once `stop` is asked for, the task is not begun any more, and is
  // asked to end.
  [[nodiscard]] bool Add(Task task, std::stop_source stop = {});

 private:
  struct Entry {
    Task task;
    std::stop_source stop;
  };

  void Work(const std::stop_token& stop);

  const std::size_t most_;
  Mutex mutex_;
  StoppableCondVar changed_;
  std::deque<Entry> waiting_ GUARDED_BY(mutex_);
  std::jthread thread_;  // last: it is over before the rest goes
};

}  // namespace strata::page
