// Pods that go so that others of the same job, of higher task priority, can run.
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
using testing::EvictTest;
using testing::Hard;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::kWholeNode;
using ::testing::Pair;
using testing::TaskArgs;
using testing::WithSwitch;

class EvictWithinJobTest : public EvictTest {
 protected:
  // A pod that fills a node.
  static TaskArgs Pod(const std::string& role, std::int32_t priority) {
    TaskArgs pod = kWholeNode;
    pod.role = role;
    pod.priority = priority;
    return pod;
  }
  // Four workers on all nodes, and a master that found none.
  void MasterWaits(std::int32_t min_available, std::int32_t master_priority = 9) {
    Runs("train",
         {"node0", "node1", "node2", "node3"},
         {.min_available = min_available, .min_task_member = {{"master", 1}, {"worker", 2}}},
         Pod("worker", 1));
    cluster_.Task("train", Pod("master", master_priority));
  }
  // Any pod may go for another one, as long as the minimums then hold.
  static SchedulerConfig Exchanging() {
    return WithSwitch(Evicting("preempt"), "gang", "enablePreemptable", false);
  }
};

TEST_F(EvictWithinJobTest, ATaskOfHigherPriorityTakesTheRoomOfASurplusOne) {
  MasterWaits(3);
  const Decisions decided = Run("preempt");
  EXPECT_THAT(decided.plans, ElementsAre("preempt for train: surplus train x1"));
  EXPECT_THAT(decided.evicted, ElementsAre("train-w-3"));
  EXPECT_THAT(decided.pipelined, ElementsAre(Pair("train-w-4", "node3")));
  EXPECT_EQ(decided.Reason("train"), "WaitingForRelease");
}

TEST_F(EvictWithinJobTest, ItStartsInTheNextCycle) {
  MasterWaits(3);
  Cycles cycles(cluster_.state, Evicting("preempt"));
  cycles.Run();
  Advance(cluster_.state);
  const Decisions next = cycles.Run();
  EXPECT_THAT(next.binds, ElementsAre(Pair("train-w-4", "node3")));
  EXPECT_THAT(next.plans, IsEmpty());
}

TEST_F(EvictWithinJobTest, EqualTaskPriorityTakesNothing) {
  MasterWaits(3, 1);
  EXPECT_THAT(Run("preempt").plans, IsEmpty());
}

TEST_F(EvictWithinJobTest, WhatTheGangNeedsStaysWhileTheGangPluginVotes) {
  MasterWaits(4);
  EXPECT_THAT(Run("preempt").plans, IsEmpty()) << "all four workers make up minMember";
}

TEST_F(EvictWithinJobTest, WithoutItsVoteOnePodMayReplaceAnother) {
  MasterWaits(4);
  EXPECT_THAT(Run(Exchanging()).evicted, ElementsAre("train-w-3"))
      << "three workers and the master are four pods, too";
}

TEST_F(EvictWithinJobTest, TheMinimumOfEachRoleHoldsAfterwards) {
  Runs("train",
       {"node0", "node1", "node2", "node3"},
       {.min_available = 5, .min_task_member = {{"master", 1}, {"worker", 4}}},
       Pod("worker", 1));
  cluster_.Task("train", Pod("master", 9));
  EXPECT_THAT(Run(Exchanging()).plans, IsEmpty()) << "it would lack a worker then";
}

TEST_F(EvictWithinJobTest, SubGroupsStayComplete) {
  const SubGroupPolicy pairs{.name = "pair",
                             .selector = {},
                             .match_label_keys = {"pair"},
                             .size = 2,
                             .min_sub_groups = 3,
                             .topology = {}};
  cluster_.Job("pairs", {.tasks = 0, .min_available = 4, .sub_groups = {pairs}});
  cluster_.state.workload().SetJobPhase(cluster_.FindJob("pairs"), JobPhase::kRunning);
  const auto in_pair = [](const char* number, std::int32_t priority) {
    TaskArgs pod = Pod("w", priority);
    pod.sub_group = SubGroupKey{.policy = 0, .values = {number}};
    return pod;
  };
  cluster_.Running("pairs", {"node0", "node1"}, in_pair("0", 1))
      .Running("pairs", {"node2", "node3"}, in_pair("1", 1))
      .Task("pairs", in_pair("2", 9))
      .Task("pairs", in_pair("2", 9));
  EXPECT_THAT(Run(Exchanging()).plans, IsEmpty())
      << "three pairs are needed, and one would have to go for another";
}

