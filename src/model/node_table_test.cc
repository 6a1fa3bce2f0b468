#include "model/node_table.h"

#include <limits>
#include <span>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/cluster_builder.h"
#include "tests/support/recount.h"
#include "tests/support/state_dump.h"

namespace strata {
namespace {

using testing::ClusterBuilder;
using testing::DumpState;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::RecountMistakes;

constexpr Amount kMaxAmount = std::numeric_limits<Amount>::max() - kMaxHeld;

Amount CpuOf(std::span<const Amount> row) {
  return row[kCpu.index()] / 1000;
}

struct Taken {
  TaskStatus status;
  Amount used, idle, future;  // cores of a node with 8, on which a task has 3
};

class TaskOnANode : public ::testing::TestWithParam<Taken> {};

TEST_P(TaskOnANode, TakesWhatItsStatusSays) {
  ClusterBuilder cluster;
  cluster.Node("node0", {.cpu = 8}).Job("train", {.tasks = 0});
  cluster.Task("train", {.cpu = 3, .status = GetParam().status, .node = "node0"});
  const NodeId node = cluster.FindNode("node0");
  EXPECT_EQ(CpuOf(cluster.state.nodes().Used(node)), GetParam().used);
  EXPECT_EQ(CpuOf(cluster.state.nodes().Idle(node)), GetParam().idle);
  EXPECT_EQ(CpuOf(cluster.state.nodes().FutureIdle(node)), GetParam().future);
  EXPECT_EQ(RecountMistakes(cluster.state), "");
}

INSTANTIATE_TEST_SUITE_P(NodeTable,
                         TaskOnANode,
                         ::testing::Values(Taken{TaskStatus::kPending, 0, 8, 8},
                                           Taken{TaskStatus::kAllocated, 3, 5, 5},
                                           Taken{TaskStatus::kBinding, 3, 5, 5},
                                           Taken{TaskStatus::kBound, 3, 5, 5},
                                           Taken{TaskStatus::kRunning, 3, 5, 5},
                                           Taken{TaskStatus::kUnknown, 3, 5, 5},
                                           Taken{TaskStatus::kReleasing, 3, 5, 8},
                                           Taken{TaskStatus::kSucceeded, 0, 8, 8},
                                           Taken{TaskStatus::kFailed, 0, 8, 8}));

TEST(NodeTable, PipelinedTasksTakeOnlyFromTheFuture) {
  //   node0: 8 cores, 6 being released; a task of 5 waits for them
  ClusterBuilder cluster;
  cluster.Node("node0", {.cpu = 8}).Occupy("node0", {.cpu = 6}, TaskStatus::kReleasing);
  cluster.Job("train", {.tasks = 1, .task = {.cpu = 5}});
  const NodeId node = cluster.FindNode("node0");
  cluster.state.journal().Pipeline(cluster.FindTask("train-w-0"), node);
  EXPECT_EQ(CpuOf(cluster.state.nodes().Idle(node)), 2);
  EXPECT_EQ(CpuOf(cluster.state.nodes().FutureIdle(node)), 3);
  EXPECT_EQ(CpuOf(cluster.state.sums().Used(cluster.state.tree().top())), 11);  // scores count it
  EXPECT_EQ(RecountMistakes(cluster.state), "");
}

TEST(NodeTable, KeepsHostPortsOfWhatRunsAndNotOfWhatWaits) {
  ClusterBuilder cluster;
  const HostPort port{.ip = "", .protocol = "TCP", .port = 80};
  cluster.Node("node0").Job("train", {.tasks = 1, .task = {.ports = {port}}});
  const TaskId task = cluster.FindTask("train-w-0");
  const NodeId node = cluster.FindNode("node0");
  cluster.state.journal().Pipeline(task, node);
  EXPECT_THAT(cluster.state.nodes().PortsInUse(node), IsEmpty());
  cluster.state.journal().RollbackTo(0);
  cluster.state.journal().Allocate(task, node);
  EXPECT_THAT(cluster.state.nodes().PortsInUse(node), ElementsAre(port));
}

TEST(NodeTable, TasksOfARemovedNodeTakeRoomAgainWhenItComesBack) {
  ClusterBuilder cluster;
  cluster.Nodes(2).Leaf("s0", 1, {"node0", "node1"}).Job("train", {.tasks = 0});
  cluster.Running("train", {"node0"}, {.cpu = 3});
  cluster.Occupy("node0", {.cpu = 1}, TaskStatus::kReleasing);
  const std::string before = DumpState(cluster.state);

  cluster.state.RemoveNode(cluster.FindNode("node0"));
  EXPECT_FALSE(cluster.state.workload().task(cluster.FindTask("train-w-0")).node.valid());
  EXPECT_EQ(cluster.JobNamed("train").counts.Of(TaskStatus::kRunning), 1);
  EXPECT_FALSE(cluster.state.nodes().HasReleasing());
  EXPECT_EQ(RecountMistakes(cluster.state), "");

  cluster.Node("node0");
  EXPECT_EQ(DumpState(cluster.state), before);
}

TEST(NodeTable, ATaskMayComeBeforeItsNode) {
  ClusterBuilder cluster;
  cluster.Job("train", {.tasks = 0}).Running("train", {"node9"}, {.cpu = 3});
  cluster.Node("node9", {.cpu = 8});
  EXPECT_EQ(CpuOf(cluster.state.nodes().Idle(cluster.FindNode("node9"))), 5);
}

TEST(NodeTable, ATaskThatFinishedOrWentWhileItsNodeWasGoneTakesNothing) {
  ClusterBuilder cluster;
  cluster.Node("node0", {.cpu = 8}).Job("train", {.tasks = 0});
  cluster.Running("train", {"node0", "node0"}, {.cpu = 3});
  cluster.state.RemoveNode(cluster.FindNode("node0"));
  cluster.state.workload().SetTaskStatus(cluster.FindTask("train-w-0"), TaskStatus::kSucceeded);
  cluster.state.workload().RemoveTask(cluster.FindTask("train-w-1"));
  cluster.Node("node0", {.cpu = 8});
  EXPECT_EQ(CpuOf(cluster.state.nodes().Idle(cluster.FindNode("node0"))), 8);
  EXPECT_EQ(RecountMistakes(cluster.state), "");
}

TEST(NodeTable, ATaskPlacedAnewWhileItsOldNodeIsAwayStaysWhereItIs) {
  ClusterBuilder cluster;
  cluster.Nodes(2).Job("train", {.tasks = 0}).Running("train", {"node0"});
  const TaskId task = cluster.FindTask("train-w-0");
  cluster.state.RemoveNode(cluster.FindNode("node0"));
  cluster.state.workload().SetTaskStatus(task, TaskStatus::kPending);
  cluster.state.journal().Allocate(task, cluster.FindNode("node1"));
  cluster.state.journal().Commit();
  cluster.Node("node0");
  EXPECT_EQ(cluster.state.workload().task(task).node, cluster.FindNode("node1"));
  cluster.state.workload().RemoveTask(task);
  EXPECT_EQ(RecountMistakes(cluster.state), "");
}

TEST(NodeTable, ANodeThatShrinksUnderItsTasksIsOverdrawn) {
  ClusterBuilder cluster;
  cluster.Node("node0", {.cpu = 8}).Occupy("node0", {.cpu = 6});
  cluster.Node("node0", {.cpu = 4});
  EXPECT_EQ(CpuOf(cluster.state.nodes().Idle(cluster.FindNode("node0"))), -2);
  EXPECT_EQ(CpuOf(cluster.state.sums().Idle(cluster.state.tree().top())), -2);
  EXPECT_EQ(RecountMistakes(cluster.state), "");
}

TEST(NodeTable, ANodeIsOpenWhileItIsNeitherTaintedNorCordoned) {
  const Taint taint{.key = "k", .value = "", .effect = TaintEffect::kNoExecute};
  ClusterBuilder cluster;
  cluster.Node("node0", {.cpu = 8});
  const NodeId node = cluster.FindNode("node0");
  EXPECT_TRUE(cluster.state.nodes().IsOpen(node));
  cluster.Node("node0", {.cpu = 8, .taints = {taint}});
  EXPECT_FALSE(cluster.state.nodes().IsOpen(node));
  cluster.Node("node0", {.cpu = 8, .unschedulable = true});
  EXPECT_FALSE(cluster.state.nodes().IsOpen(node));
  cluster.state.RemoveNode(node);
  cluster.Node("node1", {.cpu = 8});
  ASSERT_EQ(cluster.FindNode("node1"), node);
  EXPECT_TRUE(cluster.state.nodes().IsOpen(node));
}

TEST(NodeTable, ASlotOfARemovedNodeKeepsNothingOfIt) {
  ClusterBuilder cluster;
  cluster.Node(
      "old",
      {.cpu = 8, .taints = {{.key = "k", .value = "", .effect = TaintEffect::kPreferNoSchedule}}});
  cluster.Occupy("old", {.cpu = 2});
  const NodeId slot = cluster.FindNode("old");
  cluster.state.RemoveNode(slot);
  EXPECT_EQ(cluster.state.nodes().with_preferences(), 0U);
  cluster.Node("new", {.cpu = 4});
  EXPECT_EQ(cluster.FindNode("new"), slot);
  EXPECT_EQ(CpuOf(cluster.state.nodes().Idle(slot)), 4);
  EXPECT_THAT(cluster.state.nodes().TasksOn(slot), IsEmpty());
}

TEST(NodeTable, SaysWhichNodesChangedSinceAVersion) {
  ClusterBuilder cluster;
  cluster.Nodes(2).Job("train", {.tasks = 1});
  const std::uint64_t version = cluster.state.nodes().NextVersion();
  EXPECT_THAT(*cluster.state.nodes().TouchedSince(version), IsEmpty());
  cluster.state.journal().Allocate(cluster.FindTask("train-w-0"), cluster.FindNode("node1"));
  EXPECT_THAT(*cluster.state.nodes().TouchedSince(version), ElementsAre(cluster.FindNode("node1")));
  EXPECT_EQ(cluster.state.nodes().TouchedSince(0), std::nullopt);
}

TEST(NodeTable, RefusesANodeThatMakesTheClusterTooLargeToCount) {
  ClusterBuilder cluster;
  NodeSpec spec = cluster.SpecOf("node0", {});
  spec.allocatable.Set(kMemory, kMaxAmount);
  ASSERT_TRUE(cluster.state.UpsertNode(spec).has_value());
  const std::string before = DumpState(cluster.state);
  spec.name = "node1";
  spec.allocatable.Set(kMemory, 1);
  const auto refused = cluster.state.UpsertNode(spec);
  ASSERT_FALSE(refused.has_value());
  EXPECT_THAT(refused.error().message, HasSubstr("memory"));
  EXPECT_EQ(DumpState(cluster.state), before);

  spec.name = "node0";  // replacing the large one adds nothing
  EXPECT_TRUE(cluster.state.UpsertNode(spec).has_value());
}

}  // namespace
}  // namespace strata
