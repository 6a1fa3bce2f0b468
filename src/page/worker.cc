#include "page/worker.h"

#include <pthread.h>

#include <utility>

namespace strata::page {

Worker::Worker(std::string name, std::size_t most)
    : most_(most), thread_([this, name = std::move(name)](const std::stop_token& stop) {
        pthread_setname_np(pthread_self(), name.c_str());
        Work(stop);
      }) {}

Worker::~Worker() = default;

bool Worker::Add(Task task, std::stop_source stop) {
  {
    const MutexLock lock(mutex_);
    if (waiting_.size() >= most_) return false;
    waiting_.push_back({std::move(task), std::move(stop)});
  }
  changed_.NotifyAll();
  return true;
}

void Worker::Work(const std::stop_token& stop) {
  while (true) {
    Entry entry;
    {
      const MutexLock lock(mutex_);
      while (waiting_.empty()) {
        if (!changed_.Wait(mutex_, stop)) return;
      }
      entry = std::move(waiting_.front());
      waiting_.pop_front();
    }
    if (stop.stop_requested()) return;
    const std::stop_callback pass_on(stop, [&entry] { entry.stop.request_stop(); });
    if (!entry.stop.stop_requested()) entry.task(entry.stop.get_token());
  }
}

}  // namespace strata::page
