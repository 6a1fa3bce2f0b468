#include "live/cycle_agenda.h"

#include <gtest/gtest.h>

namespace strata::live {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr Duration kPeriod = seconds(1);

net::SteadyTime After(Duration time) {
  return net::SteadyTime(hours(1)) + time;
}

// A leader that has seen the cluster, whose feed is at `version`.
CycleAgenda::Moment LeaderAt(Duration time, std::uint64_t version) {
  return {.now = After(time), .synced = true, .leads = true, .feed_version = version};
}

// An agenda whose last cycle ended at time 0 and left nothing to decide, at version 7.
CycleAgenda Idle() {
  CycleAgenda agenda(kPeriod);
  agenda.EndCycle({.feed_version = 7, .changed_state = false, .some_wait = true},
                  After(seconds(0)));
  return agenda;
}

TEST(CycleAgenda, TheFirstCycleRunsAsSoonAsTheClusterIsSeenByALeader) {
  const CycleAgenda agenda(kPeriod);
  CycleAgenda::Moment moment = LeaderAt(seconds(0), 0);
  EXPECT_TRUE(agenda.IsCycleDue(moment));
  EXPECT_EQ(agenda.TimeToSleep(moment, {}, hours(1)), seconds(0));
  moment.synced = false;
  EXPECT_FALSE(agenda.IsCycleDue(moment));
  moment.synced = true;
  moment.leads = false;
  EXPECT_FALSE(agenda.IsCycleDue(moment));
  EXPECT_EQ(agenda.TimeToSleep(moment, {}, seconds(1)), seconds(1));
}

TEST(CycleAgenda, SleepsUntilTheFeedChanges) {
  const CycleAgenda agenda = Idle();
  EXPECT_FALSE(agenda.IsCycleDue(LeaderAt(hours(5), 7)));
  EXPECT_EQ(agenda.TimeToSleep(LeaderAt(hours(5), 7), {}, hours(1)), hours(1));
  EXPECT_TRUE(agenda.IsCycleDue(LeaderAt(hours(5), 8)));
}

TEST(CycleAgenda, CyclesAreAPeriodApart) {
  const CycleAgenda agenda = Idle();
  EXPECT_FALSE(agenda.IsCycleDue(LeaderAt(milliseconds(400), 8)));
  EXPECT_EQ(agenda.TimeToSleep(LeaderAt(milliseconds(400), 8), {}, hours(1)), milliseconds(600));
  EXPECT_TRUE(agenda.IsCycleDue(LeaderAt(seconds(1), 8)));
}

TEST(CycleAgenda, ACycleThatBoundPodsIsFollowedByAnother) {
  CycleAgenda agenda(kPeriod);
  agenda.EndCycle({.feed_version = 7, .changed_state = true, .some_wait = false},
                  After(seconds(0)));
  EXPECT_TRUE(agenda.IsCycleDue(LeaderAt(seconds(1), 7)));
}

TEST(CycleAgenda, ACycleWhoseBudgetEndedIsFollowedByTheNextAtOnce) {
  CycleAgenda agenda(kPeriod);
  agenda.EndCycle({.feed_version = 7, .left = CycleResult::Left::kForNow}, After(seconds(0)));
  EXPECT_TRUE(agenda.IsCycleDue(LeaderAt(seconds(0), 7)));
  EXPECT_EQ(agenda.TimeToSleep(LeaderAt(seconds(0), 7), {}, hours(1)), seconds(0));
}

TEST(CycleAgenda, JobsThatMayOnlyBeLuckyWaitForTheNextPeriod) {
  CycleAgenda agenda(kPeriod);
  agenda.EndCycle({.feed_version = 7, .left = CycleResult::Left::kForLater}, After(seconds(0)));
  EXPECT_FALSE(agenda.IsCycleDue(LeaderAt(milliseconds(999), 7)));
  EXPECT_TRUE(agenda.IsCycleDue(LeaderAt(seconds(1), 7)));
}

TEST(CycleAgenda, DecidesAgainWithANewConfigurationAndANewLease) {
  CycleAgenda configured = Idle();
  configured.UseConfig(false);
  EXPECT_TRUE(configured.IsCycleDue(LeaderAt(seconds(1), 7)));
  CycleAgenda leading = Idle();
  leading.DecideAgain();
  EXPECT_TRUE(leading.IsCycleDue(LeaderAt(seconds(1), 7)));
}

TEST(CycleAgenda, RepeatsWhileJobsWaitUnderAConfigurationThatDependsOnTime) {
  CycleAgenda agenda(kPeriod);
  agenda.UseConfig(true);
  agenda.EndCycle({.feed_version = 7, .changed_state = false, .some_wait = true},
                  After(seconds(0)));
  EXPECT_TRUE(agenda.IsCycleDue(LeaderAt(seconds(1), 7)));
  agenda.EndCycle({.feed_version = 7, .changed_state = false, .some_wait = false},
                  After(seconds(1)));
  EXPECT_FALSE(agenda.IsCycleDue(LeaderAt(seconds(9), 7)));
}

TEST(CycleAgenda, WakesForTheFirstThatIsDueButOnlyALeaderThatHasSeenTheCluster) {
  const CycleAgenda agenda = Idle();
  const std::optional<net::SteadyTime> dues[] = {
      After(seconds(30)), std::nullopt, After(seconds(20))};
  EXPECT_EQ(agenda.TimeToSleep(LeaderAt(seconds(5), 7), dues, hours(1)), seconds(15));
  EXPECT_EQ(agenda.TimeToSleep(LeaderAt(seconds(40), 7), dues, hours(1)), seconds(0));
  CycleAgenda::Moment follower = LeaderAt(seconds(40), 7);
  follower.leads = false;
  EXPECT_EQ(agenda.TimeToSleep(follower, dues, seconds(1)), seconds(1));
}

}  // namespace
}  // namespace strata::live
