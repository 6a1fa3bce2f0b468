#include "live/retry_times.h"

#include <gtest/gtest.h>

namespace strata::live {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;

const net::SteadyTime kStart{std::chrono::hours(1)};
const kube::Backoff::Limits kLimits{milliseconds(100), milliseconds(1000)};

TEST(RetryTimes, WaitsTwiceAsLongAfterEachFailureUpToTheLimit) {
  RetryTimes times([] { return 1.0; }, kLimits);
  EXPECT_LE(times.Due("a"), kStart);
  for (const int wait : {100, 200, 400, 800, 1000, 1000}) {
    EXPECT_EQ(times.Failed("a", kStart), kStart + milliseconds(wait));
    EXPECT_EQ(times.Due("a"), kStart + milliseconds(wait));
  }
}

TEST(RetryTimes, ASuccessResetsTheDelayOfThatNameOnly) {
  RetryTimes times([] { return 1.0; }, kLimits);
  times.Failed("a", kStart);
  times.Failed("a", kStart);
  EXPECT_FALSE(times.HasFailed("b"));
  EXPECT_EQ(times.Failed("b", kStart), kStart + milliseconds(100));
  times.Forget("a");
  EXPECT_FALSE(times.HasFailed("a"));
  EXPECT_EQ(times.Failed("a", kStart), kStart + milliseconds(100));
}

TEST(RetryTimes, SpreadsTheRetriesOfNamesThatFailTogether) {
  double next = 0;
  RetryTimes times([&next] { return next += 0.25; }, kLimits);
  const net::SteadyTime first = times.Failed("a", kStart);
  EXPECT_LT(first, times.Failed("b", kStart));
}

TEST(RetryTimes, ForgetsNamesThatAreNoLongerTried) {
  RetryTimes times([] { return 1.0; }, kLimits);
  for (int i = 0; i < 2000; ++i) times.Failed(std::to_string(i), kStart);
  times.Failed("late", kStart + minutes(11));
  EXPECT_FALSE(times.HasFailed("0"));
  EXPECT_TRUE(times.HasFailed("late"));
}

}  // namespace
}  // namespace strata::live
