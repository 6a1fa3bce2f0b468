#include "sched/lifecycle.h"

#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/cluster_builder.h"

namespace strata {
namespace {

using testing::BestEffort;
using testing::ClusterBuilder;
using testing::Hard;

// ---- where a job runs

struct Recovery : public ::testing::Test {
  Recovery() { testing::AddExampleTree(cluster); }
  std::string Recovered() {
    RecoverAllocatedHyperNode(cluster.state, cluster.FindJob("train"));
    return cluster.JobNamed("train").allocated_hypernode;
  }
  ClusterBuilder cluster;
};

TEST_F(Recovery, FindsTheLowestHyperNodeThatHoldsAllTasks) {
  cluster.Job("train", {.tasks = 1, .topology = Hard(2)}).Running("train", {"node0", "node1"});
  EXPECT_EQ(Recovered(), "s0");
  cluster.Running("train", {"node3"});
  cluster.state.workload().SetAllocatedHyperNode(cluster.FindJob("train"), 0, "");  // a restart
  EXPECT_EQ(Recovered(), "s4");
}

TEST_F(Recovery, FindsTheTopForTasksThatAreFarApart) {
  cluster.Node("lone").Job("train", {.tasks = 0, .topology = Hard(2)});
  cluster.Running("train", {"node0", "lone"});
  EXPECT_EQ(Recovered(), kTopHyperNodeName);
}

TEST_F(Recovery, KeepsAKnownHyperNodeThatHoldsTheTasks) {
  cluster.Job("train", {.tasks = 0, .topology = Hard(2)}).Running("train", {"node0"});
  cluster.state.workload().SetAllocatedHyperNode(cluster.FindJob("train"), "s4");
  cluster.state.workload().SetAllocatedHyperNode(cluster.FindJob("train"), 0, "s4");
  EXPECT_EQ(Recovered(), "s4");
}

TEST_F(Recovery, ClearsTheHyperNodeWhenNothingRuns) {
  cluster.Job("train", {.tasks = 1, .topology = Hard(2)});
  cluster.Task("train", {.status = TaskStatus::kReleasing, .node = "node0"});
  cluster.state.workload().SetAllocatedHyperNode(cluster.FindJob("train"), "s4");
  cluster.state.workload().SetAllocatedHyperNode(cluster.FindJob("train"), 0, "s4");
  EXPECT_EQ(Recovered(), "");
  EXPECT_EQ(cluster.JobNamed("train").sub_jobs[0].allocated_hypernode, "");
}

TEST_F(Recovery, LooksAgainWhenTheHyperNodeIsGone) {
  cluster.Job("train", {.tasks = 0, .topology = Hard(2)}).Running("train", {"node0"});
  EXPECT_EQ(Recovered(), "s0");
  cluster.state.RemoveHyperNode("s0");
  cluster.Leaf("t0", 1, {"node0"});
  EXPECT_EQ(Recovered(), "t0");
}

TEST_F(Recovery, LooksAgainWhenTheTasksAreNoLongerInside) {
  //   s0: node0 node1   becomes   s0: node1, s1: node0 node2 node3
  cluster.Job("train", {.tasks = 0, .topology = Hard(1)}).Running("train", {"node0"});
  EXPECT_EQ(Recovered(), "s0");
  cluster.Leaf("s0", 1, {"node1"}).Leaf("s1", 1, {"node0", "node2", "node3"});
  EXPECT_EQ(Recovered(), "s1");
}

TEST_F(Recovery, LeavesOutTasksWhoseNodeIsNotThere) {
  cluster.Job("train", {.tasks = 0, .topology = Hard(1)}).Running("train", {"node0", "gone"});
  EXPECT_EQ(Recovered(), "s0");
}

TEST_F(Recovery, OfAJobWithSubGroupsIsAboveAllOfThem) {
  SubGroupPolicy policy;
  policy.name = "p";
  policy.match_label_keys = {"part"};
  policy.topology = Hard(1);
  cluster.Job("train", {.tasks = 0, .topology = Hard(2), .sub_groups = {policy}});
  cluster.Running("train", {"node0"}, {.sub_group = SubGroupKey{0, {"0"}}});
  cluster.Running("train", {"node2", "node3"}, {.sub_group = SubGroupKey{0, {"1"}}});
  EXPECT_EQ(Recovered(), "s4");
  EXPECT_EQ(cluster.JobNamed("train").sub_jobs[1].allocated_hypernode, "s0");
  EXPECT_EQ(cluster.JobNamed("train").sub_jobs[2].allocated_hypernode, "s1");
}

TEST_F(Recovery, OfAJobWithSubGroupsIsTheHyperNodeThatTheirNodesShare) {
  //   zone (tier 3): a b   rack (tier 1): a   far (tier 1): c   "a" is in two, none above the other
  SubGroupPolicy policy;
  policy.name = "p";
  policy.match_label_keys = {"part"};
  for (const char* node : {"a", "b", "c"}) cluster.Node(node);
  cluster.Leaf("rack", 1, {"a"}).Leaf("zone", 3, {"a", "b"}).Leaf("far", 1, {"c"});
  cluster.Job("train", {.tasks = 0, .topology = Hard(3), .sub_groups = {policy}});
  cluster.Running("train", {"a"}, {.sub_group = SubGroupKey{0, {"0"}}});
  cluster.Running("train", {"b"}, {.sub_group = SubGroupKey{0, {"1"}}});
  EXPECT_EQ(Recovered(), "zone");
}

// ---- BestEffort

TEST(IsBestEffortOnly, IsFalseWithoutPodsOrWithAnotherKind) {
  ClusterBuilder cluster;
  cluster.Job("none", {.tasks = 0}).Job("only", {.tasks = 2, .task = BestEffort()});
  cluster.Job("mixed", {.tasks = 1, .task = BestEffort()}).Task("mixed", {.cpu = 1});
  EXPECT_FALSE(IsBestEffortOnly(cluster.state, cluster.JobNamed("none")));
  EXPECT_TRUE(IsBestEffortOnly(cluster.state, cluster.JobNamed("only")));
  EXPECT_FALSE(IsBestEffortOnly(cluster.state, cluster.JobNamed("mixed")));
}

// ---- phases

struct Turn {
  const char* what;
  std::vector<std::pair<TaskStatus, std::int32_t>> tasks;
  JobPhase before;
  bool ready;
  JobPhase after;
};

class PhaseOfAGangOfTwo : public ::testing::TestWithParam<Turn> {};

TEST_P(PhaseOfAGangOfTwo, Follows) {
  Job job;
  job.spec.min_available = 2;
  job.phase = GetParam().before;
  for (const auto& [status, count] : GetParam().tasks) {
    job.counts.by_status[static_cast<std::size_t>(status)] = count;
  }
  EXPECT_EQ(NextPhase(job, GetParam().ready), GetParam().after) << GetParam().what;
}

INSTANTIATE_TEST_SUITE_P(
    Lifecycle,
    PhaseOfAGangOfTwo,
    ::testing::Values(
        Turn{"no pods yet", {}, JobPhase::kInqueue, false, JobPhase::kInqueue},
        Turn{"pods wait",
             {{TaskStatus::kPending, 2}},
             JobPhase::kInqueue,
             false,
             JobPhase::kInqueue},
        Turn{"pods wait for admission",
             {{TaskStatus::kPending, 2}},
             JobPhase::kPending,
             false,
             JobPhase::kPending},
        Turn{"binding lags one cycle",
             {{TaskStatus::kBinding, 2}},
             JobPhase::kInqueue,
             true,
             JobPhase::kInqueue},
        Turn{"bound counts",
             {{TaskStatus::kBound, 2}},
             JobPhase::kInqueue,
             true,
             JobPhase::kRunning},
        Turn{"runs", {{TaskStatus::kRunning, 2}}, JobPhase::kInqueue, true, JobPhase::kRunning},
        Turn{"half runs, the rest has no place",
             {{TaskStatus::kRunning, 1}, {TaskStatus::kPending, 1}},
             JobPhase::kRunning,
             false,
             JobPhase::kUnknown},
        Turn{"half runs, the other half is terminating",
             {{TaskStatus::kRunning, 1}, {TaskStatus::kReleasing, 1}},
             JobPhase::kRunning,
             false,
             JobPhase::kRunning},
        Turn{"half is done",
             {{TaskStatus::kRunning, 1}, {TaskStatus::kSucceeded, 1}},
             JobPhase::kRunning,
             true,
             JobPhase::kRunning},
        Turn{"all is done",
             {{TaskStatus::kFailed, 1}, {TaskStatus::kSucceeded, 1}},
             JobPhase::kRunning,
             false,
             JobPhase::kCompleted},
        Turn{"its pods are gone and new ones wait",
             {{TaskStatus::kPending, 2}},
             JobPhase::kRunning,
             false,
             JobPhase::kPending}));

}  // namespace
}  // namespace strata
