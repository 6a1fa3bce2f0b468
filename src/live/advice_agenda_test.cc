#include "live/advice_agenda.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace strata::live {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::Eq;

const Refusal kFits2{"NotEnoughResources", "2 of 4 pods fit"};
const Refusal kFits1{"NotEnoughResources", "1 of 4 pods fit"};
const net::SteadyTime kBegin{std::chrono::hours(1)};

std::string JobOf(const std::optional<AdviceAgenda::Item>& item) {
  return item ? item->job : "";
}

TEST(AdviceAgenda, LooksIntoAVerdictOnceItHasHeldForAMoment) {
  AdviceAgenda agenda;
  EXPECT_EQ(agenda.NextLook(), std::nullopt);
  EXPECT_FALSE(agenda.Follow({{"ns/a", kFits2}}, kBegin));
  EXPECT_EQ(agenda.NextLook(), kBegin + seconds(1));
  EXPECT_EQ(JobOf(agenda.Begin(kBegin + milliseconds(999))), "");
  EXPECT_FALSE(agenda.Follow({{"ns/a", kFits1}}, kBegin + milliseconds(500)));
  EXPECT_EQ(JobOf(agenda.Begin(kBegin + seconds(1))), "");
  EXPECT_EQ(agenda.NextLook(), kBegin + milliseconds(1500));
  EXPECT_EQ(JobOf(agenda.Begin(kBegin + milliseconds(1500))), "ns/a");
}

TEST(AdviceAgenda, NeverLooksIntoTheSameVerdictTwice) {
  AdviceAgenda agenda;
  EXPECT_FALSE(agenda.Follow({{"ns/a", kFits2}}, kBegin));
  ASSERT_EQ(JobOf(agenda.Begin(kBegin + seconds(1))), "ns/a");
  EXPECT_TRUE(agenda.Finish(RelaxationReport{}, kBegin + seconds(2)));
  EXPECT_FALSE(agenda.Follow({{"ns/a", kFits2}}, kBegin + seconds(3)));
  EXPECT_EQ(JobOf(agenda.Begin(kBegin + seconds(100))), "");
  EXPECT_EQ(agenda.NextLook(), std::nullopt);
}

TEST(AdviceAgenda, RestsNineTimesAsLongAsASearchTook) {
  AdviceAgenda agenda;
  EXPECT_FALSE(agenda.Follow({{"ns/a", kFits2}, {"ns/b", kFits2}}, kBegin));
  ASSERT_EQ(JobOf(agenda.Begin(kBegin + seconds(1))), "ns/a");
  EXPECT_EQ(JobOf(agenda.Begin(kBegin + seconds(1))), "") << "one at a time";
  EXPECT_TRUE(agenda.Finish(RelaxationReport{}, kBegin + seconds(3)));
  EXPECT_EQ(agenda.NextLook(), kBegin + seconds(21));
  EXPECT_EQ(JobOf(agenda.Begin(kBegin + seconds(20))), "");
  EXPECT_EQ(JobOf(agenda.Begin(kBegin + seconds(21))), "ns/b");
}

TEST(AdviceAgenda, DropsTheAnswerToAPreviousVerdict) {
  AdviceAgenda agenda;
  EXPECT_FALSE(agenda.Follow({{"ns/a", kFits2}}, kBegin));
  ASSERT_EQ(JobOf(agenda.Begin(kBegin + seconds(1))), "ns/a");
  EXPECT_TRUE(agenda.Follow({{"ns/a", kFits1}}, kBegin + seconds(2))) << "stale";
  EXPECT_FALSE(agenda.Finish(RelaxationReport{}, kBegin + seconds(2)));
  const auto next = agenda.Begin(kBegin + seconds(11));
  ASSERT_TRUE(next.has_value());
  EXPECT_THAT(next->verdict, Eq(kFits1));
}

TEST(AdviceAgenda, ForgetsAJobThatStarted) {
  AdviceAgenda agenda;
  EXPECT_FALSE(agenda.Follow({{"ns/a", kFits2}}, kBegin));
  ASSERT_EQ(JobOf(agenda.Begin(kBegin + seconds(1))), "ns/a");
  EXPECT_TRUE(agenda.Follow({}, kBegin + seconds(2)));
  EXPECT_FALSE(agenda.Finish(std::nullopt, kBegin + seconds(2)));
  EXPECT_EQ(JobOf(agenda.Begin(kBegin + seconds(60))), "");
}

TEST(AdviceAgenda, AVerdictThatKeepsChangingDelaysNoOtherJob) {
  AdviceAgenda agenda;
  EXPECT_FALSE(agenda.Follow({{"ns/a", kFits2}}, kBegin));
  for (int i = 1; i <= 20; ++i) {
    const Refusal& restless = i % 2 == 0 ? kFits2 : kFits1;
    EXPECT_FALSE(
        agenda.Follow({{"ns/a", restless}, {"ns/b", kFits2}}, kBegin + milliseconds(100) * i));
  }
  EXPECT_EQ(JobOf(agenda.Begin(kBegin + seconds(2))), "ns/b");
}

}  // namespace
}  // namespace strata::live