TEST_F(EvictWithinJobTest, TopologyHolds) {
  // The workers of a job that must stay in one rack, and a lone worker of another job.
  cluster_.Job("train",
               {.tasks = 0,
                .min_available = 2,
                .topology = Hard(1),
                .min_task_member = {{"master", 1}, {"worker", 1}}});
  cluster_.Running("train", {"node0", "node1"}, Pod("worker", 1));
  cluster_.state.workload().SetJobPhase(cluster_.FindJob("train"), JobPhase::kRunning);
  cluster_.Task("train", Pod("master", 9));
  Runs("other", {"node2"});
  const Decisions decided = Run(Exchanging());
  EXPECT_THAT(decided.evicted, ElementsAre("train-w-1")) << "node3 is free, but in the other rack";
  EXPECT_THAT(decided.pipelined, ElementsAre(Pair("train-w-2", "node1")));
}

TEST_F(EvictWithinJobTest, OtherJobsAreAskedFirst) {
  Runs("train",
       {"node0", "node1", "node2"},
       {.min_available = 2, .priority = 10, .min_task_member = {{"master", 1}, {"worker", 1}}},
       Pod("worker", 1));
  cluster_.Task("train", Pod("master", 9));
  Runs("low", {"node3"}, {.min_available = 0});
  EXPECT_THAT(Run("preempt").plans, ElementsAre("preempt for train: surplus low x1"));
}

TEST_F(EvictWithinJobTest, JobsComeInTheirOrder) {
  const auto waits = [&](const std::string& name,
                         std::initializer_list<std::string> nodes,
                         std::int32_t priority) {
    Runs(name,
         nodes,
         {.min_available = 2,
          .priority = priority,
          .min_task_member = {{"master", 1}, {"worker", 1}}},
         Pod("worker", 1));
    cluster_.Task(name, Pod("master", 9));
  };
  cluster_.Node("node4").Node("node5");
  waits("b", {"node0", "node1", "node2"}, 0);
  waits("a", {"node3", "node4", "node5"}, 5);
  EXPECT_THAT(Run("preempt").plans,
              ElementsAre("preempt for a: surplus a x1", "preempt for b: surplus b x1"))
      << "b lacks its master, so that none of its pods is surplus to others";
}

TEST_F(EvictWithinJobTest, ProtectionsHold) {
  TaskArgs worker = Pod("worker", 1);
  worker.disruption.preemptable = false;
  Runs("train",
       {"node0", "node1", "node2", "node3"},
       {.min_available = 3, .min_task_member = {{"master", 1}, {"worker", 2}}},
       worker);
  cluster_.Task("train", Pod("master", 9));
  EXPECT_THAT(Run("preempt").plans, IsEmpty());
}

TEST_F(EvictWithinJobTest, PreemptionPolicyNeverHolds) {
  MasterWaits(3);
  TaskArgs never = Pod("master", 9);
  never.disruption.never_preempts = true;
  cluster_.state.workload().RemoveTask(cluster_.FindTask("train-w-4"));
  cluster_.Task("train", never);
  const Decisions decided = Run("preempt");
  EXPECT_THAT(decided.plans, IsEmpty());
  EXPECT_THAT(decided.Message("train"), HasSubstr("has preemptionPolicy Never"));
}

TEST_F(EvictWithinJobTest, OnlyPreemptDoesIt) {
  MasterWaits(3);
  EXPECT_THAT(Run("gangpreempt").plans, IsEmpty());
  EXPECT_THAT(Run("reclaim").plans, IsEmpty());
}

TEST_F(EvictWithinJobTest, NobodyGoesWithoutThePriorityPlugin) {
  MasterWaits(3);
  EXPECT_THAT(Run(WithSwitch(Evicting("preempt"), "priority", "enablePreemptable", false)).plans,
              IsEmpty());
}

TEST_F(EvictWithinJobTest, ADryRunTells) {
  MasterWaits(3);
  const Decisions decided = Run(Evicting("preempt", {{"dryRun", true}}));
  EXPECT_THAT(decided.plans, IsEmpty());
  EXPECT_EQ(decided.Reason("train"), "EvictionDryRun");
}

TEST_F(EvictWithinJobTest, ALargerTaskTakesTheRoomOfTwo) {
  TaskArgs half = Pod("worker", 1);
  half.cpu = 4;
  Runs("train",
       {"node0", "node0", "node1", "node1", "node2", "node2", "node3", "node3"},
       {.min_available = 4, .min_task_member = {{"master", 1}, {"worker", 3}}},
       half);
  cluster_.Task("train", Pod("master", 9));
  EXPECT_THAT(Run("preempt").evicted, ElementsAre("train-w-6", "train-w-7"));
}

}  // namespace
}  // namespace strata
