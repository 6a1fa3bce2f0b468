#include "agent/publish_agenda.h"

#include <gtest/gtest.h>

namespace strata::agent {
namespace {

using std::chrono::seconds;

class PublishAgendaTest : public ::testing::Test {
 protected:
  net::SteadyTime now_{seconds(100)};
  PublishAgenda agenda_{[] { return 0.5; }};
};

TEST_F(PublishAgendaTest, HasNothingToDoBeforeThereIsSomethingToTell) {
  EXPECT_FALSE(agenda_.Begin(now_));
  EXPECT_EQ(agenda_.NextDue(), std::nullopt);
}

TEST_F(PublishAgendaTest, TellsNewsAtOnceAndThenThatItIsAlive) {
  agenda_.Hurry(now_);
  EXPECT_TRUE(agenda_.Begin(now_));
  EXPECT_FALSE(agenda_.Begin(now_)) << "one at a time";
  agenda_.Finish(true, now_);
  EXPECT_EQ(agenda_.NextDue(), now_ + kHeartbeat);
  EXPECT_FALSE(agenda_.Begin(now_ + kHeartbeat - Duration(1)));
  EXPECT_TRUE(agenda_.Begin(now_ + kHeartbeat));
}

TEST_F(PublishAgendaTest, NewsThatComeMeanwhileAreToldNext) {
  agenda_.Hurry(now_);
  ASSERT_TRUE(agenda_.Begin(now_));
  agenda_.Hurry(now_);
  EXPECT_EQ(agenda_.NextDue(), std::nullopt);
  agenda_.Finish(true, now_);
  EXPECT_TRUE(agenda_.Begin(now_));
}

TEST_F(PublishAgendaTest, WhatFailedIsTriedAgainLaterAndLater) {
  agenda_.Hurry(now_);
  Duration last{0};
  for (int i = 0; i < 10; ++i) {
    ASSERT_TRUE(agenda_.Begin(now_));
    agenda_.Finish(false, now_);
    ASSERT_TRUE(agenda_.NextDue().has_value());
    const Duration wait = *agenda_.NextDue() - now_;
    EXPECT_GE(wait, last);
    EXPECT_LE(wait, seconds(30));
    last = wait;
    now_ += wait;
  }
  EXPECT_GE(last, seconds(15));
}

TEST_F(PublishAgendaTest, NewsDoNotMakeAServerThatRefusesBeAskedMoreOften) {
  agenda_.Hurry(now_);
  ASSERT_TRUE(agenda_.Begin(now_));
  agenda_.Hurry(now_);
  agenda_.Finish(false, now_);
  EXPECT_FALSE(agenda_.Begin(now_));
}

}  // namespace
}  // namespace strata::agent
