#include "kube/work_queue.h"

#include <array>
#include <atomic>
#include <map>
#include <set>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/property.h"

namespace strata::kube {
namespace {

using std::chrono::milliseconds;
using testing::Below;

constexpr net::SteadyTime AtMs(int ms) {
  return net::SteadyTime(milliseconds(ms));
}

TEST(WorkQueue, GivesAKeyOnceHoweverOftenItWasAdded) {
  WorkQueueState queue({});
  queue.Add("a");
  queue.Add("b");
  queue.Add("a");
  EXPECT_EQ(queue.Next(AtMs(0)), "a");
  EXPECT_EQ(queue.Next(AtMs(0)), "b");
  EXPECT_EQ(queue.Next(AtMs(0)), std::nullopt);
}

TEST(WorkQueue, WhatIsAddedDuringWorkComesAgainAfterwards) {
  WorkQueueState queue({});
  queue.Add("a");
  EXPECT_EQ(queue.Next(AtMs(0)), "a");
  queue.Add("a");
  queue.Add("a");
  EXPECT_EQ(queue.Next(AtMs(0)), std::nullopt);
  queue.Done("a");
  EXPECT_EQ(queue.Next(AtMs(0)), "a");
  queue.Done("a");
  EXPECT_EQ(queue.Next(AtMs(0)), std::nullopt);
}

TEST(WorkQueue, TheEarliestOfSeveralTimesCounts) {
  WorkQueueState queue({});
  queue.AddAt("a", AtMs(50));
  queue.AddAt("a", AtMs(20));
  queue.AddAt("a", AtMs(90));
  EXPECT_EQ(queue.NextDue(), AtMs(20));
  EXPECT_EQ(queue.Next(AtMs(19)), std::nullopt);
  EXPECT_EQ(queue.Next(AtMs(20)), "a");
  queue.Done("a");
  EXPECT_EQ(queue.Next(AtMs(100)), std::nullopt);
}

TEST(WorkQueue, AKeyThatFailsWaitsLongerEachTimeUntilItIsForgotten) {
  WorkQueueState queue({milliseconds(5), milliseconds(15)});
  std::vector<int> waits;
  for (int i = 0; i < 4; ++i) {
    queue.AddRateLimited("a", AtMs(0));
    waits.push_back(static_cast<int>(queue.NextDue()->time_since_epoch().count()));
    EXPECT_EQ(queue.Next(AtMs(1000)), "a");
    queue.Done("a");
  }
  EXPECT_THAT(waits, ::testing::ElementsAre(5, 10, 15, 15));
  queue.Forget("a");
  queue.AddRateLimited("a", AtMs(0));
  EXPECT_EQ(queue.NextDue(), AtMs(5));
}

TEST(WorkQueue, DelaysNeverOverflow) {
  WorkQueueState queue({std::chrono::hours(24 * 365), Duration::max()});
  for (int i = 0; i < 100; ++i) {
    queue.AddRateLimited("a", AtMs(1));
    EXPECT_GT(*queue.NextDue(), AtMs(1));
    EXPECT_EQ(queue.Next(net::SteadyTime::max()), "a");
    queue.Done("a");
  }
  WorkQueue endless({}, [] { return AtMs(5); });
  endless.AddAfter("never", Duration::max());
  endless.AddAfter("now", -std::chrono::hours(1));
  EXPECT_EQ(endless.Get(), "now");
}

TEST(WorkQueue, AWorkerThatIsBusyAtTheCloseGetsWhatWasAddedMeanwhile) {
  WorkQueue queue({}, [] { return AtMs(0); });
  queue.Add("a");
  EXPECT_EQ(queue.Get(), "a");
  queue.Add("a");
  queue.Close();
  std::thread other([&] {
    EXPECT_EQ(queue.Get(), "a") << "waits for the worker, who may hand it back";
    queue.Done("a");
    EXPECT_EQ(queue.Get(), std::nullopt);
  });
  queue.AddRateLimited("a");
  queue.Done("a");
  other.join();
}

TEST(WorkQueue, ACloseGivesWhatIsThereAndThenNothing) {
  WorkQueue queue({}, [] { return AtMs(0); });
  queue.Add("a");
  queue.AddAfter("b", milliseconds(10));
  queue.Close();
  queue.Add("c");
  EXPECT_EQ(queue.Get(), "a");
  queue.Done("a");
  EXPECT_EQ(queue.Get(), std::nullopt);
}

// What a queue owes the keys: a look after each Add, and one at or after the earliest time.
struct Debts {
  std::set<std::string> now;
  std::map<std::string, int> later;

