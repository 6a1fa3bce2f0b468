#include "kube/delta.h"

#include <atomic>
#include <thread>

#include <gtest/gtest.h>

namespace strata::kube {
namespace {

std::vector<Delta> OneDelta() {
  return std::vector<Delta>(1);
}

TEST(DeltaQueue, AWakeThatComesAfterThePushIsCalledForIt) {
  DeltaQueue queue;
  queue.Push(OneDelta());
  int woken = 0;
  queue.SetWake([&woken] { ++woken; });
  EXPECT_EQ(woken, 1);
  EXPECT_EQ(queue.Take().size(), 1U);
  queue.Push(OneDelta());
  EXPECT_EQ(woken, 2);
}

TEST(DeltaQueue, AWakeIsNotCalledOnceAnotherHasTakenItsPlace) {
  DeltaQueue queue;
  std::atomic<bool> stop = false;
  std::thread pusher([&] {
    while (!stop) {
      queue.Push(OneDelta());
      (void)queue.Take();
    }
  });
  // Each wake looks at something that is gone as soon as it has been replaced.
  std::atomic<int> late = 0;
  for (int i = 0; i < 2000; ++i) {
    std::atomic<bool> alive = true;
    queue.SetWake([&alive, &late] { late += alive ? 0 : 1; });
    queue.SetWake(nullptr);
    alive = false;
  }
  stop = true;
  pusher.join();
  EXPECT_EQ(late, 0);
}

TEST(DeltaQueue, AnEndlessWaitEndsWithThePush) {
  DeltaQueue queue;
  std::thread pusher([&] { queue.Push(OneDelta()); });
  EXPECT_EQ(queue.Wait(Duration::max()).size(), 1U);
  pusher.join();
}

}  // namespace
}  // namespace strata::kube
