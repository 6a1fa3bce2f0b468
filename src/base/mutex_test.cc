#include "base/mutex.h"

#include <chrono>
#include <thread>

#include <gtest/gtest.h>

namespace strata {
namespace {

struct Counter {
  Mutex mutex;
  CondVar changed;
  int value GUARDED_BY(mutex) = 0;
};

TEST(CondVar, WaitsForWhatAnotherThreadChanges) {
  Counter counter;
  std::thread other([&counter] {
    const MutexLock lock(counter.mutex);
    counter.value = 1;
    counter.changed.NotifyOne();
  });
  {
    const MutexLock lock(counter.mutex);
    while (counter.value == 0) counter.changed.Wait(counter.mutex);
    EXPECT_EQ(counter.value, 1);
  }
  other.join();
}

TEST(CondVar, ReturnsFalseAtTheDeadline) {
  Counter counter;
  const MutexLock lock(counter.mutex);
  while (counter.changed.WaitUntil(counter.mutex, std::chrono::steady_clock::now())) {
  }
}

TEST(MutexLock, OtherThreadsMayLockBetweenUnlockAndLock) {
  Counter counter;
  MutexLock lock(counter.mutex);
  lock.Unlock();
  std::thread([&counter] {
    const MutexLock inner(counter.mutex);
    ++counter.value;
  }).join();
  lock.Lock();
  EXPECT_EQ(counter.value, 1);
}

TEST(SharedMutex, IsSharedByReaders) {
  SharedMutex mutex;
  const ReaderLock lock(mutex);
  std::thread([&mutex] { const ReaderLock inner(mutex); }).join();
}

TEST(StoppableCondVar, ReturnsFalseWhenStopIsRequested) {
  Mutex mutex;
  StoppableCondVar never;
  std::jthread waiting([&](const std::stop_token& stop) {
    const MutexLock lock(mutex);
    while (never.Wait(mutex, stop)) {
    }
  });
  waiting.request_stop();
  waiting.join();
}

}  // namespace
}  // namespace strata
