#include "sched/eviction/victim_book.h"

#include <chrono>
#include <optional>

#include <gtest/gtest.h>

#include "tests/support/cluster_builder.h"

namespace strata {
namespace {

using std::chrono::seconds;
using testing::ClusterBuilder;
using testing::TaskArgs;

class VictimBookTest : public ::testing::Test {
 protected:
  VictimBookTest() {
    cluster_.Nodes(1);
    cluster_.Job("job", {.tasks = 0});
  }

  // A pod of the job that runs since then, in seconds; 0: nobody knows.
  void Runs(int since, std::int32_t cooldown = 0) {
    TaskArgs pod;
    if (since > 0) pod.disruption.runs_since = ToMoment(Time(seconds(since)));
    pod.disruption.cooldown_seconds = cooldown;
    cluster_.Running("job", {"node0"}, pod);
  }
  std::optional<Time> NextAfter(int now) {
    book_.Refresh(cluster_.state);
    return book_.NextOpening(cluster_.state.workload(), Time(seconds(now)));
  }

  ClusterBuilder cluster_;
  VictimBook book_;
};

TEST_F(VictimBookTest, AJobIsOldEnoughAMinuteAfterItsFirstPod) {
  Runs(1000);
  Runs(1030);
  EXPECT_EQ(NextAfter(1040), Time(seconds(1060)));
  EXPECT_EQ(NextAfter(1060), std::nullopt) << "the second pod has no time of its own";
}

TEST_F(VictimBookTest, APodIsOldEnoughAfterItsOwnCooldown) {
  Runs(1000);
  Runs(2000, 600);
  EXPECT_EQ(NextAfter(2000), Time(seconds(2600)));
  EXPECT_EQ(NextAfter(2600), std::nullopt);
}

TEST_F(VictimBookTest, TheCooldownOfAPodAlsoCountsFromTheFirstPodOfItsJob) {
  Runs(1000);
  Runs(1030, 45);
  EXPECT_EQ(NextAfter(1040), Time(seconds(1045)));
  EXPECT_EQ(NextAfter(1045), Time(seconds(1060)));
  EXPECT_EQ(NextAfter(1060), Time(seconds(1075)));
}

TEST_F(VictimBookTest, WithoutAKnownStartNobodyIsYoung) {
  Runs(0, 600);
  EXPECT_EQ(NextAfter(10), std::nullopt);
}

}  // namespace
}  // namespace strata
