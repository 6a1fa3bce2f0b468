// Jobs with sub-groups: the job finds a HyperNode, and in it each sub-group finds its own.
#include "sched/two_level_search.h"

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sched/gang_search.h"
#include "tests/support/cluster_builder.h"
#include "tests/support/cycle.h"

namespace strata {
namespace {

using testing::Advance;
using testing::BestEffort;
using testing::ClusterBuilder;
using testing::Cycles;
using testing::Decisions;
using ::testing::ElementsAre;
using testing::Hard;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::IsSubsetOf;
using testing::kWholeNode;
using testing::RunCycle;
using ::testing::SizeIs;
using testing::Soft;
using testing::TaskArgs;
using testing::TraceLog;

using Names = std::set<std::string>;
using Placed = std::map<std::string, std::string>;

SubGroupPolicy Parts(std::int32_t size,
                     const TopologySpec& topology,
                     std::int32_t min_sub_groups = 0) {
  SubGroupPolicy policy;
  policy.name = "part";
  policy.match_label_keys = {"id"};
  policy.size = size;
  policy.min_sub_groups = min_sub_groups;
  policy.topology = topology;
  return policy;
}

// Two spines of four racks of two nodes with 8 cores: spine-a has r0..r3, spine-b has r4..r7; rack
// i has node2i and node2i+1.
class TwoSpines : public ::testing::Test {
 protected:
  TwoSpines() {
    cluster_.Nodes(16);
    for (int i = 0; i < 8; ++i) {
      cluster_.Leaf("r" + std::to_string(i),
                    1,
                    {"node" + std::to_string(2 * i), "node" + std::to_string(2 * i + 1)});
    }
    cluster_.Above("spine-a", 2, {"r0", "r1", "r2", "r3"});
    cluster_.Above("spine-b", 2, {"r4", "r5", "r6", "r7"});
  }
  // `parts` sub-groups of `size` tasks; task i of part p is "<job>-w-<p * size + i>".
  void AddParts(const std::string& job, int parts, int size, TaskArgs args) {
    for (int part = 0; part < parts; ++part) {
      args.sub_group = SubGroupKey{0, {std::to_string(part)}};
      for (int i = 0; i < size; ++i) cluster_.Task(job, args);
    }
  }
  // The racks that hold part `part` of `job`.
  [[nodiscard]] Names RacksOf(const Decisions& decisions,
                              const std::string& job,
                              int part,
                              int size) const {
    Names racks;
    const HyperNodeTree& tree = cluster_.state.tree();
    for (int i = part * size; i < (part + 1) * size; ++i) {
      const auto it = decisions.binds.find(job + "-w-" + std::to_string(i));
      if (it == decisions.binds.end()) continue;
      racks.insert(tree.at(tree.LeafOf(tree.ChainOf(cluster_.FindNode(it->second)))).name);
    }
    return racks;
  }
  void Fill(std::initializer_list<std::string> nodes) {
    for (const std::string& node : nodes) cluster_.Occupy(node, {.cpu = 8});
  }
  ClusterBuilder cluster_;
};

TEST_F(TwoSpines, EverySubGroupGetsARackAndTheJobOneSpine) {
  Fill({"node0"});
  cluster_.Job(
      "train",
      {.tasks = 0, .min_available = 8, .topology = Hard(2), .sub_groups = {Parts(2, Hard(1))}});
  AddParts("train", 4, 2, kWholeNode);
  const Decisions decisions = RunCycle(cluster_.state);
  ASSERT_THAT(decisions.binds, SizeIs(8));
  Names all;
  for (int part = 0; part < 4; ++part) {
    const Names racks = RacksOf(decisions, "train", part, 2);
    EXPECT_THAT(racks, SizeIs(1)) << "part " << part;
    all.insert(racks.begin(), racks.end());
  }
  EXPECT_EQ(all, (Names{"r4", "r5", "r6", "r7"}));
  EXPECT_EQ(cluster_.JobNamed("train").allocated_hypernode, "spine-b");
}

// Free cores: r0 6 + 2, r1 8 + 0. The small pod of part 0 comes first and takes the roomy node of
// r0, so part 0 ends in r1; the same pods in the other order do fit r0.
TEST_F(TwoSpines, AHyperNodeThatFailedMayHoldTheSamePodsInAnotherOrder) {
  Fill({"node3", "node4", "node5", "node6", "node7"});
  cluster_.Occupy("node0", {.cpu = 2}).Occupy("node1", {.cpu = 6});
  cluster_.Job(
      "train",
      {.tasks = 0, .min_available = 4, .topology = Hard(2), .sub_groups = {Parts(2, Hard(1))}});
  for (const auto& [part, cpu] : {std::pair{"0", 2}, {"0", 6}, {"1", 6}, {"1", 2}}) {
    cluster_.Task("train", {.cpu = cpu, .sub_group = SubGroupKey{0, {part}}});
  }
  for (int i = 8; i < 16; ++i) Fill({"node" + std::to_string(i)});
  EXPECT_EQ(RunCycle(cluster_.state).binds,
            (Placed{{"train-w-0", "node2"},
                    {"train-w-1", "node2"},
                    {"train-w-2", "node0"},
                    {"train-w-3", "node1"}}));
}

// All of its parts may be left out, but then nothing is placed: it must not get another turn.
TEST_F(TwoSpines, AJobThatNeedsNoPodAndFitsNowhereGetsNoSecondTurn) {
  for (int i = 0; i < 16; ++i) Fill({"node" + std::to_string(i)});
  cluster_.Job(
      "train",
      {.tasks = 0, .min_available = 0, .topology = Hard(2), .sub_groups = {Parts(1, Hard(1))}});
  cluster_.Task("train", {.cpu = 4, .sub_group = SubGroupKey{0, {"0"}}});
  cluster_.Task("train", {.cpu = 2, .sub_group = SubGroupKey{0, {"1"}}});
  EXPECT_THAT(RunCycle(cluster_.state).binds, IsEmpty());
}

// What a rack has in all is less than what its free node has, where the other node holds more than
// it is large. Once one sub-group is there, the sum leaves no room for the next, with or without a
// trace. The second search does not go by sums: it is off.
TEST_F(TwoSpines, SkipsHyperNodesRuledOutBySumsEvenAfterASimilarSubGroupWentThere) {
  const auto fill = [](ClusterBuilder& cluster) {
    cluster.Node("node0", {.cpu = 4}).Node("node1").Node("node2").Node("node3");
    cluster.Leaf("r0", 1, {"node0", "node1"}).Leaf("r1", 1, {"node2"}).Leaf("r2", 1, {"node3"});
    cluster.Above("spine", 2, {"r0", "r1", "r2"});
    cluster.Occupy("node0", {.cpu = 8}).Occupy("node2", {.cpu = 5}).Occupy("node3", {.cpu = 5});
    cluster.Job(
        "train",
        {.tasks = 0, .min_available = 2, .topology = Hard(2), .sub_groups = {Parts(1, Hard(1))}});
    cluster.Task("train", {.cpu = 4, .sub_group = SubGroupKey{0, {"0"}}});
    cluster.Task("train", {.cpu = 4, .sub_group = SubGroupKey{0, {"1"}}});
  };
  ClusterBuilder quiet;
  ClusterBuilder listened;
  fill(quiet);
  fill(listened);
  TraceLog trace;
  SchedulerConfig greedy = DefaultSchedulerConfig();
  for (PluginConfig& plugin : greedy.tiers[1]) {
    if (plugin.name == "network-topology-aware")
      plugin.arguments.Set(kSecondMaxSteps, std::int64_t{0});
  }
  EXPECT_THAT(RunCycle(quiet.state, greedy).binds, IsEmpty());
  EXPECT_THAT(Cycles(listened.state, greedy).Run(&trace).binds, IsEmpty());
}

// The small pod of part 0 would rather not be on node0 and takes a core of node1, where the large
// one then has no room. Part 1 takes the memory of node1; so the small pod of part 2 goes to node0,
// and both have a place.
TEST_F(TwoSpines, RetriesHyperNodesBlockedByASibling) {
  const Taint rather_not{.key = "old", .value = "", .effect = TaintEffect::kPreferNoSchedule};
  ClusterBuilder cluster;
  cluster.Node("node0", {.cpu = 4, .memory = 8, .taints = {rather_not}});
  cluster.Node("node1", {.cpu = 8, .memory = 4, .labels = {{"host", "node1"}}});
  cluster.Leaf("r0", 1, {"node0", "node1"});
  cluster.Job("train",
              {.tasks = 0,
               .min_available = 3,
               .topology = Hard(1),
               .sub_groups = {Parts(2, Hard(1)), Parts(1, Hard(1))}});
  for (const char* part : {"0", "2"}) {
    const SubGroupKey key{0, {part}};
    cluster.Task("train", {.cpu = 1, .memory = 4, .sub_group = key});
    cluster.Task("train", {.cpu = 8, .memory = 0, .sub_group = key});
  }
  cluster.Task(
      "train",
      {.cpu = 0, .memory = 4, .selector = {{"host", "node1"}}, .sub_group = SubGroupKey{1, {"1"}}});
  EXPECT_EQ(RunCycle(cluster.state).binds,
            (Placed{{"train-w-2", "node0"}, {"train-w-3", "node1"}, {"train-w-4", "node1"}}));
}

// The gang needs one pod beside the BestEffort one, which is ready as it is; what a rack is worth
// follows from all that is pending, with or without a trace.
TEST_F(TwoSpines, ABestEffortPodDoesNotHideTheRequestsOfTheOthers) {
  cluster_.Job(
      "train",
      {.tasks = 0, .min_available = 2, .topology = Hard(1), .sub_groups = {Parts(2, Hard(1))}});
  cluster_.Task("train", BestEffort()).Task("train", {.cpu = 1});
  cluster_.Task("train",
                {.cpu = 1,
                 .status = TaskStatus::kUnknown,
                 .node = "node7",
                 .sub_group = SubGroupKey{0, {"0"}}});
  EXPECT_EQ(RacksOf(RunCycle(cluster_.state), "train", 0, 2), Names{"r3"});
}

TEST_F(TwoSpines, NothingStartsWhenOneSubGroupHasNoRack) {
  Fill({"node0", "node9"});
  cluster_.Job(
      "train",
      {.tasks = 0, .min_available = 8, .topology = Hard(2), .sub_groups = {Parts(2, Hard(1))}});
  AddParts("train", 4, 2, kWholeNode);
  const Decisions decisions = RunCycle(cluster_.state);
  EXPECT_THAT(decisions.binds, IsEmpty());
  EXPECT_NE(decisions.Reason("train"), "");
}

TEST_F(TwoSpines, StartsWithMinSubGroups) {
  Fill({"node0", "node2", "node8", "node10", "node12"});
  cluster_.Job("train",
               {.tasks = 0,
                .min_available = 4,
                .topology = Hard(2),
                .sub_groups = {Parts(2, Hard(1), /*min_sub_groups=*/2)}});
  AddParts("train", 4, 2, kWholeNode);
  const Decisions decisions = RunCycle(cluster_.state);
  EXPECT_THAT(decisions.binds, SizeIs(4));
  EXPECT_THAT(RacksOf(decisions, "train", 0, 2), SizeIs(1));
  EXPECT_THAT(RacksOf(decisions, "train", 1, 2), SizeIs(1));
  EXPECT_EQ(cluster_.JobNamed("train").allocated_hypernode, "spine-a");
}

TEST_F(TwoSpines, ASoftSubGroupPrefersARackAndStaysInTheSpineOfTheJob) {
  //   every rack has one free node: a pair has to span two racks, but not two spines
  Fill({"node0", "node2", "node4", "node6", "node8", "node10", "node12", "node14"});
  cluster_.Job(
      "train",
      {.tasks = 0, .min_available = 4, .topology = Hard(2), .sub_groups = {Parts(2, Soft())}});
  AddParts("train", 2, 2, kWholeNode);
  EXPECT_THAT(RunCycle(cluster_.state).NodesOf("train"),
              ElementsAre("node1", "node3", "node5", "node7"));
}

TEST_F(TwoSpines, SubGroupsWithoutAJobTopologyMayBeFarApart) {
  Fill({"node0", "node2", "node4", "node8", "node10", "node12"});
  cluster_.Job("train", {.tasks = 0, .min_available = 4, .sub_groups = {Parts(2, Hard(1))}});
  AddParts("train", 2, 2, kWholeNode);
  const Decisions decisions = RunCycle(cluster_.state);
  EXPECT_EQ(RacksOf(decisions, "train", 0, 2), (Names{"r3"}));
  EXPECT_EQ(RacksOf(decisions, "train", 1, 2), (Names{"r7"}));
}

TEST_F(TwoSpines, AReplacementReturnsToTheRackOfItsSubGroup) {
  cluster_.Job(
      "train",
      {.tasks = 0, .min_available = 4, .topology = Hard(2), .sub_groups = {Parts(2, Hard(1))}});
  const SubGroupKey first{0, {"0"}};
  const SubGroupKey second{0, {"1"}};
  cluster_.Running("train", {"node4", "node5"}, {.cpu = 1, .sub_group = first});
  cluster_.Running("train", {"node2"}, {.cpu = 1, .sub_group = second});
  cluster_.Task("train", {.cpu = 1, .sub_group = second});
  EXPECT_THAT(RunCycle(cluster_.state).NodesOf("train"), IsSubsetOf({"node2", "node3"}));
}

TEST_F(TwoSpines, NamesTheQuotaThatPreventsTheStart) {
  cluster_.Queue("small", {.cpu_capability = 4});
  cluster_.Job("train",
               {.tasks = 0,
                .min_available = 2,
                .topology = Hard(2),
                .queue = "small",
                .sub_groups = {Parts(2, Hard(1))}});
  AddParts("train", 1, 2, kWholeNode);
  const Decisions decisions = RunCycle(cluster_.state);
  EXPECT_THAT(decisions.binds, IsEmpty());
  EXPECT_EQ(decisions.Reason("train"), "QueueQuotaExceeded");
}

TEST_F(TwoSpines, BestEffortPodsOfAHardSubGroupStayInItsRack) {
  //   each rack has room for two pods per node; the pair fills half of r0
  ClusterBuilder cluster;
  cluster.Nodes(4, {.pods = 1}).Leaf("r0", 1, {"node0", "node1"}).Leaf("r1", 1, {"node2", "node3"});
  cluster.Above("spine", 2, {"r0", "r1"});
  cluster.Job(
      "train",
      {.tasks = 0, .min_available = 2, .topology = Hard(2), .sub_groups = {Parts(2, Hard(1))}});
  const SubGroupKey key{0, {"0"}};
  cluster.Task("train", {.sub_group = key}).Task("train", {.sub_group = key});
  TaskArgs helper = BestEffort();
  helper.sub_group = key;
  cluster.Task("train", helper);
  const Decisions decisions = RunCycle(cluster.state);
  EXPECT_EQ(decisions.NodesOf("train"), (Names{"node0", "node1"}));
  EXPECT_THAT(decisions.binds, SizeIs(2));
  EXPECT_THAT(decisions.Message("train"), HasSubstr("Insufficient pods"));
}

TEST_F(TwoSpines, ASubGroupThatWaitsIsPipelinedAndStartsLater) {
  for (int i = 2; i < 16; ++i) Fill({"node" + std::to_string(i)});
  for (const char* node : {"node0", "node1"}) {
    cluster_.Occupy(node, kWholeNode, TaskStatus::kReleasing);
  }
  cluster_.Job(
      "train",
      {.tasks = 0, .min_available = 2, .topology = Hard(2), .sub_groups = {Parts(2, Hard(1))}});
  AddParts("train", 1, 2, kWholeNode);
  Cycles cycles(cluster_.state);
  const Decisions waiting = cycles.Run();
  EXPECT_THAT(waiting.pipelined, SizeIs(2));
  EXPECT_EQ(cluster_.JobNamed("train").sub_jobs[1].allocated_hypernode, "");
  Advance(cluster_.state);
  EXPECT_EQ(RacksOf(cycles.Run(), "train", 0, 2), (Names{"r0"}));
}

TEST_F(TwoSpines, ASubGroupThatMustWaitForOneOfItsPodsStartsWhole) {
  //   r0: node0 runs part 0 with node1; r1: node2 is free, node3 is being released
  ClusterBuilder cluster;
  cluster.Nodes(4).Leaf("r0", 1, {"node0", "node1"}).Leaf("r1", 1, {"node2", "node3"});
  cluster.Job("old", {.tasks = 0, .min_available = 0});
  cluster.Task("old", {.cpu = 8, .status = TaskStatus::kReleasing, .node = "node3"});
  cluster.Job(
      "train",
      {.tasks = 0, .min_available = 2, .sub_groups = {Parts(2, Hard(1), /*min_sub_groups=*/1)}});
  cluster.Running("train", {"node0", "node1"}, {.cpu = 8, .sub_group = SubGroupKey{0, {"0"}}});
  const TaskArgs whole_node{.cpu = 8, .sub_group = SubGroupKey{0, {"1"}}};
  cluster.Task("train", whole_node).Task("train", whole_node);
  const Decisions decisions = RunCycle(cluster.state);
  EXPECT_THAT(decisions.binds, IsEmpty());
  EXPECT_THAT(decisions.pipelined, SizeIs(2));
  EXPECT_EQ(cluster.JobNamed("train").sub_jobs[2].allocated_hypernode, "");
}

TEST_F(TwoSpines, PodsOfASubGroupThatWaitsDoNotCountForTheJob) {
  //   three of five must start: part 0 can (two pods), of part 1 only one; node1 is being released
  ClusterBuilder cluster;
  cluster.Nodes(2, {.cpu = 3}).Occupy("node1", {.cpu = 3}, TaskStatus::kReleasing);
  cluster.Job("train", {.tasks = 0, .min_available = 3, .sub_groups = {Parts(2, {})}});
  const SubGroupKey first{0, {"0"}};
  const SubGroupKey second{0, {"1"}};
  cluster.Task("train", {.cpu = 1, .sub_group = first});
  cluster.Task("train", {.cpu = 1, .sub_group = first});
  cluster.Task("train", {.cpu = 1, .sub_group = second});
  cluster.Task("train", {.cpu = 3, .sub_group = second});
  const Decisions decisions = RunCycle(cluster.state);
  EXPECT_THAT(decisions.binds, IsEmpty());
  EXPECT_EQ(decisions.pipelined, (Placed{{"train-w-2", "node0"}, {"train-w-3", "node1"}}));
}

}  // namespace
}  // namespace strata
