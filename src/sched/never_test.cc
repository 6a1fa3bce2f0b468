// "Never" and "not yet" are different answers.
#include "sched/never.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/cluster_builder.h"
#include "tests/support/cycle.h"

namespace strata {
namespace {

using testing::ClusterBuilder;
using testing::Decisions;
using testing::Hard;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::RunCycle;

// Two racks of two nodes with 8 cores each.
struct TwoRacks : ClusterBuilder {
  TwoRacks() { Nodes(4).Leaf("s0", 1, {"node0", "node1"}).Leaf("s1", 1, {"node2", "node3"}); }
};

TEST(Never, APodLargerThanAnyNode) {
  TwoRacks cluster;
  cluster.Job("j", {.tasks = 1, .task = {.cpu = 9}});
  const Decisions decisions = RunCycle(cluster.state);
  EXPECT_EQ(decisions.Reason("j"), "PodLargerThanNode");
  EXPECT_THAT(decisions.Message("j"),
              HasSubstr("; no node is large enough for one pod: 9 cpu requested, the largest node "
                        "has 8"));
}

TEST(Never, APodThatNoNodeHasAllFor) {
  ClusterBuilder cluster;
  cluster.Node("node0", {.cpu = 2, .memory = 8}).Node("node1", {.cpu = 8, .memory = 2});
  cluster.Job("j", {.tasks = 1, .task = {.cpu = 4, .memory = 4}});
  const Decisions decisions = RunCycle(cluster.state);
  EXPECT_EQ(decisions.Reason("j"), "PodLargerThanNode");
  EXPECT_THAT(decisions.Message("j"), HasSubstr("requested, no node has all of that"));
}

TEST(Never, AGangLargerThanTheCluster) {
  TwoRacks cluster;
  cluster.Job("j", {.tasks = 5, .task = {.cpu = 5}});
  const Decisions decisions = RunCycle(cluster.state);
  EXPECT_EQ(decisions.Reason("j"), "GangLargerThanCluster");
  EXPECT_THAT(decisions.Message("j"),
              HasSubstr("; the gang is larger than the whole cluster, which takes 4 of 5 pods when "
                        "it is empty"));
}

TEST(Never, AGangLargerThanAnyRack) {
  TwoRacks cluster;
  cluster.Job("j", {.tasks = 3, .task = {.cpu = 8}, .topology = Hard(1)});
  const Decisions decisions = RunCycle(cluster.state);
  EXPECT_EQ(decisions.Reason("j"), "GangLargerThanHyperNode");
  EXPECT_THAT(decisions.Message("j"),
              HasSubstr("; the gang is larger than any HyperNode of tier 1 or below: s0, the "
                        "largest, takes 2 pods when it is empty"));
}

TEST(Never, AFullRackIsNotYet) {
  TwoRacks cluster;
  cluster.Job("first", {.tasks = 0});
  for (const char* node : {"node0", "node2"}) {
    cluster.Task("first", {.cpu = 8, .status = TaskStatus::kRunning, .node = node});
  }
  cluster.Job("j", {.tasks = 2, .task = {.cpu = 8}, .topology = Hard(1)});
  const Decisions decisions = RunCycle(cluster.state);
  EXPECT_EQ(decisions.Reason("j"), "TopologyUnsatisfied");
  EXPECT_THAT(decisions.Message("j"), Not(HasSubstr("larger")));
}

TEST(Never, ARackHeldByTheJobsOwnPods) {
  TwoRacks cluster;
  cluster.Job("j", {.tasks = 1, .task = {.cpu = 8}, .min_available = 1, .topology = Hard(1)});
  for (const char* node : {"node0", "node1"}) {
    cluster.Task("j", {.cpu = 8, .status = TaskStatus::kRunning, .node = node});
  }
  const Decisions decisions = RunCycle(cluster.state);
  EXPECT_EQ(decisions.Reason("j"), "HyperNodeHeldByOwnPods");
  EXPECT_THAT(
      decisions.Message("j"),
      HasSubstr("; its other pods run there, and even without other jobs HyperNode s0 takes "
                "2 of its 3 pods"));
}

}  // namespace
}  // namespace strata
