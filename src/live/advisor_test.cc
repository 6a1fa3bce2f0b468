#include "live/advisor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sched/scheduler.h"
#include "whatif/cluster.h"
#include "whatif/test_support.h"

namespace strata::live {
namespace {

using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

// A cluster with a gang that is one pod too large, and somebody who gives advice on it.
class AdvisorTest : public testing::Test {
 protected:
  void SetUp() override {
    const auto completed =
        CompleteObjects(objects::MustLoad(EightNodes("cpu: 1") + GangOf("gang", 9, "cpu: 1", "")));
    ASSERT_TRUE(completed.has_value());
    ASSERT_TRUE(feed_.Apply(completed->objects));
    std::vector<std::string> problems;
    feed_.Settle(problems);
    scheduler_ = std::move(Scheduler::Make(config_, feed_.state()).value().scheduler);
  }

  CycleResult Cycle() {
    scheduler_->Open(Time{}, nullptr);
    scheduler_->RunActions();
    return scheduler_->Close();
  }
  void Pass(Duration time) { now_ += time; }
  void TakeLetters() { mailbox_->Serve(seconds(60)); }

  net::SteadyTime now_{std::chrono::hours(1)};
  std::shared_ptr<kube::Mailbox> mailbox_ = std::make_shared<kube::Mailbox>();
  SchedulerConfig config_ = DefaultSchedulerConfig();
  ClusterState state_;
  ClusterFeed feed_{state_, IsOurs};
  std::unique_ptr<Scheduler> scheduler_;
  std::vector<std::string> told_;
  Advisor advisor_{
      mailbox_,
      [this] { return now_; },
      [this](const Advisor::Advice& advice) { told_.push_back(advice.job + ": " + advice.text); }};
};

TEST_F(AdvisorTest, TellsTheSmallestChangeOnce) {
  advisor_.Follow(feed_.state(), Cycle());
  advisor_.Look(feed_, config_, Time{});
  EXPECT_EQ(advisor_.NextLook(), now_ + AdviceAgenda::kSettle) << "the verdict is too new";
  Pass(seconds(1));
  advisor_.Look(feed_, config_, Time{});
  TakeLetters();
  const std::string advice =
      "default/gang-gang: start with 8 pods instead of 9: spec.minAvailable 8: kubectl patch "
      R"(vcjob gang -n default --type=merge -p '{"spec":{"minAvailable":8}}')";
  EXPECT_THAT(told_, ElementsAre(advice));
  advisor_.Follow(feed_.state(), Cycle());
  Pass(seconds(60));
  advisor_.Look(feed_, config_, Time{});
  EXPECT_EQ(advisor_.NextLook(), std::nullopt);
  EXPECT_THAT(told_, ElementsAre(advice));
}

TEST_F(AdvisorTest, IsSilentWhenTheVerdictIsOfThePast) {
  advisor_.Follow(feed_.state(), Cycle());
  Pass(seconds(1));
  advisor_.Look(feed_, config_, Time{});
  advisor_.Follow(feed_.state(), CycleResult{});  // it does not wait any more
  TakeLetters();
  EXPECT_THAT(told_, IsEmpty());
}

TEST_F(AdvisorTest, HasNoAdviceOnAJobThatWasDeletedSinceTheCycle) {
  advisor_.Follow(feed_.state(), Cycle());
  feed_.Remove("PodGroup", "default", "gang-gang");
  Pass(seconds(1));
  advisor_.Look(feed_, config_, Time{});
  TakeLetters();
  EXPECT_THAT(told_, ElementsAre("default/gang-gang: "));
}

TEST_F(AdvisorTest, HasNothingToSayOfAGangWhosePodsAreBeingMadeOrThatNoActionLooksAt) {
  for (const char* reason : {"NotEnoughTasks", "NoAction"}) {
    CycleResult result = Cycle();
    for (auto& [id, verdict] : result.verdicts) verdict.reason = reason;
    ASSERT_FALSE(result.verdicts.empty());
    advisor_.Follow(feed_.state(), result);
    EXPECT_EQ(advisor_.NextLook(), std::nullopt);
  }
}

TEST_F(AdvisorTest, EndsWhileASearchIsUnderWay) {
  advisor_.Follow(feed_.state(), Cycle());
  Pass(seconds(1));
  advisor_.Look(feed_, config_, Time{});
  EXPECT_THAT(told_, IsEmpty()) << "the answer waits in the mailbox for good";
}

}  // namespace
}  // namespace strata::live