  void Want(const std::string& key) { now.insert(key); }
  void WantAt(const std::string& key, int due) {
    const auto [at, is_new] = later.try_emplace(key, due);
    at->second = std::min(at->second, due);
  }
  void PassTime(int time) {
    for (const auto& [key, due] : later) {
      if (due <= time) now.insert(key);
    }
    std::erase_if(later, [time](const auto& entry) { return entry.second <= time; });
  }
};

TEST(WorkQueueProperty, NoAddIsLostNoKeyIsWithTwoWorkersAndNothingComesBeforeItsTime) {
  testing::CheckProperty(300, [] {
    WorkQueueState queue({milliseconds(4), milliseconds(64)});
    Debts debts;
    std::set<std::string> busy;
    int now = 0;
    const int steps = *Below(120);
    for (int i = 0; i < steps; ++i) {
      const std::string key(1, static_cast<char>('a' + *Below(4)));
      const int delay = *Below(50);
      switch (*Below(5)) {
        case 0:
          queue.Add(key);
          debts.Want(key);
          break;
        case 1:
          queue.AddAt(key, AtMs(now + delay));
          debts.WantAt(key, now + delay);
          break;
        case 2:
          now += delay;
          break;
        case 3:
          if (busy.erase(key) > 0) queue.Done(key);
          break;
        default:
          debts.PassTime(now);
          if (const auto got = queue.Next(AtMs(now))) {
            RC_ASSERT(busy.insert(*got).second);
            RC_ASSERT(debts.now.erase(*got) == 1U);
          }
      }
    }
    for (const std::string& key : busy) queue.Done(key);
    debts.PassTime(now + 1000);
    while (const auto got = queue.Next(AtMs(now + 1000))) {
      RC_ASSERT(debts.now.erase(*got) == 1U);
      queue.Done(*got);
    }
    RC_ASSERT(debts.now.empty());
  });
}

TEST(WorkQueue, GivesACallerWithATimeOfItsOwnWhatIsDueWithoutWaiting) {
  net::SteadyTime now = AtMs(0);
  WorkQueue queue({}, [&now] { return now; });
  EXPECT_EQ(queue.TryGet(), std::nullopt);
  EXPECT_EQ(queue.NextDue(), std::nullopt);
  queue.AddAfter("late", milliseconds(30));
  EXPECT_EQ(queue.TryGet(), std::nullopt);
  EXPECT_EQ(queue.NextDue(), AtMs(30));
  queue.Add("now");
  EXPECT_EQ(queue.NextDue(), AtMs(0));
  EXPECT_EQ(queue.TryGet(), "now");
  now = AtMs(30);
  EXPECT_EQ(queue.TryGet(), "late");
}

TEST(WorkQueue, ManyWorkersSeeEveryKeyAndNeverOneTogether) {
  const auto start = std::chrono::steady_clock::now();
  WorkQueue queue({}, [start] {
    return net::SteadyTime(
        std::chrono::duration_cast<milliseconds>(std::chrono::steady_clock::now() - start));
  });
  constexpr std::size_t kKeys = 5;
  constexpr int kAdds = 2000;
  std::array<std::atomic<int>, kKeys> inside{};
  std::array<std::atomic<int>, kKeys> seen{};    // the number last looked at
  std::array<std::atomic<int>, kKeys> wanted{};  // the number last added
  std::atomic<bool> overlap = false;
  std::vector<std::thread> workers;
  for (int i = 0; i < 4; ++i) {
    workers.emplace_back([&] {
      while (const auto key = queue.Get()) {
        const auto index = static_cast<std::size_t>(key->front() - 'a');
        if (inside[index]++ != 0) overlap = true;
        seen[index] = wanted[index].load();
        --inside[index];
        queue.Done(*key);
      }
    });
  }
  for (int i = 0; i < kAdds; ++i) {
    const std::size_t index = static_cast<std::size_t>(i) % kKeys;
    wanted[index] = i;
    const std::string key(1, static_cast<char>('a' + index));
    queue.Add(key);
    if (i % 7 == 0) queue.AddAfter(key, milliseconds(1));
  }
  queue.Close();
  for (std::thread& worker : workers) worker.join();
  EXPECT_FALSE(overlap);
  for (std::size_t i = 0; i < kKeys; ++i) EXPECT_EQ(seen[i], wanted[i]);
}

}  // namespace
}  // namespace strata::kube
