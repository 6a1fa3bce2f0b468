// Units and HyperNodes that preempt and gangpreempt choose. The first cases are those of Volcano's
// own acceptance tests (test/e2e/gangevict) under their names there: GP-1, T1 and so on.
#include <chrono>
#include <string>
#include <vector>

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
using testing::EvictTest;
using testing::Hard;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::JobArgs;
using testing::kWholeNode;
using ::testing::SizeIs;
using testing::Soft;
using testing::TaskArgs;
using testing::WithSwitch;

// ---- gangpreempt

TEST_F(EvictTest, Gp1TakesSurplusAndTheVictimKeepsItsMinimum) {
  Runs("wide", {"node0", "node1", "node2", "node3"}, {.min_available = 2});
  Waits("high", 2);
  const Decisions decided = Run("gangpreempt");
  EXPECT_THAT(decided.plans, ElementsAre("gangpreempt for high: surplus wide x2"));
  EXPECT_THAT(decided.evicted, ElementsAre("wide-w-2", "wide-w-3")) << "the last ones first";
  EXPECT_THAT(decided.pipelined, SizeIs(2));
  EXPECT_EQ(decided.Reason("high"), "WaitingForRelease");
}

TEST_F(EvictTest, TheGangStartsInTheNextCycle) {
  Runs("wide", {"node0", "node1", "node2", "node3"}, {.min_available = 2});
  Waits("high", 2);
  Cycles cycles(cluster_.state, Evicting("gangpreempt"));
  cycles.Run();
  Advance(cluster_.state);
  const Decisions next = cycles.Run();
  EXPECT_THAT(next.binds, SizeIs(2));
  EXPECT_THAT(next.plans, IsEmpty());
}

TEST_F(EvictTest, Gp2TakesTheSurplusOfTwoGangsAndBreaksNone) {
  Runs("a", {"node0", "node1"}, {.min_available = 1});
  Runs("b", {"node2", "node3"}, {.min_available = 1});
  Waits("high", 2);
  EXPECT_THAT(Run("gangpreempt").plans,
              ElementsAre("gangpreempt for high: surplus a x1, surplus b x1"));
}

TEST_F(EvictTest, Gp3BreaksExactlyOneOfTwoGangs) {
  Runs("a", {"node0", "node1"});
  Runs("b", {"node2", "node3"});
  Waits("high", 2);
  EXPECT_THAT(Run("gangpreempt").plans, ElementsAre("gangpreempt for high: gang a"));
}

TEST_F(EvictTest, Gp4BreaksBothWhereBothAreNeeded) {
  Runs("a", {"node0", "node1"});
  Runs("b", {"node2", "node3"});
  Waits("high", 3);
  EXPECT_THAT(Run("gangpreempt").plans, ElementsAre("gangpreempt for high: gang a, gang b"));
}

TEST_F(EvictTest, Gp6DoesNotTakeFromOtherQueues) {
  cluster_.Queue("other");
  Runs("a", {"node0", "node1", "node2", "node3"}, {.queue = "other"});
  Waits("high", 1);
  const Decisions decided = Run("gangpreempt");
  EXPECT_THAT(decided.evicted, IsEmpty());
  EXPECT_EQ(decided.Reason("high"), "NothingToEvict");
  EXPECT_THAT(decided.Message("high"), HasSubstr("; gangpreempt: no pod is in its reach"));
}

TEST_F(EvictTest, Gp7DoesNotTakeFromEqualPriority) {
  Runs("a", {"node0", "node1", "node2", "node3"}, {.priority = 10});
  Waits("high", 1);
  const Decisions decided = Run("gangpreempt");
  EXPECT_THAT(decided.evicted, IsEmpty());
  EXPECT_THAT(decided.Message("high"),
              HasSubstr("it may evict nobody: 4 pods of jobs without lower priority"));
}

