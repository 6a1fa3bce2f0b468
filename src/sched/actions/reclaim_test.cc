// What reclaim and gangreclaim take from other queues. GR-1 and so on are Volcano's own acceptance
// cases.
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
using testing::kWholeNode;
using testing::QueueArgs;
using ::testing::SizeIs;

// 32 cores, of which queue `poor` deserves half and has nothing.
class ReclaimTest : public EvictTest {
 protected:
  void Queues(const QueueArgs& rich = {}) {
    QueueArgs poor;
    poor.cpu_deserved = 16;
    cluster_.Queue("poor", poor);
    QueueArgs deserving = rich;
    if (!deserving.cpu_deserved) deserving.cpu_deserved = 16;
    cluster_.Queue("rich", deserving);
  }
  Decisions RunCapacity(const std::string& action) { return Run(EvictingByCapacity(action)); }
};

TEST_F(ReclaimTest, Gr1TakesSurplusOfAQueueAboveWhatItDeserves) {
  Queues();
  Runs("wide", {"node0", "node1", "node2", "node3"}, {.min_available = 1, .queue = "rich"});
  Waits("claimant", 2, {.queue = "poor"});
  EXPECT_THAT(RunCapacity("gangreclaim").plans,
              ElementsAre("gangreclaim for claimant: surplus wide x2"));
}

TEST_F(ReclaimTest, PriorityDoesNotMatterBetweenQueues) {
  Queues();
  Runs("wide",
       {"node0", "node1", "node2", "node3"},
       {.min_available = 1, .queue = "rich", .priority = 100});
  Waits("claimant", 2, {.queue = "poor"});
  EXPECT_THAT(RunCapacity("reclaim").plans, ElementsAre("reclaim for claimant: surplus wide x2"));
}

TEST_F(ReclaimTest, WorksByWeightsToo) {
  cluster_.Queue("poor").Queue("rich");
  Runs("wide", {"node0", "node1", "node2", "node3"}, {.min_available = 1, .queue = "rich"});
  Waits("claimant", 2, {.queue = "poor"});
  EXPECT_THAT(Run("reclaim").plans, ElementsAre("reclaim for claimant: surplus wide x2"));
}

TEST_F(ReclaimTest, Gr3BreaksOneGangOfTheLowerPriority) {
  Queues();
  Runs("a", {"node0", "node1"}, {.queue = "rich", .priority = 5});
  Runs("b", {"node2", "node3"}, {.queue = "rich", .priority = 1});
  Waits("claimant", 2, {.queue = "poor"});
  EXPECT_THAT(RunCapacity("gangreclaim").plans, ElementsAre("gangreclaim for claimant: gang b"));
}

TEST_F(ReclaimTest, ReclaimBreaksNoGang) {
  Queues();
  Runs("a", {"node0", "node1", "node2", "node3"}, {.queue = "rich"});
  Waits("claimant", 2, {.queue = "poor"});
  EXPECT_THAT(RunCapacity("reclaim").evicted, IsEmpty());
}

TEST_F(ReclaimTest, ReclaimKeepsTopology) {
  Queues();
  Runs("wide", {"node0", "node1", "node2", "node3"}, {.min_available = 0, .queue = "rich"});
  Waits("claimant", 2, {.topology = Hard(1), .queue = "poor"});
  EXPECT_THAT(RunCapacity("reclaim").plans,
              ElementsAre("reclaim for claimant in s0: surplus wide x2"));
}

TEST_F(ReclaimTest, Gr4TakesNothingFromAQueueWithinWhatItDeserves) {
  Queues({.cpu_deserved = 32});
  Runs("a", {"node0", "node1", "node2", "node3"}, {.min_available = 0, .queue = "rich"});
  Waits("claimant", 1, {.queue = "poor"});
  const Decisions decided = RunCapacity("gangreclaim");
  EXPECT_THAT(decided.evicted, IsEmpty());
  EXPECT_THAT(decided.Message("claimant"),
              HasSubstr("it may evict nobody: 4 pods of queues within what they deserve"));
}

TEST_F(ReclaimTest, SurplusGoesDownToWhatTheQueueDeservesAndNotFurther) {
  Queues({.cpu_deserved = 20});
  Runs("wide", {"node0", "node1", "node2", "node3"}, {.min_available = 0, .queue = "rich"});
  Waits("claimant", 2, {.queue = "poor"});
  EXPECT_THAT(RunCapacity("reclaim").evicted, IsEmpty()) << "one pod leaves 24, a second one 16";
}

TEST_F(ReclaimTest, AJobWithoutAMinimumIsNotTakenForAGang) {
  Queues({.cpu_deserved = 28});
  Runs("loose", {"node0", "node1", "node2", "node3"}, {.min_available = 0, .queue = "rich"});
  Waits("claimant", 1, {.queue = "poor"});
  EXPECT_THAT(RunCapacity("gangreclaim").evicted, IsEmpty())
      << "one pod would take its queue below what it deserves, and all four even more";
}

