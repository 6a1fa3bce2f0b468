// Pods that go for replicas beyond the minimum of a gang, which runs already.
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sched/actions/test_eviction.h"
#include "tests/support/cluster_builder.h"
#include "tests/support/cycle.h"

namespace strata {
namespace {

using testing::Advance;
using testing::Cycles;
using testing::Decisions;
using ::testing::ElementsAre;
using testing::Evicting;
using testing::EvictingByCapacity;
using testing::EvictTest;
using testing::Hard;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::JobArgs;
using testing::kWholeNode;
using ::testing::Pair;
using ::testing::SizeIs;
using testing::TaskArgs;
using testing::WithSwitch;

SchedulerConfig Growing(const std::string& action) {
  return WithSwitch(Evicting(action), "gang", "enableJobStarving", false);
}

class EvictReplicasTest : public EvictTest {
 protected:
  // A gang of priority 10 that runs on node0 and wants so many nodes more.
  void Grows(int replicas, JobArgs args = {}) {
    args.min_available = args.min_available.value_or(1);
    args.priority = 10;
    Runs("high", {"node0"}, args);
    for (int i = 0; i < replicas; ++i) cluster_.Task("high", kWholeNode);
  }
};

TEST_F(EvictReplicasTest, NobodyGoesForThemByDefault) {
  Grows(2);
  Runs("wide", {"node1", "node2", "node3"}, {.min_available = 0});
  for (const char* action : {"preempt", "gangpreempt"}) {
    EXPECT_THAT(Run(action).plans, IsEmpty()) << action;
  }
}

TEST_F(EvictReplicasTest, TakeSurplusWhereTheGangPluginHasNoSay) {
  Grows(2);
  Runs("wide", {"node1", "node2", "node3"}, {.min_available = 1});
  const Decisions decided = Run(Growing("preempt"));
  EXPECT_THAT(decided.plans, ElementsAre("preempt for high: surplus wide x2"));
  EXPECT_THAT(decided.pipelined, ElementsAre(Pair("high-w-1", "node3"), Pair("high-w-2", "node2")));
  EXPECT_EQ(decided.Reason("high"), "WaitingForRelease");
}

TEST_F(EvictReplicasTest, BreakNoGang) {
  Grows(1);
  Runs("tight", {"node1", "node2", "node3"});
  const Decisions decided = Run(Growing("gangpreempt"));
  EXPECT_THAT(decided.plans, IsEmpty());
  EXPECT_EQ(decided.Reason("high"), "NothingToEvict");
  EXPECT_THAT(decided.Message("high"), HasSubstr("3 pods that their gangs need"));
}

TEST_F(EvictReplicasTest, AsManyAsThereIsSurplusFor) {
  Grows(3);
  Runs("wide", {"node1", "node2", "node3"}, {.min_available = 2});
  EXPECT_THAT(Run(Growing("gangpreempt")).plans,
              ElementsAre("gangpreempt for high: surplus wide x1"));
}

TEST_F(EvictReplicasTest, StartInTheNextCycle) {
  Grows(2);
  Runs("wide", {"node1", "node2", "node3"}, {.min_available = 1});
  Cycles cycles(cluster_.state, Growing("preempt"));
  cycles.Run();
  Advance(cluster_.state);
  const Decisions next = cycles.Run();
  EXPECT_THAT(next.binds, SizeIs(2));
  EXPECT_THAT(next.plans, IsEmpty());
}

TEST_F(EvictReplicasTest, ThoseWithAClaimStartTogether) {
  Grows(2);
  Runs("wide", {"node1", "node2", "node3"}, {.min_available = 1});
  Cycles cycles(cluster_.state, Growing("preempt"));
  ASSERT_THAT(cycles.Run().evicted, SizeIs(2));
  cluster_.Node("node4");
  const Decisions one_free = cycles.Run();
  EXPECT_THAT(one_free.binds, IsEmpty()) << "the room of the other one would be anybody's";
  EXPECT_THAT(one_free.pipelined, SizeIs(2));
  cluster_.Node("node5");
  const Decisions both_free = cycles.Run();
  EXPECT_THAT(both_free.binds, SizeIs(2));
  EXPECT_THAT(both_free.ended, ElementsAre("high: started"));
}

TEST_F(EvictReplicasTest, ALargeOneDoesNotKeepASmallOneWaiting) {
  Grows(0);
  TaskArgs large = kWholeNode;
  large.memory = 64;
  cluster_.Task("high", large).Task("high", kWholeNode);
  Runs("wide", {"node1", "node2", "node3"}, {.min_available = 0});
  EXPECT_THAT(Run(Growing("preempt")).pipelined, ElementsAre(Pair("high-w-2", "node3")));
}

TEST_F(EvictReplicasTest, KeepTopology) {
  Grows(1, {.topology = Hard(1)});
  Runs("kept", {"node1"}, {.priority = 20});
  Runs("wide", {"node2", "node3"}, {.min_available = 0});
  EXPECT_THAT(Run(Growing("gangpreempt")).plans, IsEmpty()) << "its rack has no surplus";
}

TEST_F(EvictReplicasTest, ASubGroupComesWholeOrNotAtAll) {
  const SubGroupPolicy pairs{.name = "pair",
                             .selector = {},
                             .match_label_keys = {"pair"},
                             .size = 2,
                             .min_sub_groups = 1,
                             .topology = {}};
  cluster_.Node("node4");
  cluster_.Job("pairs", {.tasks = 0, .min_available = 2, .priority = 10, .sub_groups = {pairs}});
  cluster_.state.workload().SetJobPhase(cluster_.FindJob("pairs"), JobPhase::kRunning);
  TaskArgs pod = kWholeNode;
  pod.sub_group = SubGroupKey{.policy = 0, .values = {"0"}};
  cluster_.Running("pairs", {"node0", "node1"}, pod);
  pod.sub_group = SubGroupKey{.policy = 0, .values = {"1"}};
  cluster_.Task("pairs", pod).Task("pairs", pod);
  Runs("wide", {"node2", "node3", "node4"}, {.min_available = 2});
  EXPECT_THAT(Run(Growing("gangpreempt")).plans, IsEmpty()) << "one node for two pods";
  Runs("more", {}, {.min_available = 0});
  cluster_.Node("node5").Running("more", {"node5"}, kWholeNode);
  EXPECT_THAT(Run(Growing("gangpreempt")).plans,
              ElementsAre("gangpreempt for pairs: surplus more x1, surplus wide x1"));
}

TEST_F(EvictReplicasTest, AQueueReclaimsForThemWhatItDeserves) {
  cluster_.Queue("own", {.cpu_deserved = 16}).Queue("other", {.cpu_deserved = 16});
  Grows(3, {.queue = "own"});
  Runs("wide", {"node1", "node2", "node3"}, {.min_available = 0, .queue = "other"});
  EXPECT_THAT(
      Run(WithSwitch(EvictingByCapacity("reclaim"), "gang", "enableJobStarving", false)).plans,
      ElementsAre("reclaim for high: surplus wide x1"));
}

TEST_F(EvictReplicasTest, OneThatNeverPreemptsTakesNothing) {
  Grows(0);
  TaskArgs never = kWholeNode;
  never.disruption.never_preempts = true;
  cluster_.Task("high", never);
  Runs("wide", {"node1", "node2", "node3"}, {.min_available = 0});
  const Decisions decided = Run(Growing("preempt"));
  EXPECT_THAT(decided.plans, IsEmpty());
  EXPECT_EQ(decided.Reason("high"), "EvictionNotAllowed");
}

TEST_F(EvictReplicasTest, ADryRunTells) {
  Grows(1);
  Runs("wide", {"node1", "node2", "node3"}, {.min_available = 0});
  SchedulerConfig config =
      WithSwitch(Evicting("preempt", {{"dryRun", true}}), "gang", "enableJobStarving", false);
  const Decisions decided = Run(config);
  EXPECT_THAT(decided.evicted, IsEmpty());
  EXPECT_EQ(decided.Reason("high"), "EvictionDryRun");
}

TEST_F(EvictReplicasTest, AReplicaOfHigherTaskPriorityTakesTheRoomOfAnother) {
  Runs("train", {"node0", "node1", "node2", "node3"}, {.min_available = 2});
  TaskArgs important = kWholeNode;
  important.priority = 9;
  cluster_.Task("train", important);
  EXPECT_THAT(Run("preempt").plans, IsEmpty()) << "the gang lacks nothing";
  EXPECT_THAT(Run(Growing("preempt")).plans, ElementsAre("preempt for train: surplus train x1"));
}

TEST_F(EvictReplicasTest, AGangThatStartsGetsItsMinimumFirst) {
  Waits("high", 3, {.min_available = 1});
  Runs("wide", {"node0", "node1", "node2", "node3"}, {.min_available = 0});
  EXPECT_THAT(Run(Growing("gangpreempt")).plans,
              ElementsAre("gangpreempt for high: surplus wide x1"));
}

TEST_F(EvictReplicasTest, NobodyEvictsIfNoPluginSaysWhoLacksWhat) {
  Waits("high", 1);
  Runs("wide", {"node0", "node1", "node2", "node3"}, {.min_available = 0});
  EXPECT_THAT(Run(WithSwitch(Growing("gangpreempt"), "priority", "enableJobStarving", false)).plans,
              IsEmpty());
}

}  // namespace
}  // namespace strata