TEST_F(EvictTest, Gp8EvictsNobodyWhereAllOfThemAreNotEnough) {
  Runs("a", {"node0", "node1"});
  Runs("equal", {"node2", "node3"}, {.priority = 10});
  Waits("high", 4);
  const Decisions decided = Run("gangpreempt");
  EXPECT_THAT(decided.evicted, IsEmpty());
  EXPECT_EQ(decided.Reason("high"), "NothingToEvict");
  EXPECT_THAT(
      decided.Message("high"),
      HasSubstr("of the 2 pods that may go for it, no allowed choice makes room for the gang"));
}

TEST_F(EvictTest, R1KeepsTheMinimumOfEachRole) {
  JobArgs args{.min_available = 2, .min_task_member = {{"ps", 1}, {"w", 1}}};
  Runs("roles", {"node0", "node1", "node2"}, args);
  TaskArgs ps = kWholeNode;
  ps.role = "ps";
  cluster_.Running("roles", {"node3"}, ps);
  Waits("high", 2);
  const Decisions decided = Run("gangpreempt");
  EXPECT_THAT(decided.evicted, ElementsAre("roles-w-1", "roles-w-2"))
      << "of four pods two are surplus, and neither is the only ps";
}

TEST_F(EvictTest, S1KeepsTheMinimumOfSubGroups) {
  const SubGroupPolicy pairs{.name = "pair",
                             .selector = {},
                             .match_label_keys = {"pair"},
                             .size = 2,
                             .min_sub_groups = 1,
                             .topology = {}};
  cluster_.Job("pairs", {.tasks = 0, .min_available = 2, .sub_groups = {pairs}});
  cluster_.state.workload().SetJobPhase(cluster_.FindJob("pairs"), JobPhase::kRunning);
  TaskArgs pod = kWholeNode;
  pod.sub_group = SubGroupKey{.policy = 0, .values = {"0"}};
  cluster_.Running("pairs", {"node0", "node2"}, pod);
  pod.sub_group = SubGroupKey{.policy = 0, .values = {"1"}};
  cluster_.Running("pairs", {"node1", "node3"}, pod);
  Waits("high", 2);
  const Decisions decided = Run("gangpreempt");
  EXPECT_THAT(decided.evicted, ElementsAre("pairs-w-2", "pairs-w-3"))
      << "one pair goes, not half of each";
}

TEST_F(EvictTest, T1ClearsOneRackForAHardGang) {
  Runs("a", {"node0"});
  Runs("b", {"node1"}, {.priority = 5});
  Runs("c", {"node2"}, {.priority = 1});
  Runs("d", {"node3"}, {.priority = 1});
  Waits("high", 2, {.topology = Hard(1)});
  EXPECT_THAT(Run("gangpreempt").plans, ElementsAre("gangpreempt for high in s1: gang c, gang d"))
      << "the rack whose most important victim is less important";
}

TEST_F(EvictTest, T2EvictsNobodyForAGangThatNoRackCouldHold) {
  Runs("a", {"node0", "node1"});
  Runs("b", {"node2", "node3"});
  Waits("high", 3, {.topology = Hard(1)});
  const Decisions decided = Run("gangpreempt");
  EXPECT_THAT(decided.evicted, IsEmpty());
  EXPECT_EQ(decided.Reason("high"), "GangLargerThanHyperNode");
}

TEST_F(EvictTest, T4TakesARackThoughTheLimitAllowsTheSpine) {
  Runs("a", {"node0", "node1"});
  Runs("b", {"node2", "node3"});
  Waits("high", 2, {.topology = Hard(2)});
  EXPECT_THAT(Run("gangpreempt").plans, ElementsAre("gangpreempt for high in s0: gang a"));
}

// ---- units and their order

TEST_F(EvictTest, AGangGoesWhereverItRuns) {
  Runs("a", {"node0", "node2"});
  Runs("b", {"node1", "node3"}, {.priority = 10});
  Waits("high", 1, {.topology = Hard(1)});
  EXPECT_THAT(Run("gangpreempt").evicted, ElementsAre("a-w-0", "a-w-1"))
      << "half a gang would hold its room in vain";
}

