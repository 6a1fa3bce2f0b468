#include "live/clock_steps.h"

#include <chrono>

#include <gtest/gtest.h>

namespace strata::live {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(ClockSteps, AreFoundInBothDirections) {
  ClockSteps steps;
  const Time noon{seconds(1'800'000'000)};
  const net::SteadyTime start{seconds(100)};
  EXPECT_EQ(steps.Take(noon, start), Duration(0));
  EXPECT_EQ(steps.Take(noon + seconds(5), start + seconds(5)), Duration(0));
  EXPECT_EQ(steps.Take(noon + hours(1) + seconds(6), start + seconds(6)), hours(1));
  EXPECT_EQ(steps.Take(noon + seconds(7), start + seconds(7)), -hours(1));
  EXPECT_EQ(steps.Take(noon + seconds(8), start + seconds(8)), Duration(0));
}

TEST(ClockSteps, AClockThatIsSlowHasNone) {
  ClockSteps steps;
  for (int i = 0; i < 1000; ++i) {
    const Time wall{seconds(1'800'000'000) + milliseconds(990) * i};
    EXPECT_EQ(steps.Take(wall, net::SteadyTime(seconds(i))), Duration(0));
  }
}

TEST(MoveDeadlines, KeepsHowFarAwayTheyAre) {
  const Time noon{seconds(1'800'000'000)};
  ClaimBook claims;
  claims.Add({.job = "ns/a", .uid = "u", .victims = {{"ns/v", "w", noon + seconds(30)}}});
  const ClaimBook moved = MoveDeadlines(claims, -hours(1));
  EXPECT_EQ(moved.NextDeadline(), noon + seconds(30) - hours(1));
}

}  // namespace
}  // namespace strata::live
