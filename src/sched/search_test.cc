// Where jobs go, on the tree of examples/training unless a test draws another picture:
//
//   tier 3                    s6
//   tier 2          s4                  s5
//   tier 1      s0      s1          s2      s3
//   node        0 1     2 3         4 5     6 7        8 cores each
#include "sched/search.h"

#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/cluster_builder.h"
#include "tests/support/cycle.h"
#include "tests/support/recount.h"

namespace strata {
namespace {

using testing::Advance;
using testing::BestEffort;
using testing::ClusterBuilder;
using testing::ConfigWithout;
using testing::Cycles;
using testing::Decisions;
using ::testing::ElementsAre;
using ::testing::FieldsAre;
using testing::Hard;
using testing::HardAnyTier;
using testing::HardByName;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::IsSubsetOf;
using testing::kWholeNode;
using ::testing::Pair;
using testing::RunCycle;
using ::testing::SizeIs;
using testing::Soft;
using testing::TraceLog;

using Names = std::set<std::string>;

class ExampleTree : public ::testing::Test {
 protected:
  ExampleTree() { testing::AddExampleTree(cluster_); }
  void Fill(std::initializer_list<std::string> nodes, TaskStatus status = TaskStatus::kRunning) {
    for (const std::string& node : nodes) cluster_.Occupy(node, kWholeNode, status);
  }
  [[nodiscard]] const std::string& DomainOf(const char* job) const {
    return cluster_.JobNamed(job).allocated_hypernode;
  }
  ClusterBuilder cluster_;
};

// ---- hard

TEST_F(ExampleTree, HardTierTwoLandsUnderOneSpine) {
  cluster_.Job("train", {.tasks = 4, .task = kWholeNode, .topology = Hard(2)});
  EXPECT_EQ(RunCycle(cluster_.state).NodesOf("train"), (Names{"node0", "node1", "node2", "node3"}));
  EXPECT_EQ(DomainOf("train"), "s4");
}

TEST_F(ExampleTree, HardTierTwoTakesTheOtherSpineWhenTheFirstIsTaken) {
  Fill({"node2"});
  cluster_.Job("train", {.tasks = 4, .task = kWholeNode, .topology = Hard(2)});
  EXPECT_EQ(RunCycle(cluster_.state).NodesOf("train"), (Names{"node4", "node5", "node6", "node7"}));
}

TEST_F(ExampleTree, HardTierTwoNeverCrossesTheCoreAndNamesTheNearestMiss) {
  Fill({"node0", "node7"});
  cluster_.Job("train", {.tasks = 4, .task = kWholeNode, .topology = Hard(2)});
  const Decisions decisions = RunCycle(cluster_.state);
  EXPECT_THAT(decisions.binds, IsEmpty());
  EXPECT_EQ(decisions.Reason("train"), "TopologyUnsatisfied");
  EXPECT_THAT(decisions.Message("train"), HasSubstr("4/4 tasks in gang unschedulable: "));
  EXPECT_THAT(decisions.Message("train"), HasSubstr("HyperNode s1 (tier 1) takes 2 of 4"));
  EXPECT_THAT(decisions.Message("train"), HasSubstr("HyperNode s4 (tier 2) takes 3 of 4"));
  EXPECT_THAT(decisions.Message("train"), HasSubstr("Insufficient cpu"));
}

TEST_F(ExampleTree, TheLowestTierThatHoldsTheGangWins) {
  cluster_.Job("pair", {.tasks = 2, .task = kWholeNode, .topology = Hard(3)});
  EXPECT_EQ(RunCycle(cluster_.state).NodesOf("pair"), (Names{"node0", "node1"}));
  EXPECT_EQ(DomainOf("pair"), "s0");
}

TEST_F(ExampleTree, ATierNameBindsLikeItsTier) {
  Fill({"node0", "node7"});
  cluster_.Job("train", {.tasks = 4, .task = kWholeNode, .topology = HardByName("spine")});
  EXPECT_THAT(RunCycle(cluster_.state).binds, IsEmpty());
}

TEST_F(ExampleTree, AnUnknownTierNameKeepsTheJobOutOfItsQueue) {
  cluster_.Job("train", {.tasks = 1, .topology = HardByName("rakc")});
  const Decisions decisions = RunCycle(cluster_.state);
  EXPECT_THAT(decisions.binds, IsEmpty());
  EXPECT_EQ(decisions.Reason("train"), "UnknownTierName");
  EXPECT_EQ(cluster_.JobNamed("train").phase, JobPhase::kPending);
}

TEST_F(ExampleTree, HardWithoutATierMustFitOneRealHyperNode) {
  cluster_.Node("lone").Job("nine", {.tasks = 9, .task = kWholeNode, .topology = HardAnyTier()});
  EXPECT_THAT(RunCycle(cluster_.state).binds, IsEmpty());
  cluster_.Job("eight", {.tasks = 8, .task = kWholeNode, .topology = HardAnyTier()});
  EXPECT_THAT(RunCycle(cluster_.state).NodesOf("eight"), SizeIs(8));
  EXPECT_EQ(DomainOf("eight"), "s6");
}

TEST_F(ExampleTree, ATierAboveTheTopDoesNotBindAndWarns) {
  cluster_.Node("lone").Job("nine", {.tasks = 9, .task = kWholeNode, .topology = Hard(7)});
  const Decisions decisions = RunCycle(cluster_.state);
  EXPECT_THAT(decisions.binds, SizeIs(9));
  ASSERT_THAT(decisions.warnings, SizeIs(1));
  EXPECT_EQ(std::get<0>(*decisions.warnings.begin()), "PodGroup nine");
  EXPECT_EQ(std::get<1>(*decisions.warnings.begin()), "TopologyNotBinding");
}

TEST_F(ExampleTree, WarnsOfASubGroupPolicyWhoseTopologyBindsNoPod) {
  SubGroupPolicy keyless;
  keyless.name = "leader";
  keyless.topology = Hard(1);
  SubGroupPolicy keyed = keyless;
  keyed.name = "worker";
  keyed.match_label_keys = {"replica", "part"};
  SubGroupPolicy free;  // no topology, so nothing is lost
  cluster_.Job("train",
               {.tasks = 2, .task = {.missed_policy = 1}, .sub_groups = {keyless, keyed, free}});
  const std::string start = "subGroupPolicy[";
  EXPECT_THAT(
      RunCycle(cluster_.state).warnings,
      ElementsAre(
          FieldsAre("PodGroup train",
                    "TopologyNotBinding",
                    start + "0] \"leader\" has no matchLabelKeys, so it takes no pods and its "
                            "networkTopology binds none"),
          FieldsAre("PodGroup train",
                    "TopologyNotBinding",
                    start + "1] \"worker\" does not bind 2 pods by its networkTopology: without a "
                            "label of its matchLabelKeys (replica, part) a pod is in no "
                            "sub-group")));
}

TEST_F(ExampleTree, ATierBelowEveryHyperNodeIsNeverMet) {
  cluster_.Job("train", {.tasks = 1, .topology = Hard(0)});
  const Decisions decisions = RunCycle(cluster_.state);
  EXPECT_THAT(decisions.binds, IsEmpty());
  EXPECT_EQ(decisions.Reason("train"), "TopologyUnsatisfied");
}

TEST(Search, WithoutHyperNodesATopologyJobIsScheduledAsUsual) {
  ClusterBuilder cluster;
  cluster.Nodes(3).Job("hard", {.tasks = 2, .task = kWholeNode, .topology = Hard(1)});
  cluster.Job("named", {.tasks = 1, .task = kWholeNode, .topology = HardByName("x")});
  EXPECT_THAT(RunCycle(cluster.state).binds, SizeIs(3));
}

TEST_F(ExampleTree, WithoutThePluginHardWaitsAndSoftDoesNot) {
  cluster_.Job("hard", {.tasks = 1, .topology = Hard(1)});
  cluster_.Job("soft", {.tasks = 1, .topology = Soft()});
  const Decisions decisions = RunCycle(cluster_.state, ConfigWithout("network-topology-aware"));
  EXPECT_THAT(decisions.NodesOf("soft"), SizeIs(1));
  EXPECT_THAT(decisions.NodesOf("hard"), IsEmpty());
  EXPECT_EQ(decisions.Reason("hard"), "TopologyPluginDisabled");
}

// ---- soft

TEST_F(ExampleTree, SoftStaysTogetherWhereItCan) {
  Fill({"node0"});
  cluster_.Job("train", {.tasks = 4, .task = kWholeNode, .topology = Soft()});
  EXPECT_EQ(RunCycle(cluster_.state).NodesOf("train"), (Names{"node4", "node5", "node6", "node7"}));
}

TEST_F(ExampleTree, SoftSpreadsOnlyWhenNoHyperNodeHoldsTheGang) {
  cluster_.Node("lone");
  Fill({"node0", "node4"});
  cluster_.Job("train", {.tasks = 7, .task = kWholeNode, .topology = Soft()});
  EXPECT_THAT(RunCycle(cluster_.state).NodesOf("train"), SizeIs(7));
  EXPECT_EQ(DomainOf("train"), kTopHyperNodeName);
}

// ---- which of several

TEST_F(ExampleTree, TheFullerHyperNodeIsPreferred) {
  cluster_.Occupy("node4", {.cpu = 2});
  cluster_.Job("pair", {.tasks = 2, .task = {.cpu = 2}, .topology = Hard(1)});
  EXPECT_THAT(RunCycle(cluster_.state).NodesOf("pair"), IsSubsetOf({"node4", "node5"}));
}

TEST_F(ExampleTree, BreaksTiesOfHyperNodesByTheLowerName) {
  Fill({"node0"});
  cluster_.Job("pair", {.tasks = 2, .task = kWholeNode, .topology = Hard(1)});
  EXPECT_EQ(RunCycle(cluster_.state).NodesOf("pair"), (Names{"node2", "node3"}));
}

TEST_F(ExampleTree, AHyperNodeThatScoresBestButCannotHoldTheGangIsPassedOver) {
  //   s0 has 12 cores idle, but no two nodes with 6: 8 + 4
  cluster_.Occupy("node1", {.cpu = 4});
  cluster_.Job("pair", {.tasks = 2, .task = {.cpu = 6}, .topology = Hard(1)});
  TraceLog trace;
  const Decisions decisions = RunCycle(cluster_.state, DefaultSchedulerConfig(), &trace);
  EXPECT_EQ(decisions.NodesOf("pair"), (Names{"node2", "node3"}));
  const auto scores = trace.Of<HyperNodeScoreRecord>();
  ASSERT_THAT(scores, SizeIs(1));
  EXPECT_THAT(scores[0].failed, ElementsAre("s0"));
  EXPECT_EQ(scores[0].chosen, "s1");
}

TEST(Search, EightOneGpuTasksLandUnderOneTor) {
  //   spine-1: tor-1 (node-1 node-2), tor-2 (node-3 node-4)     4 GPUs each
  //   spine-2: tor-3 (node-5 node-6), tor-4 (node-7 node-8)
  ClusterBuilder cluster;
  for (int i = 1; i <= 8; ++i) cluster.Node("node-" + std::to_string(i), {.gpu = 4});
  cluster.Leaf("tor-1", 1, {"node-1", "node-2"}).Leaf("tor-2", 1, {"node-3", "node-4"});
  cluster.Leaf("tor-3", 1, {"node-5", "node-6"}).Leaf("tor-4", 1, {"node-7", "node-8"});
  cluster.Above("spine-1", 2, {"tor-1", "tor-2"}).Above("spine-2", 2, {"tor-3", "tor-4"});
  cluster.Job("train", {.tasks = 8, .task = {.cpu = 1, .gpu = 1}, .topology = Hard(2)});
  const Decisions decisions = RunCycle(cluster.state);
  EXPECT_THAT(decisions.binds, SizeIs(8));
  EXPECT_EQ(decisions.NodesOf("train"), (Names{"node-1", "node-2"}));
}

TEST_F(ExampleTree, ConsecutiveRanksFillALeafBeforeTheNextIsOpened) {
  cluster_.Job("train", {.tasks = 14, .task = {.cpu = 2}, .topology = Hard(2)});
  const Decisions decisions = RunCycle(cluster_.state);
  ASSERT_THAT(decisions.binds, SizeIs(14));
  std::vector<std::string> leaves;  // as the ranks visit them
  for (int rank = 0; rank < 14; ++rank) {
    const std::string& node = decisions.binds.at("train-w-" + std::to_string(rank));
    const HyperNodeTree& tree = cluster_.state.tree();
    const std::string& leaf = tree.at(tree.LeafOf(tree.ChainOf(cluster_.FindNode(node)))).name;
    if (leaves.empty() || leaves.back() != leaf) leaves.push_back(leaf);
  }
  EXPECT_THAT(leaves, ElementsAre("s0", "s1"));
}

// ---- jobs that run already

TEST_F(ExampleTree, AnElasticJobStartsWithTheTasksThatFitItsRack) {
  cluster_.Job("train", {.tasks = 4, .task = kWholeNode, .min_available = 2, .topology = Hard(1)});
  const Decisions decisions = RunCycle(cluster_.state);
  EXPECT_THAT(decisions.binds, ElementsAre(Pair("train-w-0", "node0"), Pair("train-w-1", "node1")));
  EXPECT_NE(decisions.Reason("train"), "");  // of the other two
}

TEST_F(ExampleTree, AJobThatRunsPartlyStaysInItsDomain) {
  //   two of the gang run in s2; node5 is taken, so the third goes to s3, which is under s5 too
  cluster_.Job("train", {.tasks = 1, .task = kWholeNode, .min_available = 2, .topology = Hard(2)});
  cluster_.Running("train", {"node4"}, kWholeNode);
  Fill({"node5"});
  EXPECT_THAT(RunCycle(cluster_.state).NodesOf("train"), IsSubsetOf({"node6", "node7"}));
  EXPECT_EQ(DomainOf("train"), "s5");
}

TEST_F(ExampleTree, AJobThatRunsPartlyWaitsRatherThanLeaveItsDomain) {
  cluster_.Job("train", {.tasks = 1, .task = kWholeNode, .min_available = 2, .topology = Hard(1)});
  cluster_.Running("train", {"node4"}, kWholeNode);
  Fill({"node5"});
  const Decisions decisions = RunCycle(cluster_.state);
  EXPECT_THAT(decisions.binds, IsEmpty());
  EXPECT_THAT(decisions.Message("train"), HasSubstr("HyperNode s2 (tier 1) takes 0 of 1"));
}

TEST_F(ExampleTree, AfterARestartTheDomainIsFoundWhereTheTasksRun) {
  //   nothing is remembered, two of three run in s1: the third must come to s1, though s0 is empty
  cluster_.Job("train", {.tasks = 1, .task = {.cpu = 1}, .min_available = 3, .topology = Hard(1)});
  cluster_.Running("train", {"node2", "node3"}, {.cpu = 1});
  EXPECT_THAT(RunCycle(cluster_.state).NodesOf("train"), IsSubsetOf({"node2", "node3"}));
  EXPECT_EQ(DomainOf("train"), "s1");
}

TEST_F(ExampleTree, AHardJobThatAlreadySpansTooMuchGetsNothingMore) {
  cluster_.Job("train", {.tasks = 1, .min_available = 1, .topology = Hard(1)});
  cluster_.Running("train", {"node0", "node7"});
  const Decisions decisions = RunCycle(cluster_.state);
  EXPECT_THAT(decisions.binds, IsEmpty());
  EXPECT_EQ(decisions.Reason("train"), "TopologyUnsatisfied");
}

TEST_F(ExampleTree, AJobWhoseNodesMovedToAnotherRackFollowsThem) {
  //   train runs on node0; the labels of node0 move it from s0 to s1
  cluster_.Job("train", {.tasks = 1, .min_available = 1, .topology = Hard(1)});
  cluster_.Running("train", {"node0"});
  Fill({"node1"});
  Cycles cycles(cluster_.state);
  cycles.Run();
  cluster_.Leaf("s0", 1, {"node1"}).Leaf("s1", 1, {"node0", "node2", "node3"});
  Advance(cluster_.state);
  cluster_.Task("train", kWholeNode);
  EXPECT_THAT(cycles.Run().NodesOf("train"), IsSubsetOf({"node0", "node2", "node3"}));
}

// ---- BestEffort

TEST_F(ExampleTree, BestEffortPodsOfAHardJobStayInItsDomain) {
  //   the gang fills s4's nodes but for their pod slots; the emptier s5 would score better
  cluster_.Job("train", {.tasks = 2, .task = kWholeNode, .min_available = 2, .topology = Hard(1)});
  cluster_.Task("train", BestEffort()).Task("train", BestEffort());
  const Decisions decisions = RunCycle(cluster_.state);
  EXPECT_THAT(decisions.binds, SizeIs(4));
  EXPECT_EQ(decisions.NodesOf("train"), (Names{"node0", "node1"}));
}

TEST(Search, ABestEffortPodThatFindsNoSlotInTheDomainWaits) {
  ClusterBuilder cluster;
  cluster.Node("node0", {.pods = 1}).Node("node1");
  cluster.Leaf("s0", 1, {"node0"}).Leaf("s1", 1, {"node1"});
  cluster.Job("train", {.tasks = 0, .min_available = 1, .topology = Hard(1)});
  cluster.Running("train", {"node0"}).Task("train", BestEffort());
  const Decisions decisions = RunCycle(cluster.state);
  EXPECT_THAT(decisions.binds, IsEmpty());
  EXPECT_THAT(decisions.Message("train"), HasSubstr("Insufficient pods"));
}

TEST(Search, AJobOfBestEffortPodsAloneIsNotBoundByTopology) {
  ClusterBuilder cluster;
  cluster.Node("node0", {.pods = 1}).Node("node1", {.pods = 1});
  cluster.Leaf("s0", 1, {"node0"}).Leaf("s1", 1, {"node1"});
  cluster.Job("train", {.tasks = 2, .task = BestEffort(), .topology = Hard(1)});
  const Decisions decisions = RunCycle(cluster.state);
  EXPECT_THAT(decisions.binds, SizeIs(2));
  ASSERT_THAT(decisions.warnings, SizeIs(1));
  EXPECT_EQ(std::get<1>(*decisions.warnings.begin()), "TopologyIgnoredForBestEffort");
}

// ---- waiting for what is released

TEST_F(ExampleTree, AGangWaitsForPodsThatTerminateAndStartsWhenTheyAreGone) {
  Fill({"node0", "node1"}, TaskStatus::kReleasing);
  Fill({"node2", "node3", "node4", "node5", "node6", "node7"});
  cluster_.Job("pair", {.tasks = 2, .task = kWholeNode, .topology = Hard(1)});
  Cycles cycles(cluster_.state);
  const Decisions waiting = cycles.Run();
  EXPECT_THAT(waiting.binds, IsEmpty());
  EXPECT_THAT(waiting.pipelined, ElementsAre(Pair("pair-w-0", "node0"), Pair("pair-w-1", "node1")));
  EXPECT_EQ(waiting.Reason("pair"), "WaitingForRelease");
  EXPECT_EQ(DomainOf("pair"), "");  // it has nothing yet
  EXPECT_EQ(cluster_.JobNamed("pair").counts.Of(TaskStatus::kPending), 2);
  EXPECT_EQ(testing::RecountMistakes(cluster_.state), "");
  Advance(cluster_.state);
  EXPECT_EQ(cycles.Run().NodesOf("pair"), (Names{"node0", "node1"}));
}

TEST_F(ExampleTree, StartingNowAtAHigherTierBeatsWaitingAtALowerOne) {
  //   s0 is being released as a whole; s5 has a free node in each of its racks
  Fill({"node0", "node1"}, TaskStatus::kReleasing);
  Fill({"node2", "node3", "node4", "node6"});
  cluster_.Job("pair", {.tasks = 2, .task = kWholeNode, .topology = Hard(2)});
  const Decisions decisions = RunCycle(cluster_.state);
  EXPECT_EQ(decisions.NodesOf("pair"), (Names{"node5", "node7"}));
  EXPECT_THAT(decisions.pipelined, IsEmpty());
}

TEST(Search, WhatAWaitingGangHoldsIsNotGivenToALaterJob) {
  //   node0: 2 cores idle, 2 being released; "big" needs all 4
  ClusterBuilder cluster;
  cluster.Node("node0", {.cpu = 4}).Occupy("node0", {.cpu = 2}, TaskStatus::kReleasing);
  cluster.Job("big", {.tasks = 1, .task = {.cpu = 4}, .priority = 9});
  cluster.Job("small", {.tasks = 1, .task = {.cpu = 1}});
  Cycles cycles(cluster.state);
  const Decisions decisions = cycles.Run();
  EXPECT_THAT(decisions.binds, IsEmpty());
  EXPECT_THAT(decisions.pipelined, ElementsAre(Pair("big-w-0", "node0")));
  EXPECT_NE(decisions.Reason("small"), "");
  Advance(cluster.state);
  EXPECT_THAT(cycles.Run().binds, ElementsAre(Pair("big-w-0", "node0")));
}

TEST_F(ExampleTree, AnExtraPodThatOnlyWaitsDoesNotExtendTheDomain) {
  //   the gang of one runs in s0, which is full; its extra waits for node2 of s1
  Fill({"node2"}, TaskStatus::kReleasing);
  Fill({"node1", "node3", "node4", "node5", "node6", "node7"});
  cluster_.Job("train", {.tasks = 1, .task = kWholeNode, .min_available = 1, .topology = Hard(2)});
  cluster_.Running("train", {"node0"}, kWholeNode);
  const Decisions decisions = RunCycle(cluster_.state);
  EXPECT_THAT(decisions.pipelined, ElementsAre(Pair("train-w-0", "node2")));
  EXPECT_EQ(DomainOf("train"), "s0");
}

}  // namespace
}  // namespace strata
