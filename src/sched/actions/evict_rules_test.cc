// Pods that must stay, and jobs that may not evict.
#include <chrono>
#include <cstdint>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sched/actions/test_eviction.h"
#include "tests/support/cluster_builder.h"
#include "tests/support/cycle.h"

namespace strata {
namespace {

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
using testing::TaskArgs;
using testing::WithSwitch;

// ---- protections

TEST_F(EvictTest, PodsAndPodGroupsThatAreNotPreemptableStay) {
  TaskArgs kept = kWholeNode;
  kept.disruption.preemptable = false;
  Runs("pod-says-no", {"node0", "node1"}, {}, kept);
  Runs("group-says-no", {"node2"}, {.preemptable = false});
  Runs("says-nothing", {"node3"});
  Waits("high", 2);
  const Decisions decided = Run("gangpreempt");
  EXPECT_THAT(decided.evicted, IsEmpty());
  Waits("low-need", 1);
  EXPECT_THAT(Run("gangpreempt").evicted, ElementsAre("says-nothing-w-0"));
}

TEST_F(EvictTest, AGangWithOnePodThatMustStayIsNotBroken) {
  TaskArgs kept = kWholeNode;
  kept.disruption.preemptable = false;
  Runs("mixed", {"node0", "node1"}, {.min_available = 3});
  cluster_.Running("mixed", {"node2"}, kept);
  Runs("equal", {"node3"}, {.priority = 10});
  Waits("high", 1);
  EXPECT_THAT(Run("gangpreempt").evicted, IsEmpty());
}

TEST_F(EvictTest, ConformanceProtectsSystemPods) {
  TaskArgs system = kWholeNode;
  system.disruption.critical = true;
  Runs("dns", {"node0", "node1", "node2", "node3"}, {.min_available = 0}, system);
  Waits("high", 1);
  const Decisions decided = Run("gangpreempt");
  EXPECT_THAT(decided.evicted, IsEmpty());
  EXPECT_THAT(decided.Message("high"), HasSubstr("it may evict nobody: 4 pods of the system"));
  EXPECT_THAT(Run(WithSwitch(Evicting("preempt"), "conformance", "enablePreemptable", false)).plans,
              ElementsAre("preempt for high: surplus dns x1"));
}

TEST_F(EvictTest, NobodyIsEvictedInItsFirstMinuteOrInItsCooldown) {
  TaskArgs fresh = kWholeNode;
  fresh.disruption.runs_since = ToMoment(Time(std::chrono::seconds(1000)));
  TaskArgs cooling = fresh;
  cooling.disruption.cooldown_seconds = 600;
  Runs("fresh", {"node0", "node1"}, {}, fresh);
  Runs("cooling", {"node2", "node3"}, {}, cooling);
  Waits("high", 2);
  Cycles cycles(cluster_.state, Evicting("gangpreempt"));
  cycles.SetNow(Time(std::chrono::seconds(1059)));
  const Decisions early = cycles.Run();
  EXPECT_THAT(early.evicted, IsEmpty());
  EXPECT_THAT(
      early.Message("high"),
      HasSubstr(
          "it may evict nobody: 2 pods in their cooldown, 2 pods of jobs in their first 60 s"));
  cycles.SetNow(Time(std::chrono::seconds(1060)));
  EXPECT_THAT(cycles.Run().plans, ElementsAre("gangpreempt for high: gang fresh"));
}

TEST_F(EvictTest, WhatAPodSaysLaterCounts) {
  Runs("wide", {"node0", "node1", "node2", "node3"}, {.min_available = 0});
  Waits("high", 1);
  Cycles cycles(cluster_.state, Evicting("gangpreempt", {{"dryRun", true}}));
  EXPECT_EQ(cycles.Run().Reason("high"), "EvictionDryRun");
  for (const TaskId id : cluster_.state.workload().AllTasks()) {
    Disruption disruption = cluster_.state.workload().task(id).disruption;
    disruption.preemptable = false;
    cluster_.state.workload().SetDisruption(id, disruption);
  }
  EXPECT_EQ(cycles.Run().Reason("high"), "NothingToEvict");
}

TEST_F(EvictTest, AJobWhosePodIsBeingBoundIsNotBroken) {
  Runs("moving", {"node0", "node1", "node2"}, {.min_available = 3});
  TaskArgs pod = kWholeNode;
  pod.status = TaskStatus::kBinding;
  pod.node = "node3";
  cluster_.Task("moving", pod);
  Waits("high", 1);
  EXPECT_THAT(Run("gangpreempt").evicted, IsEmpty())
      << "three have arrived, so none is surplus; the fourth could be left behind";
}

// ---- claimants

TEST_F(EvictTest, APodThatNeverPreemptsEvictsNobody) {
  Runs("wide", {"node0", "node1", "node2", "node3"}, {.min_available = 0});
  JobArgs args{.priority = 10};
  args.task = kWholeNode;
  args.task.disruption.never_preempts = true;
  cluster_.Job("gentle", args);
  const Decisions decided = Run("gangpreempt");
  EXPECT_THAT(decided.evicted, IsEmpty());
  EXPECT_EQ(decided.Reason("gentle"), "EvictionNotAllowed");
  EXPECT_THAT(decided.Message("gentle"),
              HasSubstr("; gangpreempt: pod gentle-w-0 has preemptionPolicy Never"));
}

TEST_F(EvictTest, NobodyGoesForAGangThatWaitsForWhatIsReleasedAlready) {
  Runs("wide", {"node0", "node1", "node2"}, {.min_available = 0});
  cluster_.Occupy("node3", kWholeNode, TaskStatus::kReleasing);
  Waits("high", 1);
  const Decisions decided = Run("gangpreempt");
  EXPECT_THAT(decided.evicted, IsEmpty());
  EXPECT_EQ(decided.Reason("high"), "WaitingForRelease");
}

TEST_F(EvictTest, AnActionBeforeAllocateEvictsNobodyForAGangThatHasRoom) {
  Runs("wide", {"node0", "node1", "node2"}, {.min_available = 0});
  Waits("high", 1);
  SchedulerConfig config = Evicting("gangpreempt");
  std::swap(config.actions[1], config.actions[2]);
  const Decisions decided = Run(config);
  EXPECT_THAT(decided.evicted, IsEmpty());
  EXPECT_THAT(decided.binds, SizeIs(1));
}

TEST_F(EvictTest, TwoClaimantsDoNotTakeTheSameRoom) {
  Runs("a", {"node0", "node1"});
  Runs("b", {"node2", "node3"});
  Waits("first", 2, {.priority = 20});
  Waits("second", 2, {.priority = 10});
  EXPECT_THAT(Run("gangpreempt").plans,
              ElementsAre("gangpreempt for first: gang a", "gangpreempt for second: gang b"));
}

TEST_F(EvictTest, AJobThatMayEvictEntersAFullQueue) {
  Resources all;
  all.Set(kCpu, testing::Cores(32));
  Runs("a", {"node0", "node1", "node2", "node3"}, {.min_resources = all});
  Resources needs;
  needs.Set(kCpu, testing::Cores(16));
  Waits("high", 2, {.min_resources = needs});
  EXPECT_EQ(Run(DefaultSchedulerConfig()).Reason("high"), "ClusterFull");
  Waits("low", 2, {.priority = -1, .min_resources = needs});
  const Decisions decided = Run("gangpreempt");
  EXPECT_THAT(decided.plans, ElementsAre("gangpreempt for high: gang a"));
  EXPECT_EQ(decided.Reason("low"), "ClusterFull") << "it could evict nobody";
}

TEST_F(EvictTest, ADryRunSaysWhatWouldGo) {
  Runs("a", {"node0", "node1", "node2", "node3"});
  Waits("high", 1, {.topology = Hard(1)});
  const Decisions decided = Run(Evicting("gangpreempt", {{"dryRun", true}}));
  EXPECT_THAT(decided.evicted, IsEmpty());
  EXPECT_THAT(decided.pipelined, IsEmpty());
  EXPECT_EQ(decided.Reason("high"), "EvictionDryRun");
  EXPECT_THAT(decided.Message("high"),
              HasSubstr("; gangpreempt: would evict 1 gang, 4 pods for HyperNode s0 (tier 1)"));
}

TEST_F(EvictTest, TheSearchSaysWhenItWasCut) {
  // By amounts two pods fit into each rack, but each keeps off the other's node.
  Runs("a", {"node0", "node1", "node2", "node3"}, {.min_available = 0});
  JobArgs args{.tasks = 2, .topology = Hard(1), .priority = 10};
  args.task = kWholeNode;
  args.task.labels = {{"app", "x"}};
  args.task.rules.anti_affinity = {testing::Pods("app", "x", "zone")};
  for (const char* node : {"node0", "node1", "node2", "node3"}) {
    cluster_.Node(node, {.labels = {{"zone", "z"}}});
  }
  cluster_.Job("high", args);
  const Decisions decided = Run(Evicting("gangpreempt", {{"maxDomains", std::int64_t{1}}}));
  EXPECT_THAT(decided.evicted, IsEmpty());
  EXPECT_EQ(decided.Reason("high"), "EvictionSearchCut");
}

}  // namespace
}  // namespace strata