TEST_F(EvictTest, ASmallerNumberOfGangsIsBrokenByDefault) {
  Runs("a", {"node0"});
  Runs("b", {"node1"});
  Runs("pair", {"node2", "node3"}, {.priority = 5});
  Waits("high", 2);
  EXPECT_THAT(Run("gangpreempt").plans, ElementsAre("gangpreempt for high: gang pair"));
}

TEST_F(EvictTest, PriorityFirstSparesTheMoreImportantJobAltogether) {
  Runs("a", {"node0"});
  Runs("b", {"node1"});
  Runs("wide", {"node2", "node3"}, {.min_available = 0, .priority = 5});
  Waits("high", 2);
  EXPECT_THAT(Run(Evicting("gangpreempt", {{"victimOrderPolicy", "priority-first"}})).plans,
              ElementsAre("gangpreempt for high: gang a, gang b"));
}

TEST_F(EvictTest, SafeFirstTakesTheSurplusOfTheMoreImportantJob) {
  Runs("a", {"node0"});
  Runs("b", {"node1"});
  Runs("wide", {"node2", "node3"}, {.min_available = 0, .priority = 5});
  Waits("high", 2);
  EXPECT_THAT(Run("gangpreempt").plans, ElementsAre("gangpreempt for high: surplus wide x2"));
}

TEST_F(EvictTest, AmongEqualsTheOneThatLosesLessWorkGoes) {
  const auto since = [](int seconds) {
    TaskArgs pod = kWholeNode;
    pod.disruption.runs_since = ToMoment(Time(std::chrono::seconds(seconds)));
    return pod;
  };
  Runs("old", {"node0", "node1"}, {}, since(1000));
  Runs("young", {"node2", "node3"}, {}, since(5000));
  Waits("high", 2);
  Cycles cycles(cluster_.state, Evicting("gangpreempt"));
  cycles.SetNow(Time(std::chrono::seconds(9000)));
  EXPECT_THAT(cycles.Run().plans, ElementsAre("gangpreempt for high: gang young"));
}

TEST_F(EvictTest, WorkThatIsSavedIsNotLost) {
  TaskArgs pod = kWholeNode;
  pod.disruption.runs_since = ToMoment(Time(std::chrono::seconds(1000)));
  TaskArgs saved = pod;
  saved.disruption.saved_at = ToMoment(Time(std::chrono::seconds(8000)));
  Runs("a", {"node0", "node1"}, {}, pod);
  Runs("b", {"node2", "node3"}, {}, saved);
  Waits("high", 2);
  Cycles cycles(cluster_.state, Evicting("gangpreempt"));
  cycles.SetNow(Time(std::chrono::seconds(9000)));
  EXPECT_THAT(cycles.Run().plans, ElementsAre("gangpreempt for high: gang b"));
}

TEST_F(EvictTest, ARackWithIdleNodesIsCheaperToClear) {
  Runs("a", {"node0"});
  Runs("b", {"node1"});
  Runs("c", {"node2"}, {.priority = 2});
  Waits("high", 2, {.topology = Hard(1)});
  EXPECT_THAT(Run("gangpreempt").plans, ElementsAre("gangpreempt for high in s1: gang c"))
      << "one gang instead of two, though it is more important";
}

TEST_F(EvictTest, OnlyTheMinimumOfTheGangIsMadeRoomFor) {
  Runs("wide", {"node0", "node1", "node2", "node3"}, {.min_available = 0});
  Waits("high", 4, {.min_available = 1});
  EXPECT_THAT(Run("gangpreempt").evicted, ElementsAre("wide-w-3"));
}

