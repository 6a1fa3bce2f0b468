#include "agent/gpu_health.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace strata::agent {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

MATCHER_P2(Became, uuid, health, "") {
  return arg.uuid == uuid && arg.after == health;
}

class ThreeGpus : public ::testing::Test {
 protected:
  ThreeGpus() {
    Answer(all_);
    (void)health_.TakeChanges();
  }
  void Answer(const std::vector<std::string>& uuids) { health_.TakeAnswers(uuids, now_); }
  void Xid(const std::string& uuid, std::uint64_t xid) { health_.TakeXid(uuid, xid, now_); }

  const std::vector<std::string> all_ = {"a", "b", "c"};
  net::SteadyTime now_{seconds(1000)};
  GpuHealth health_{HealthRules{}};
};

TEST_F(ThreeGpus, AreHealthyWhenTheyAnswer) {
  EXPECT_EQ(health_.Of("a"), Health::kHealthy);
  EXPECT_EQ(health_.Of("never seen"), Health::kUnhealthy);
  Answer(all_);
  EXPECT_THAT(health_.TakeChanges(), IsEmpty());
}

TEST_F(ThreeGpus, OneThatDoesNotAnswerTwiceIsUnhealthyAndTheOthersAreNot) {
  Answer({"a", "c"});
  EXPECT_EQ(health_.Of("b"), Health::kSuspect);
  Answer({"a", "c"});
  EXPECT_EQ(health_.Of("b"), Health::kUnhealthy);
  EXPECT_EQ(health_.Of("a"), Health::kHealthy);
  EXPECT_THAT(health_.TakeChanges(),
              ElementsAre(Became("b", Health::kSuspect), Became("b", Health::kUnhealthy)));
  Answer(all_);
  EXPECT_EQ(health_.Of("b"), Health::kHealthy);
}

TEST_F(ThreeGpus, OneMissedAnswerIsForgotten) {
  Answer({"a", "c"});
  Answer(all_);
  Answer({"a", "c"});
  EXPECT_EQ(health_.Of("b"), Health::kSuspect);
}

TEST_F(ThreeGpus, AnErrorOfAnApplicationChangesNothing) {
  for (const unsigned xid : {13U, 31U, 43U, 45U, 68U, 109U}) Xid("a", xid);
  EXPECT_THAT(health_.TakeChanges(), IsEmpty());
}

TEST_F(ThreeGpus, OneWithAnErrorComesBackAfterTenQuietMinutes) {
  Xid("a", 94);
  EXPECT_EQ(health_.Of("a"), Health::kUnhealthy);
  now_ += minutes(9);
  Xid("a", 94);
  now_ += minutes(9);
  Answer(all_);
  EXPECT_EQ(health_.Of("a"), Health::kUnhealthy);
  now_ += minutes(1);
  EXPECT_EQ(health_.Of("a"), Health::kUnhealthy) << "time alone does not heal";
  Answer(all_);
  EXPECT_EQ(health_.Of("a"), Health::kHealthy);
  EXPECT_THAT(health_.errors(), IsEmpty());
}

TEST_F(ThreeGpus, OneThatFellOffTheBusComesBackWithAnotherLifeOfTheDriverOnly) {
  Xid("a", 79);
  Xid("a", 94);  // a lesser one does not make it better
  now_ += minutes(60);
  Answer(all_);
  EXPECT_EQ(health_.Of("a"), Health::kUnhealthy);
  health_.ForgetErrors();
  Answer(all_);
  EXPECT_EQ(health_.Of("a"), Health::kHealthy);
}

TEST_F(ThreeGpus, AnErrorOfAnUnknownGpuMakesAllSuspectUntilTheyAnswer) {
  Xid("", 79);
  EXPECT_EQ(health_.Of("c"), Health::kSuspect);
  Answer(all_);
  EXPECT_EQ(health_.Of("c"), Health::kHealthy);
}

TEST_F(ThreeGpus, TheNextProcessKnowsWhatWasBroken) {
  Xid("b", 79);
  GpuHealth next(HealthRules{});
  next.Restore(health_.errors());
  next.TakeAnswers(all_, now_ + minutes(60));
  EXPECT_EQ(next.Of("b"), Health::kUnhealthy);
  EXPECT_EQ(next.Of("a"), Health::kHealthy);
}

TEST_F(ThreeGpus, ARuleMayIgnoreMoreErrors) {
  HealthRules rules;
  rules.ignored_xids.insert(94);
  GpuHealth health(rules);
  health.TakeAnswers(all_, now_);
  health.TakeXid("a", 94, now_);
  EXPECT_EQ(health.Of("a"), Health::kHealthy);
}

}  // namespace
}  // namespace strata::agent
