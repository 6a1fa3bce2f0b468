#include "local_cluster/readiness.h"

#include <thread>

#include <gtest/gtest.h>

namespace strata {
namespace {

TEST(Readiness, WaitsUntilEveryPartIsReady) {
  Readiness readiness;
  const std::stop_source stop;
  readiness.IsReady();
  std::jthread other([&] { readiness.IsReady(); });
  EXPECT_TRUE(readiness.WaitForReady(2, stop.get_token()));
}

TEST(Readiness, GivesUpWhenAPartFails) {
  Readiness readiness;
  const std::stop_source stop;
  std::jthread part([&] { readiness.HasEnded(Fail(Code::kUnavailable, "first")); });
  EXPECT_FALSE(readiness.WaitForReady(1, stop.get_token()));
}

TEST(Readiness, KeepsTheFirstErrorAndIgnoresPartsThatEndWell) {
  Readiness readiness;
  const std::stop_source stop;
  readiness.HasEnded({});
  readiness.HasEnded(Fail(Code::kUnavailable, "first"));
  readiness.HasEnded(Fail(Code::kUnavailable, "second"));
  const Status failure = readiness.WaitForFailure(stop.get_token());
  ASSERT_FALSE(failure);
  EXPECT_EQ(failure.error().message, "first");
}

TEST(Readiness, StopsWaitingWhenItIsAskedTo) {
  Readiness readiness;
  std::stop_source stop;
  stop.request_stop();
  EXPECT_FALSE(readiness.WaitForReady(1, stop.get_token()));
  EXPECT_TRUE(readiness.WaitForFailure(stop.get_token()));
}

}  // namespace
}  // namespace strata