TEST_F(ReclaimTest, Gr5TakesNothingFromAQueueThatIsNotReclaimable) {
  Queues({.reclaimable = false});
  Runs("a", {"node0", "node1", "node2", "node3"}, {.min_available = 0, .queue = "rich"});
  Waits("claimant", 1, {.queue = "poor"});
  const Decisions decided = RunCapacity("gangreclaim");
  EXPECT_THAT(decided.evicted, IsEmpty());
  EXPECT_THAT(decided.Message("claimant"), HasSubstr("4 pods of queues that are not reclaimable"));
}

TEST_F(ReclaimTest, Gr6TakesNoQueueBelowItsGuarantee) {
  Queues({.cpu_deserved = 24, .cpu_guarantee = 24});
  Runs("a", {"node0", "node1"}, {.queue = "rich"});
  Runs("b", {"node2", "node3"}, {.queue = "rich"});
  Waits("claimant", 1, {.queue = "poor"});
  EXPECT_THAT(RunCapacity("gangreclaim").evicted, IsEmpty());
}

TEST_F(ReclaimTest, AGangMayTakeItsQueueBelowWhatItDeserves) {
  Queues({.cpu_deserved = 24});
  Runs("a", {"node0", "node1"}, {.queue = "rich"});
  Runs("b", {"node2", "node3"}, {.queue = "rich"});
  Waits("claimant", 1, {.queue = "poor"});
  EXPECT_THAT(RunCapacity("gangreclaim").plans, ElementsAre("gangreclaim for claimant: gang a"));
}

TEST_F(ReclaimTest, Gr7AQueueReclaimsNoMoreThanItDeserves) {
  Queues({.cpu_deserved = 8});
  Runs("own", {"node0"}, {.queue = "poor"});
  Runs("wide", {"node1", "node2", "node3"}, {.min_available = 0, .queue = "rich"});
  Waits("claimant", 2, {.queue = "poor"});
  const Decisions decided = RunCapacity("gangreclaim");
  EXPECT_THAT(decided.evicted, IsEmpty());
  EXPECT_EQ(decided.Reason("claimant"), "EvictionNotAllowed");
  EXPECT_THAT(decided.Message("claimant"),
              HasSubstr("; gangreclaim: queue poor may not reclaim 16 cpu: 8 in use, it deserves "
                        "16"));
}

TEST_F(ReclaimTest, OnlyWhatIsShortMustBeDeserved) {
  // By sums there is room, in pieces. Neither queue deserves memory, and nobody has to give any.
  Queues();
  testing::TaskArgs half;
  half.cpu = 4;
  Runs("wide", {"node0", "node1", "node2", "node3"}, {.min_available = 0, .queue = "rich"}, half);
  Runs("more", {"node2", "node3"}, {.min_available = 0, .queue = "rich"}, half);
  Waits("claimant", 1, {.queue = "poor"});
  EXPECT_THAT(RunCapacity("reclaim").plans, ElementsAre("reclaim for claimant: surplus wide x1"));
}

TEST_F(ReclaimTest, WhatWasReclaimedIsNotReclaimedBack) {
  Queues();
  Runs("wide", {"node0", "node1", "node2", "node3"}, {.min_available = 0, .queue = "rich"});
  Waits("claimant", 2, {.queue = "poor"});
  Cycles cycles(cluster_.state, EvictingByCapacity("gangreclaim"));
  EXPECT_THAT(cycles.Run().evicted, SizeIs(2));
  Advance(cluster_.state);
  EXPECT_THAT(cycles.Run().binds, SizeIs(2));
  Advance(cluster_.state);
  Waits("again", 2, {.queue = "rich"});  // the victims come back
  EXPECT_THAT(cycles.Run().evicted, IsEmpty());
}

// Each queue deserves 16 of 32 cores. "other" has 20, and its only pod of 4 cores is protected.
TEST_F(EvictTest, ProportionTakesNoPodWithoutWhichAQueueHasLessThanItDeserves) {
  cluster_.Queue("own").Queue("other");
  Runs("wide", {"node0", "node1"}, {.min_available = 0, .queue = "other"});
  testing::TaskArgs half = kWholeNode;
  half.cpu = 4;
  Runs("half", {"node2"}, {.min_available = 0, .queue = "own"}, half);
  Runs("whole", {"node3"}, {.min_available = 0, .queue = "own"});
  testing::TaskArgs kept = half;
  kept.disruption.preemptable = false;
  Runs("kept", {"node2"}, {.min_available = 0, .queue = "other"}, kept);
  cluster_.Job("high", {.tasks = 1, .task = half, .queue = "own", .priority = 10});
  EXPECT_THAT(Run(Evicting("reclaim")).plans, IsEmpty());
}

}  // namespace
}  // namespace strata
