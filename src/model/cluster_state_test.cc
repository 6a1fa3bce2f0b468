#include "model/cluster_state.h"

#include <limits>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/cluster_builder.h"
#include "tests/support/recount.h"
#include "tests/support/state_dump.h"

namespace strata {
namespace {

using testing::BestEffort;
using testing::ClusterBuilder;
using testing::Cores;
using testing::DumpState;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::RecountMistakes;

constexpr Amount kMost = std::numeric_limits<Amount>::max();

Amount CpuOf(std::span<const Amount> row) {
  return row[kCpu.index()] / 1000;
}

// ---- what a task takes

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
  EXPECT_EQ(CpuOf(cluster.state.Used(node)), GetParam().used);
  EXPECT_EQ(CpuOf(cluster.state.Idle(node)), GetParam().idle);
  EXPECT_EQ(CpuOf(cluster.state.FutureIdle(node)), GetParam().future);
  EXPECT_EQ(RecountMistakes(cluster.state), "");
}

INSTANTIATE_TEST_SUITE_P(ClusterState,
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

TEST(ClusterState, PipelinedTasksTakeOnlyFromTheFuture) {
  //   node0: 8 cores, 6 being released; a task of 5 waits for them
  ClusterBuilder cluster;
  cluster.Node("node0", {.cpu = 8}).Occupy("node0", {.cpu = 6}, TaskStatus::kReleasing);
  cluster.Job("train", {.tasks = 1, .task = {.cpu = 5}});
  const NodeId node = cluster.FindNode("node0");
  cluster.state.Pipeline(cluster.FindTask("train-w-0"), node);
  EXPECT_EQ(CpuOf(cluster.state.Idle(node)), 2);
  EXPECT_EQ(CpuOf(cluster.state.FutureIdle(node)), 3);
  EXPECT_EQ(CpuOf(cluster.state.Used(cluster.state.tree().top())), 11);  // scores count it
  EXPECT_EQ(RecountMistakes(cluster.state), "");
}

TEST(ClusterState, CountsAllocatedAndPendingRequestsInJobAndQueue) {
  ClusterBuilder cluster;
  cluster.Node("node0").Job("train", {.tasks = 2, .task = {.cpu = 2}});
  cluster.Running("train", {"node0"}, {.cpu = 3});
  const Queue& queue = cluster.state.queue(*cluster.state.FindQueue("default"));
  EXPECT_EQ(queue.allocated.Get(kCpu), Cores(3));
  EXPECT_EQ(queue.pending.Get(kCpu), Cores(4));
  EXPECT_EQ(cluster.JobNamed("train").allocated.Get(kCpu), Cores(3));
}

TEST(ClusterState, KeepsHostPortsOfWhatRunsAndNotOfWhatWaits) {
  ClusterBuilder cluster;
  const HostPort port{.ip = "", .protocol = "TCP", .port = 80};
  cluster.Node("node0").Job("train", {.tasks = 1, .task = {.ports = {port}}});
  const TaskId task = cluster.FindTask("train-w-0");
  const NodeId node = cluster.FindNode("node0");
  cluster.state.Pipeline(task, node);
  EXPECT_THAT(cluster.state.PortsInUse(node), IsEmpty());
  cluster.state.RollbackTo(0);
  cluster.state.Allocate(task, node);
  EXPECT_THAT(cluster.state.PortsInUse(node), ElementsAre(port));
}

// ---- decisions

TEST(ClusterState, RollbackRestoresEverySum) {
  //   s0: node0 node1     a gang of 3, one of them waits for what is released on node1
  ClusterBuilder cluster;
  cluster.Nodes(2, {.cpu = 4}).Leaf("s0", 1, {"node0", "node1"});
  cluster.Occupy("node1", {.cpu = 3}, TaskStatus::kReleasing);
  cluster.Job("train", {.tasks = 3, .task = {.cpu = 2}});
  const std::string before = DumpState(cluster.state);
  const auto savepoint = cluster.state.Mark();
  cluster.state.Allocate(cluster.FindTask("train-w-0"), cluster.FindNode("node0"));
  cluster.state.Allocate(cluster.FindTask("train-w-1"), cluster.FindNode("node0"));
  cluster.state.Pipeline(cluster.FindTask("train-w-2"), cluster.FindNode("node1"));
  EXPECT_NE(DumpState(cluster.state), before);
  cluster.state.RollbackTo(savepoint);
  EXPECT_EQ(DumpState(cluster.state), before);
}

TEST(ClusterState, RollbackToAnInnerSavepointKeepsWhatCameBefore) {
  ClusterBuilder cluster;
  cluster.Node("node0").Job("train", {.tasks = 2});
  const NodeId node = cluster.FindNode("node0");
  cluster.state.Allocate(cluster.FindTask("train-w-0"), node);
  const std::string between = DumpState(cluster.state);
  const auto inner = cluster.state.Mark();
  cluster.state.Allocate(cluster.FindTask("train-w-1"), node);
  EXPECT_THAT(cluster.state.ChangedSince(inner), ElementsAre(cluster.FindTask("train-w-1")));
  cluster.state.RollbackTo(inner);
  EXPECT_EQ(DumpState(cluster.state), between);
  EXPECT_THAT(cluster.state.ChangedSince(0), ElementsAre(cluster.FindTask("train-w-0")));
}

TEST(ClusterState, CommitBindsWhatIsAllocatedAndHoldsWhatWaits) {
  ClusterBuilder cluster;
  cluster.Nodes(2, {.cpu = 2}).Occupy("node1", {.cpu = 2}, TaskStatus::kReleasing);
  cluster.Job("train", {.tasks = 2, .task = {.cpu = 2}});
  const TaskId placed = cluster.FindTask("train-w-0");
  const TaskId waiting = cluster.FindTask("train-w-1");
  cluster.state.Allocate(placed, cluster.FindNode("node0"));
  cluster.state.Pipeline(waiting, cluster.FindNode("node1"));
  cluster.state.Commit();
  EXPECT_EQ(cluster.state.task(placed).status, TaskStatus::kBinding);
  EXPECT_EQ(cluster.state.task(waiting).status, TaskStatus::kPipelined);
  EXPECT_THAT(cluster.state.HeldTasks(), ElementsAre(waiting));
  cluster.state.ReleaseHeld();
  EXPECT_EQ(cluster.state.task(placed).status, TaskStatus::kBinding);
  EXPECT_EQ(cluster.state.task(waiting).status, TaskStatus::kPending);
  EXPECT_EQ(RecountMistakes(cluster.state), "");
}

TEST(ClusterState, HoldKeepsAReservationUntilItIsReleased) {
  ClusterBuilder cluster;
  cluster.Node("node0", {.cpu = 4}).Job("first", {.tasks = 1, .task = {.cpu = 3}});
  const std::string before = DumpState(cluster.state);
  cluster.state.Allocate(cluster.FindTask("first-w-0"), cluster.FindNode("node0"));
  cluster.state.Hold();
  EXPECT_EQ(cluster.state.Mark(), 0U);  // what comes later cannot roll it back
  EXPECT_EQ(CpuOf(cluster.state.Idle(cluster.FindNode("node0"))), 1);
  cluster.state.ReleaseHeld();
  EXPECT_EQ(DumpState(cluster.state), before);
  EXPECT_THAT(cluster.state.HeldTasks(), IsEmpty());
}

// ---- nodes that come, change and go

TEST(ClusterState, TasksOfARemovedNodeTakeRoomAgainWhenItComesBack) {
  ClusterBuilder cluster;
  cluster.Nodes(2).Leaf("s0", 1, {"node0", "node1"}).Job("train", {.tasks = 0});
  cluster.Running("train", {"node0"}, {.cpu = 3});
  cluster.Occupy("node0", {.cpu = 1}, TaskStatus::kReleasing);
  const std::string before = DumpState(cluster.state);

  cluster.state.RemoveNode(cluster.FindNode("node0"));
  EXPECT_FALSE(cluster.state.task(cluster.FindTask("train-w-0")).node.valid());
  EXPECT_EQ(cluster.JobNamed("train").counts.Of(TaskStatus::kRunning), 1);
  EXPECT_FALSE(cluster.state.HasReleasing());
  EXPECT_EQ(RecountMistakes(cluster.state), "");

  cluster.Node("node0");
  EXPECT_EQ(DumpState(cluster.state), before);
}

TEST(ClusterState, ATaskMayComeBeforeItsNode) {
  ClusterBuilder cluster;
  cluster.Job("train", {.tasks = 0}).Running("train", {"node9"}, {.cpu = 3});
  cluster.Node("node9", {.cpu = 8});
  EXPECT_EQ(CpuOf(cluster.state.Idle(cluster.FindNode("node9"))), 5);
}

TEST(ClusterState, ATaskThatFinishedOrWentWhileItsNodeWasGoneTakesNothing) {
  ClusterBuilder cluster;
  cluster.Node("node0", {.cpu = 8}).Job("train", {.tasks = 0});
  cluster.Running("train", {"node0", "node0"}, {.cpu = 3});
  cluster.state.RemoveNode(cluster.FindNode("node0"));
  cluster.state.SetTaskStatus(cluster.FindTask("train-w-0"), TaskStatus::kSucceeded);
  cluster.state.RemoveTask(cluster.FindTask("train-w-1"));
  cluster.Node("node0", {.cpu = 8});
  EXPECT_EQ(CpuOf(cluster.state.Idle(cluster.FindNode("node0"))), 8);
  EXPECT_EQ(RecountMistakes(cluster.state), "");
}

TEST(ClusterState, ATaskPlacedAnewWhileItsOldNodeIsAwayStaysWhereItIs) {
  ClusterBuilder cluster;
  cluster.Nodes(2).Job("train", {.tasks = 0}).Running("train", {"node0"});
  const TaskId task = cluster.FindTask("train-w-0");
  cluster.state.RemoveNode(cluster.FindNode("node0"));
  cluster.state.SetTaskStatus(task, TaskStatus::kPending);
  cluster.state.Allocate(task, cluster.FindNode("node1"));
  cluster.state.Commit();
  cluster.Node("node0");
  EXPECT_EQ(cluster.state.task(task).node, cluster.FindNode("node1"));
  cluster.state.RemoveTask(task);
  EXPECT_EQ(RecountMistakes(cluster.state), "");
}

TEST(ClusterState, ANodeThatShrinksUnderItsTasksIsOverdrawn) {
  ClusterBuilder cluster;
  cluster.Node("node0", {.cpu = 8}).Occupy("node0", {.cpu = 6});
  cluster.Node("node0", {.cpu = 4});
  EXPECT_EQ(CpuOf(cluster.state.Idle(cluster.FindNode("node0"))), -2);
  EXPECT_EQ(CpuOf(cluster.state.Idle(cluster.state.tree().top())), -2);
  EXPECT_EQ(RecountMistakes(cluster.state), "");
}

TEST(ClusterState, ANodeIsOpenWhileItIsNeitherTaintedNorCordoned) {
  const Taint taint{.key = "k", .value = "", .effect = TaintEffect::kNoExecute};
  ClusterBuilder cluster;
  cluster.Node("node0", {.cpu = 8});
  const NodeId node = cluster.FindNode("node0");
  EXPECT_TRUE(cluster.state.IsOpen(node));
  cluster.Node("node0", {.cpu = 8, .taints = {taint}});
  EXPECT_FALSE(cluster.state.IsOpen(node));
  cluster.Node("node0", {.cpu = 8, .unschedulable = true});
  EXPECT_FALSE(cluster.state.IsOpen(node));
  cluster.state.RemoveNode(node);
  cluster.Node("node1", {.cpu = 8});
  ASSERT_EQ(cluster.FindNode("node1"), node);
  EXPECT_TRUE(cluster.state.IsOpen(node));
}

TEST(ClusterState, ASlotOfARemovedNodeKeepsNothingOfIt) {
  ClusterBuilder cluster;
  cluster.Node(
      "old",
      {.cpu = 8, .taints = {{.key = "k", .value = "", .effect = TaintEffect::kPreferNoSchedule}}});
  cluster.Occupy("old", {.cpu = 2});
  const NodeId slot = cluster.FindNode("old");
  cluster.state.RemoveNode(slot);
  EXPECT_EQ(cluster.state.nodes_with_preferences(), 0U);
  cluster.Node("new", {.cpu = 4});
  EXPECT_EQ(cluster.FindNode("new"), slot);
  EXPECT_EQ(CpuOf(cluster.state.Idle(slot)), 4);
  EXPECT_THAT(cluster.state.TasksOn(slot), IsEmpty());
}

TEST(ClusterState, SaysWhichNodesChangedSinceAVersion) {
  ClusterBuilder cluster;
  cluster.Nodes(2).Job("train", {.tasks = 1});
  const std::uint64_t version = cluster.state.NextVersion();
  EXPECT_THAT(*cluster.state.TouchedSince(version), IsEmpty());
  cluster.state.Allocate(cluster.FindTask("train-w-0"), cluster.FindNode("node1"));
  EXPECT_THAT(*cluster.state.TouchedSince(version), ElementsAre(cluster.FindNode("node1")));
  EXPECT_EQ(cluster.state.TouchedSince(0), std::nullopt);
}

TEST(ClusterState, SaysWhichJobsChangedSinceAVersion) {
  ClusterBuilder cluster;
  cluster.Nodes(1).Job("still", {.tasks = 1}).Job("train", {.tasks = 1});
  const JobId train = *cluster.state.FindJob("train");
  const auto changes = [&](const auto& change) {
    const std::uint64_t version = cluster.state.NextJobVersion();
    change();
    return cluster.state.JobsTouchedSince(version).value();
  };
  const TaskId task = cluster.FindTask("train-w-0");
  EXPECT_THAT(changes([] {}), IsEmpty());
  EXPECT_THAT(changes([&] { cluster.state.Allocate(task, cluster.FindNode("node0")); }),
              ElementsAre(train));
  EXPECT_THAT(changes([&] { cluster.state.RollbackTo(0); }), ElementsAre(train));
  EXPECT_THAT(changes([&] { cluster.state.SetJobPhase(train, JobPhase::kInqueue); }),
              ElementsAre(train));
  EXPECT_THAT(changes([&] { cluster.state.RemoveTask(task); }), ElementsAre(train));
  EXPECT_THAT(changes([&] { cluster.state.RemoveJob(train); }), ElementsAre(train));
  const JobId still = *cluster.state.FindJob("still");
  EXPECT_THAT(changes([&] { cluster.state.RemoveQueue(cluster.state.job(still).queue); }),
              ElementsAre(still));
  EXPECT_EQ(cluster.state.JobsTouchedSince(0), std::nullopt);
}

TEST(ClusterState, AJobWaitsUntilItIsLetInAndAllItsPodsHaveAPlace) {
  ClusterBuilder cluster;
  cluster.Nodes(1).Job("train", {.tasks = 1});
  const JobId train = *cluster.state.FindJob("train");
  const TaskId task = cluster.FindTask("train-w-0");
  EXPECT_THAT(cluster.state.WaitingJobs(), ElementsAre(train));
  cluster.state.SetJobPhase(train, JobPhase::kRunning);
  EXPECT_THAT(cluster.state.WaitingJobs(), ElementsAre(train));  // a pod is pending
  cluster.state.Allocate(task, cluster.FindNode("node0"));
  EXPECT_THAT(cluster.state.WaitingJobs(), IsEmpty());
  cluster.state.RollbackTo(0);
  EXPECT_THAT(cluster.state.WaitingJobs(), ElementsAre(train));
  cluster.state.RemoveTask(task);
  EXPECT_THAT(cluster.state.WaitingJobs(), ElementsAre(train));  // it has none
  cluster.state.RemoveJob(train);
  EXPECT_THAT(cluster.state.WaitingJobs(), IsEmpty());
}

// ---- HyperNode sums

TEST(ClusterState, SumsOfAHyperNodeFollowNodesAndMembers) {
  //   s0: node0 node1        then s0: node1 node2, then node1 goes
  ClusterBuilder cluster;
  cluster.Node("node0", {.cpu = 1}).Node("node1", {.cpu = 10}).Node("node2", {.cpu = 100});
  cluster.Occupy("node2", {.cpu = 7});
  cluster.Leaf("s0", 1, {"node0", "node1"});
  const auto idle = [&] { return CpuOf(cluster.state.Idle(cluster.FindHyperNode("s0"))); };
  EXPECT_EQ(idle(), 11);
  cluster.Leaf("s0", 1, {"node1", "node2"});
  EXPECT_EQ(idle(), 103);
  cluster.state.RemoveNode(cluster.FindNode("node1"));
  EXPECT_EQ(idle(), 93);
  cluster.Node("node2", {.cpu = 50});
  EXPECT_EQ(idle(), 43);
  EXPECT_EQ(RecountMistakes(cluster.state), "");
}

TEST(ClusterState, SumsOfAHyperNodeFollowTheTasksOfItsNodes) {
  ClusterBuilder cluster;
  testing::AddSeedTree(cluster, {.cpu = 8});
  cluster.Job("train", {.tasks = 1, .task = {.cpu = 3}});
  cluster.state.Allocate(cluster.FindTask("train-w-0"), cluster.FindNode("node2"));
  EXPECT_EQ(CpuOf(cluster.state.Idle(cluster.FindHyperNode("s1"))), 13);
  EXPECT_EQ(CpuOf(cluster.state.Idle(cluster.FindHyperNode("s4"))), 29);
  EXPECT_EQ(CpuOf(cluster.state.Idle(cluster.FindHyperNode("s5"))), 32);
  EXPECT_EQ(CpuOf(cluster.state.Used(cluster.state.tree().top())), 3);
}

TEST(ClusterState, ARemovedHyperNodeLeavesTheSumsOfTheOthers) {
  ClusterBuilder cluster;
  testing::AddSeedTree(cluster);
  cluster.state.RemoveHyperNode("s0");
  EXPECT_EQ(CpuOf(cluster.state.Allocatable(cluster.FindHyperNode("s4"))), 16);
  EXPECT_EQ(CpuOf(cluster.state.Allocatable(cluster.state.tree().top())), 64);
}

TEST(ClusterState, AResourceNobodyKnewYetFindsItsPlaceInEverySum) {
  ClusterBuilder cluster;
  cluster.Nodes(2).Leaf("s0", 1, {"node0"}).Job("train", {.tasks = 0});
  EXPECT_EQ(CpuOf(cluster.state.Idle(cluster.FindHyperNode("s0"))), 8);
  const ResourceId hca = cluster.state.resource_names().Intern("rdma/hca");
  NodeSpec spec = cluster.SpecOf("node0", {});
  spec.allocatable.Set(hca, 4000);
  ASSERT_TRUE(cluster.state.UpsertNode(spec).has_value());
  EXPECT_EQ(cluster.state.Idle(cluster.FindHyperNode("s0"))[hca.index()], 4000);
  EXPECT_EQ(cluster.state.Idle(cluster.FindNode("node1"))[hca.index()], 0);
  EXPECT_EQ(RecountMistakes(cluster.state), "");
}

TEST(ClusterState, ANameThatIsNewLeavesTheSumsAsTheyWere) {
  ClusterBuilder cluster;
  cluster.Nodes(2).Leaf("s0", 1, {"node0"}).Job("train", {.tasks = 1});
  const HyperNodeId leaf = cluster.FindHyperNode("s0");
  cluster.state.Settle();
  cluster.state.Pipeline(cluster.FindTask("train-w-0"), cluster.FindNode("node0"));
  const ResourceId hca = cluster.state.resource_names().Intern("rdma/hca");
  cluster.state.GrowTables();
  EXPECT_EQ(CpuOf(cluster.state.Idle(leaf)), 8);
  EXPECT_EQ(CpuOf(cluster.state.FutureIdle(leaf)), 7);
  EXPECT_EQ(cluster.state.Idle(leaf)[hca.index()], 0);
}

// ---- overflow

TEST(ClusterState, RefusesANodeThatMakesTheClusterTooLargeToCount) {
  ClusterBuilder cluster;
  NodeSpec spec = cluster.SpecOf("node0", {});
  spec.allocatable.Set(kMemory, kMost);
  ASSERT_TRUE(cluster.state.UpsertNode(spec).has_value());
  const std::string before = DumpState(cluster.state);
  spec.name = "node1";
  spec.allocatable.Set(kMemory, 1);
  const auto refused = cluster.state.UpsertNode(spec);
  ASSERT_FALSE(refused.has_value());
  EXPECT_THAT(refused.error().message, HasSubstr("memory"));
  EXPECT_EQ(DumpState(cluster.state), before);

  spec.name = "node0";  // replacing the large one is no addition
  EXPECT_TRUE(cluster.state.UpsertNode(spec).has_value());
}

TEST(ClusterState, RefusesATaskThatMakesTheRequestsTooLargeToCount) {
  ClusterBuilder cluster;
  cluster.Node("node0").Job("train", {.tasks = 0});
  TaskSpec spec;
  spec.name = "train-w-0";
  spec.job = cluster.FindJob("train");
  spec.constraints.request.Set(kCpu, kMost);
  const auto added = cluster.state.AddTask(spec);
  ASSERT_TRUE(added.has_value());
  const std::string before = DumpState(cluster.state);
  spec.name = "train-w-1";
  EXPECT_FALSE(cluster.state.AddTask(spec).has_value());
  EXPECT_EQ(DumpState(cluster.state), before);
  cluster.state.RemoveTask(*added);  // its part of the total is free again
  EXPECT_TRUE(cluster.state.AddTask(spec).has_value());
}

TEST(ClusterState, RefusesATaskWhoseDefaultRequestsAreTooLargeToCount) {
  //   scores count 200 MiB for a container that names no memory
  ClusterBuilder cluster;
  cluster.Node("node0").Job("train", {.tasks = 0});
  TaskSpec spec;
  spec.name = "train-w-0";
  spec.job = cluster.FindJob("train");
  spec.constraints.request.Set(kMemory, kMost);
  spec.constraints.nonzero_memory = kMost;
  ASSERT_TRUE(cluster.state.AddTask(spec).has_value());
  const std::string before = DumpState(cluster.state);
  spec.name = "train-w-1";
  spec.constraints = cluster.ClassOf(BestEffort());
  EXPECT_FALSE(cluster.state.AddTask(spec).has_value());
  EXPECT_EQ(DumpState(cluster.state), before);
}

// ---- classes, ranks, sub-jobs

TEST(ClusterState, TasksThatAskForTheSameShareAClass) {
  ClusterBuilder cluster;
  cluster.Job("a", {.tasks = 2}).Job("b", {.tasks = 1});
  cluster.Task("b", {.selector = {{"zone", "1"}}});
  const auto class_of = [&](const char* task) {
    return cluster.state.task(cluster.FindTask(task)).class_id;
  };
  EXPECT_EQ(class_of("a-w-0"), class_of("a-w-1"));
  EXPECT_EQ(class_of("a-w-0"), class_of("b-w-0"));
  EXPECT_NE(class_of("b-w-0"), class_of("b-w-1"));
  EXPECT_EQ(cluster.state.class_count(), 2U);
}

TEST(ClusterState, ReadsTheRankFromANameOfThreeParts) {
  ClusterBuilder cluster;
  cluster.Job("a", {.tasks = 0});
  for (const char* name : {"a-w-7", "ns-x/a-7", "ns/a-w-x7", "a-w-7x", "a-b-c-0"})
    cluster.Task("a", {}, name);
  const auto index = [&](const char* name) {
    return cluster.state.task(cluster.FindTask(name)).index;
  };
  EXPECT_EQ(index("a-w-7"), 7);
  EXPECT_EQ(index("ns-x/a-7"), -1);  // the namespace does not count
  EXPECT_EQ(index("ns/a-w-x7"), -1);
  EXPECT_EQ(index("a-w-7x"), -1);
  EXPECT_EQ(index("a-b-c-0"), 0);
}

TEST(ClusterState, PutsTasksIntoTheSubJobOfTheirKey) {
  ClusterBuilder cluster;
  SubGroupPolicy policy;
  policy.name = "part";
  policy.match_label_keys = {"p"};
  policy.size = 2;
  policy.topology = testing::Hard(1);
  cluster.Job("a", {.tasks = 1, .min_available = 3, .sub_groups = {policy}});
  for (const char* value : {"2", "10", "2", "4x"})
    cluster.Task("a", {.sub_group = SubGroupKey{0, {value}}});
  const std::vector<SubJob>& sub_jobs = cluster.JobNamed("a").sub_jobs;
  ASSERT_EQ(sub_jobs.size(), 4U);
  EXPECT_EQ(sub_jobs[0].min_available, 1);  // the default sub-job beside policies
  EXPECT_EQ(sub_jobs[1].name, "part-2");
  EXPECT_EQ(sub_jobs[1].tasks.size(), 2U);
  EXPECT_EQ(sub_jobs[1].min_available, 2);
  EXPECT_EQ(sub_jobs[1].topology, testing::Hard(1));
  EXPECT_EQ(sub_jobs[2].match_index, 10);
  EXPECT_EQ(sub_jobs[3].match_index, 0);  // "4x" is no number
}

TEST(ClusterState, ASubJobFollowsItsPolicyAndGoesWithItsLastPod) {
  ClusterBuilder cluster;
  SubGroupPolicy policy;
  policy.name = "part";
  policy.match_label_keys = {"p"};
  policy.size = 1;
  cluster.Job("a", {.tasks = 0, .min_available = 1, .sub_groups = {policy}});
  cluster.Task("a", {.sub_group = SubGroupKey{0, {"1"}}});
  JobSpec spec = cluster.JobNamed("a").spec;
  spec.sub_groups[0].size = 5;
  spec.sub_groups[0].topology = testing::Hard(1);
  const JobId job = cluster.state.UpsertJob(spec);
  EXPECT_EQ(cluster.state.job(job).sub_jobs[1].min_available, 5);
  EXPECT_TRUE(cluster.state.job(job).HasHardTopology());

  cluster.state.RemoveTask(cluster.state.job(job).sub_jobs[1].tasks[0]);
  EXPECT_FALSE(cluster.state.job(job).HasHardTopology());
  cluster.Task("a", {.sub_group = SubGroupKey{0, {"2"}}});
  ASSERT_EQ(cluster.state.job(job).sub_jobs.size(), 2U);  // in the place of the first
  EXPECT_EQ(cluster.state.job(job).sub_jobs[1].name, "part-2");
}

TEST(ClusterState, PodsWhosePolicyIsGoneAreOfNoSubGroup) {
  ClusterBuilder cluster;
  SubGroupPolicy policy;
  policy.name = "part";
  policy.match_label_keys = {"p"};
  cluster.Job("a", {.tasks = 0, .min_available = 1, .sub_groups = {policy}});
  cluster.Task("a", {.sub_group = SubGroupKey{0, {"1"}}});
  JobSpec spec = cluster.JobNamed("a").spec;
  spec.sub_groups.clear();
  const JobId job = cluster.state.UpsertJob(spec);
  EXPECT_EQ(cluster.state.job(job).sub_jobs[0].tasks.size(), 1U);
  EXPECT_FALSE(cluster.state.job(job).sub_jobs[1].key.has_value());
  EXPECT_EQ(RecountMistakes(cluster.state), "");
}

// ---- queues and jobs

TEST(ClusterState, AQueueThatComesAfterItsJobsCountsThem) {
  ClusterBuilder cluster;
  cluster.Node("node0").Job("train", {.tasks = 1, .queue = "late"});
  cluster.Running("train", {"node0"});
  EXPECT_FALSE(cluster.JobNamed("train").queue.valid());
  cluster.Queue("late");
  EXPECT_TRUE(cluster.JobNamed("train").queue.valid());
  EXPECT_EQ(RecountMistakes(cluster.state), "");
}

TEST(ClusterState, AJobThatMovesTakesItsSumsToTheOtherQueue) {
  ClusterBuilder cluster;
  cluster.Queue("other").Node("node0").Job("train", {.tasks = 1});
  cluster.Running("train", {"node0"});
  JobSpec spec = cluster.JobNamed("train").spec;
  spec.queue = "other";
  cluster.state.UpsertJob(spec);
  EXPECT_EQ(cluster.state.queue(*cluster.state.FindQueue("default")).allocated, Resources{});
  EXPECT_EQ(RecountMistakes(cluster.state), "");
}

TEST(ClusterState, ARemovedJobTakesItsTasksAlong) {
  ClusterBuilder cluster;
  cluster.Node("node0").Job("stays", {.tasks = 1});
  const std::string before = DumpState(cluster.state);
  cluster.Job("goes", {.tasks = 2}).Running("goes", {"node0"});
  cluster.state.RemoveJob(cluster.FindJob("goes"));
  EXPECT_EQ(DumpState(cluster.state), before);
  EXPECT_EQ(cluster.state.FindJob("goes"), std::nullopt);
}

TEST(ClusterState, ForgetsClassesThatNoTaskHasOnceTheyAreMany) {
  ClusterBuilder cluster;
  PodRules alone;
  alone.anti_affinity = {testing::Pods("app", "x", "host")};
  cluster.Job("goes", {.tasks = 1, .task = {.cpu = 2, .rules = alone}});
  cluster.Job("stays", {.tasks = 2, .task = {.cpu = 3, .rules = alone}});
  const auto stays = [&] { return cluster.state.task(cluster.FindTask("stays-w-1")).class_id; };
  const std::uint64_t before = cluster.state.class_epoch();
  cluster.state.RemoveJob(cluster.FindJob("goes"));
  cluster.state.ForgetIdleClasses(1);
  EXPECT_EQ(cluster.state.class_epoch(), before);
  cluster.state.ForgetIdleClasses(0);
  EXPECT_NE(cluster.state.class_epoch(), before);
  EXPECT_EQ(cluster.state.class_count(), 1U);
  EXPECT_EQ(cluster.state.task_class(stays()).request.Get(kCpu), testing::Cores(3));
  EXPECT_THAT(cluster.state.classes_with_rules(), ::testing::ElementsAre(stays()));
  cluster.Task("stays", {.cpu = 3, .rules = alone});  // finds the class again
  EXPECT_EQ(cluster.state.task(cluster.FindTask("stays-w-2")).class_id, stays());
}

TEST(ClusterState, ABestEffortTaskIsReadyWhileItIsPending) {
  ClusterBuilder cluster;
  cluster.Node("node0").Job("train", {.tasks = 2, .task = BestEffort()});
  EXPECT_EQ(cluster.JobNamed("train").counts.Ready(), 2);
  cluster.state.Allocate(cluster.FindTask("train-w-0"), cluster.FindNode("node0"));
  EXPECT_EQ(cluster.JobNamed("train").counts.Ready(), 2);
  EXPECT_EQ(cluster.JobNamed("train").counts.pending_best_effort, 1);
}

}  // namespace
}  // namespace strata