TEST_F(EvictTest, ASoftGangStaysCloseThoughThatCostsMorePods) {
  // s0: one gang of two nodes with a pod elsewhere. s1 and s0 together: two lone pods.
  cluster_.Node("node4");
  Runs("three", {"node0", "node1", "node4"});
  Runs("surplus", {"node2"}, {.min_available = 0, .priority = 10});
  Runs("other", {"node3"}, {.priority = 10});
  Waits("high", 2, {.topology = Soft()});
  EXPECT_THAT(Run("gangpreempt").plans, ElementsAre("gangpreempt for high in s0: gang three"));
}

TEST_F(EvictTest, APodThatFiltersKeepOffTheNodesEvictsNobody) {
  Runs("a", {"node0", "node1", "node2", "node3"});
  JobArgs args{.priority = 10};
  args.task = kWholeNode;
  args.task.selector = {{"disk", "ssd"}};
  cluster_.Job("high", args);
  const Decisions decided = Run("gangpreempt");
  EXPECT_THAT(decided.evicted, IsEmpty());
  EXPECT_EQ(decided.Reason("high"), "NothingToEvict");
}

// ---- preempt

TEST_F(EvictTest, PreemptTakesSurplusButBreaksNoGang) {
  Runs("tight", {"node0", "node1"});
  Runs("wide", {"node2", "node3"}, {.min_available = 1});
  Waits("one", 1);
  EXPECT_THAT(Run("preempt").plans, ElementsAre("preempt for one: surplus wide x1"));
}

TEST_F(EvictTest, PreemptBreaksGangsWhereTheGangPluginDoesNotVote) {
  Runs("tight", {"node0", "node1", "node2", "node3"});
  Waits("one", 1);
  const Decisions refused = Run("preempt");
  EXPECT_THAT(refused.evicted, IsEmpty());
  EXPECT_THAT(refused.Message("one"),
              HasSubstr("preempt: it may evict nobody: 4 pods that their gangs need"));
  const SchedulerConfig config =
      WithSwitch(Evicting("preempt"), "gang", "enablePreemptable", false);
  Waits("two", 1);
  EXPECT_THAT(Run(config).plans, ElementsAre("preempt for one: gang tight"))
      << "and the second one has room then";
}

TEST_F(EvictTest, PreemptKeepsTopology) {
  Runs("wide", {"node0", "node1", "node2", "node3"}, {.min_available = 2});
  Waits("high", 2, {.topology = Hard(1)});
  EXPECT_THAT(Run("preempt").plans, ElementsAre("preempt for high in s0: surplus wide x2"));
}

TEST_F(EvictTest, NobodyEvictsWithoutAPluginThatGrantsIt) {
  Runs("wide", {"node0", "node1", "node2", "node3"}, {.min_available = 0});
  Waits("high", 1);
  EXPECT_THAT(Run(WithSwitch(Evicting("preempt"), "priority", "enablePreemptable", false)).evicted,
              IsEmpty());
}

// ---- what a plan leaves

TEST_F(EvictTest, TheTraceNamesEachPodThatGoesAndNothingThatWasOnlyTried) {
  Runs("a", {"node0", "node1"});
  Runs("b", {"node2", "node3"});
  Waits("high", 2, {.topology = Hard(1)});
  testing::TraceLog trace;
  const SchedulerConfig config = Evicting("gangpreempt");
  Cycles(cluster_.state, config).Run(&trace);
  std::vector<std::string> evicted;
  for (const StepRecord& step : trace.Of<StepRecord>()) {
    if (step.kind == StepRecord::Kind::kEvict) evicted.push_back(step.job + " " + step.pod);
  }
  EXPECT_THAT(evicted, ElementsAre("a a-w-1", "a a-w-0"));
}

TEST_F(EvictTest, EvictedPodsAreBeingReleased) {
  Runs("a", {"node0", "node1", "node2", "node3"});
  Waits("high", 1);
  Run("gangpreempt");
  EXPECT_EQ(cluster_.JobNamed("a").counts.Of(TaskStatus::kReleasing), 4);
  EXPECT_EQ(cluster_.JobNamed("high").counts.Of(TaskStatus::kPending), 1);
}

}  // namespace
}  // namespace strata
