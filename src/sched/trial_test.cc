// Which node a task gets: the highest score, then the leaf of the rank before, then the lower name.
#include "sched/trial.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/cluster_builder.h"
#include "tests/support/cycle.h"

namespace strata {
namespace {

using testing::ClusterBuilder;
using testing::ConfigWithout;
using testing::Decisions;
using ::testing::ElementsAre;
using testing::Hard;
using ::testing::IsEmpty;
using testing::kWholeNode;
using ::testing::Pair;
using testing::RunCycle;
using ::testing::SizeIs;
using testing::TaskArgs;
using testing::TraceLog;

// Scores that look at one node only, so that equal nodes tie.
SchedulerConfig NodeScoresOnly() {
  return ConfigWithout("network-topology-aware");
}

TEST(Trial, BreaksTiesByTheLowerName) {
  ClusterBuilder cluster;
  cluster.Node("b").Node("a").Node("c").Job("j", {.tasks = 1});
  EXPECT_THAT(RunCycle(cluster.state, NodeScoresOnly()).binds, ElementsAre(Pair("j-w-0", "a")));
}

TEST(Trial, AHigherScoreBeatsTheLeafOfThePreviousRank) {
  //   near: n0 (rank 0 runs there) n1       far: n2, which alone has what the task prefers
  ClusterBuilder cluster;
  cluster.Nodes(2).Node("node2", {.labels = {{"disk", "ssd"}}});
  cluster.Leaf("near", 1, {"node0", "node1"}).Leaf("far", 1, {"node2"});
  cluster.Job("j", {.tasks = 0, .min_available = 2}).Running("j", {"node0"}, kWholeNode);
  TaskSpec spec;
  spec.name = "j-w-1";
  spec.uid = "uid-j-w-1";
  spec.job = cluster.FindJob("j");
  spec.role = "w";
  spec.constraints = cluster.ClassOf(kWholeNode);
  const NodeSelectorTerm ssd{.labels = {{"disk", SelectorOp::kIn, {"ssd"}}}, .fields = {}};
  spec.constraints.affinity.preferred = {{.weight = 100, .term = ssd}};
  cluster.state.workload().AddTask(spec);
  EXPECT_THAT(RunCycle(cluster.state, NodeScoresOnly()).binds, ElementsAre(Pair("j-w-1", "node2")));
}

TEST(Trial, BreaksTiesByTheLeafOfThePreviousRank) {
  //   a: node0 node1      b: node2 (rank 0 runs there) node3
  ClusterBuilder cluster;
  cluster.Nodes(4).Leaf("a", 1, {"node0", "node1"}).Leaf("b", 1, {"node2", "node3"});
  cluster.Job("j", {.tasks = 0, .min_available = 2}).Running("j", {"node2"}, kWholeNode);
  cluster.Task("j", kWholeNode);
  EXPECT_THAT(RunCycle(cluster.state, NodeScoresOnly()).binds, ElementsAre(Pair("j-w-1", "node3")));
}

TEST(Trial, EveryRankFollowsThePreviousRankEvenAcrossGaps) {
  //   a: node0 node1 node4      b: node2 node3 node5      ranks 0 and 2 run on node0 and node2
  //   rank 1 comes to a, behind rank 0; rank 3 to b, behind rank 2 and not behind rank 1
  ClusterBuilder cluster;
  cluster.Nodes(6);
  cluster.Leaf("a", 1, {"node0", "node1", "node4"}).Leaf("b", 1, {"node2", "node3", "node5"});
  cluster.Job("j", {.tasks = 0, .min_available = 4});
  const auto add = [&](const char* name, const TaskArgs& args) { cluster.Task("j", args, name); };
  add("j-w-0", {.cpu = 8, .status = TaskStatus::kRunning, .node = "node0"});
  add("j-w-2", {.cpu = 8, .status = TaskStatus::kRunning, .node = "node2"});
  add("j-w-1", kWholeNode);
  add("j-w-3", kWholeNode);
  EXPECT_THAT(RunCycle(cluster.state, NodeScoresOnly()).binds,
              ElementsAre(Pair("j-w-1", "node1"), Pair("j-w-3", "node3")));
}

TEST(Trial, ATerminatingPodIsNotThePreviousRank) {
  //   a: node0 node1     b: node2 node3     rank 0 runs in a, rank 1 terminates in b
  ClusterBuilder cluster;
  cluster.Nodes(4).Leaf("a", 1, {"node0", "node1"}).Leaf("b", 1, {"node2", "node3"});
  cluster.Job("j", {.tasks = 0, .min_available = 2});
  cluster.Running("j", {"node0"}, kWholeNode);
  cluster.Task("j", {.cpu = 8, .status = TaskStatus::kReleasing, .node = "node2"});
  cluster.Task("j", kWholeNode);
  EXPECT_THAT(RunCycle(cluster.state, NodeScoresOnly()).binds, ElementsAre(Pair("j-w-2", "node1")));
}

TEST(Trial, ARackThatGotAPodLeavesItsKind) {
  //   a: node0 node3      b: node1 node2      alike, until node0 is taken
  ClusterBuilder cluster;
  cluster.Nodes(4).Leaf("a", 1, {"node0", "node3"}).Leaf("b", 1, {"node1", "node2"});
  cluster.Job("first", {.task = kWholeNode}).Job("second", {.task = kWholeNode});
  // The rack that is fuller now is better, though node1 has the lower name.
  EXPECT_THAT(RunCycle(cluster.state).binds,
              ElementsAre(Pair("first-w-0", "node0"), Pair("second-w-0", "node3")));
}

TEST(Trial, RespectsTaintsSelectorsCordonsAndPorts) {
  const HostPort port{.ip = "", .protocol = "TCP", .port = 80};
  ClusterBuilder cluster;
  cluster.Node("cordoned", {.labels = {{"z", "1"}}, .unschedulable = true});
  cluster.Node("elsewhere");
  cluster.Node("ported", {.labels = {{"z", "1"}}}).Occupy("ported", {.ports = {port}});
  cluster.Node("tainted",
               {.labels = {{"z", "1"}},
                .taints = {{.key = "k", .value = "v", .effect = TaintEffect::kNoSchedule}}});
  cluster.Job("j", {.tasks = 1, .task = {.selector = {{"z", "1"}}, .ports = {port}}});
  TraceLog trace;
  const Decisions decisions = RunCycle(cluster.state, DefaultSchedulerConfig(), &trace);
  EXPECT_THAT(decisions.binds, IsEmpty());
  std::vector<std::string> reasons;
  for (const RejectRecord& reject : trace.Of<RejectRecord>()) {
    reasons.push_back(reject.node + ": " + reject.reason);
  }
  EXPECT_THAT(reasons,
              ::testing::UnorderedElementsAre(
                  "cordoned: node(s) were unschedulable",
                  "elsewhere: node(s) didn't match Pod's node affinity/selector",
                  "ported: node(s) didn't have free ports for the requested pod ports",
                  "tainted: node(s) had untolerated taint {k: v}"));
}

TEST(Trial, TwoTasksOfAGangNeverShareAHostPort) {
  ClusterBuilder cluster;
  cluster.Nodes(2).Job(
      "j", {.tasks = 2, .task = {.ports = {{.ip = "", .protocol = "TCP", .port = 80}}}});
  EXPECT_THAT(RunCycle(cluster.state).NodesOf("j"), SizeIs(2));
  cluster.Job("k", {.tasks = 1, .task = {.ports = {{.ip = "", .protocol = "TCP", .port = 80}}}});
  EXPECT_THAT(RunCycle(cluster.state).binds, IsEmpty());
}

TEST(Trial, RollsBackAGangThatDoesNotFit) {
  //   room for two of three; the small job behind it gets a node as if nothing had been tried
  ClusterBuilder cluster;
  cluster.Nodes(2).Job("gang", {.tasks = 3, .task = kWholeNode, .priority = 9});
  cluster.Job("small", {.tasks = 1, .task = kWholeNode});
  EXPECT_THAT(RunCycle(cluster.state).binds, ElementsAre(Pair("small-w-0", "node0")));
}

TEST(Trial, OtherRolesMakeUpTheMinimumWhenOneRoleFindsNoNode) {
  ClusterBuilder cluster;
  cluster.Node("node0").Job("j", {.tasks = 0, .min_available = 2});
  cluster.Task("j", {.cpu = 99, .role = "large"}).Task("j", {}).Task("j", {});
  const Decisions decisions = RunCycle(cluster.state);
  EXPECT_THAT(decisions.binds, ElementsAre(Pair("j-w-1", "node0"), Pair("j-w-2", "node0")));
  EXPECT_NE(decisions.Reason("j"), "");  // of the large one
}

TEST(Trial, ChoosesTheSameNodeWithAndWithoutAListener) {
  // PreferNoSchedule makes scores that are scaled over all nodes: both ways of choosing must agree.
  const auto place = [](TraceLog* trace) {
    ClusterBuilder cluster;
    testing::AddExampleTree(cluster);
    cluster.Node("node0",
                 {.taints = {{.key = "k", .value = "", .effect = TaintEffect::kPreferNoSchedule}}});
    cluster.Occupy("node5", {.cpu = 3});
    cluster.Job("j", {.tasks = 5, .task = {.cpu = 3}, .topology = Hard(2)});
    cluster.Job("k", {.tasks = 7});
    return RunCycle(cluster.state, DefaultSchedulerConfig(), trace);
  };
  TraceLog trace;
  EXPECT_EQ(place(&trace), place(nullptr));
  EXPECT_THAT(trace.Of<NodeScoreRecord>(), ::testing::Not(IsEmpty()));
}

}  // namespace
}  // namespace strata
