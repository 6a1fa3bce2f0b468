#include "sched/plugins/nodeorder.h"

#include <array>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sched/plugins/test_cluster.h"

namespace strata {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(LeastAllocatedScore, IsTheFreePercentageRoundedDown) {
  EXPECT_EQ(LeastAllocatedScore({.requested = 1000, .capacity = 3000}), 66);
  EXPECT_EQ(LeastAllocatedScore({.requested = 0, .capacity = 3000}), 100);
  EXPECT_EQ(LeastAllocatedScore({.requested = 3001, .capacity = 3000}), 0);
  EXPECT_EQ(LeastAllocatedScore({.requested = 0, .capacity = 0}), 0);
}

TEST(MostAllocatedScore, IsTheUsedPercentageRoundedDownAndCapped) {
  EXPECT_EQ(MostAllocatedScore({.requested = 1000, .capacity = 3000}), 33);
  EXPECT_EQ(MostAllocatedScore({.requested = 9000, .capacity = 3000}), 100);
  EXPECT_EQ(MostAllocatedScore({.requested = 9000, .capacity = 0}), 0);
}

TEST(PercentScores, DoNotOverflowOnTheLargestNodes) {
  constexpr Amount kHuge = Amount{1} << 62;
  EXPECT_EQ(LeastAllocatedScore({.requested = kHuge / 4, .capacity = kHuge}), 75);
  EXPECT_EQ(MostAllocatedScore({.requested = kHuge / 4, .capacity = kHuge}), 25);
}

TEST(EvennessScore, FallsWithTheDeviationOfTheShares) {
  using Uses = std::vector<ResourceUse>;
  EXPECT_EQ(EvennessScore(Uses{}), 100);
  EXPECT_EQ(EvennessScore(Uses{{1, 4}}), 100);
  EXPECT_EQ(EvennessScore(Uses{{1, 4}, {3, 4}}), 75);          // |1/4 - 3/4| / 2
  EXPECT_EQ(EvennessScore(Uses{{1, 4}, {3, 4}, {7, 0}}), 75);  // no capacity: left out
  EXPECT_EQ(EvennessScore(Uses{{0, 4}, {2, 4}, {4, 4}}), 59);  // sqrt(1/6) = 0.408
  EXPECT_EQ(EvennessScore(Uses{{0, 4}, {9, 4}}), 50);          // shares are at most 1
}

TEST(BalancedScore, IsHigherForAPodThatBalancesItsNode) {
  const std::array uneven = {ResourceUse{0, 4}, ResourceUse{4, 4}};  // 50
  const std::array even = {ResourceUse{4, 4}, ResourceUse{4, 4}};    // 100
  EXPECT_EQ(BalancedScore(even, even), 75);
  EXPECT_EQ(BalancedScore(uneven, even), 100);
  EXPECT_EQ(BalancedScore(even, uneven), 50);
}

TEST(TaintScore, IsReversedAndScaledToTheWorstNode) {
  EXPECT_EQ(TaintScore(0, 0), 100);
  EXPECT_EQ(TaintScore(0, 3), 100);
  EXPECT_EQ(TaintScore(1, 3), 67);  // 100 - 33
  EXPECT_EQ(TaintScore(3, 3), 0);
}

std::int64_t ScoreOf(const TestPlugin& plugin,
                     const TestCluster& cluster,
                     const ClassSpec& pod,
                     NodeId node) {
  Score score = 0;
  plugin.As<NodeScorePoint>().ScoreNodes(
      cluster.state, pod, std::span(&node, 1), std::span(&score, 1));
  EXPECT_EQ(score % kScoreUnit, 0);
  return score / kScoreUnit;
}

TestArguments Only(const char* key, std::int64_t weight) {
  TestArguments arguments;
  for (const char* other : {"leastrequested.weight",
                            "mostrequested.weight",
                            "balancedresource.weight",
                            "nodeaffinity.weight",
                            "tainttoleration.weight"}) {
    arguments.emplace_back(other, std::string_view(other) == key ? weight : 0);
  }
  return arguments;
}

TEST(Nodeorder, LeastAndMostCountContainersWithoutRequestsByTheirDefaults) {
  //   4 cores and 4 GB; the pod asks for nothing but counts as 1 core and 2 GB
  TestCluster cluster;
  const NodeId node = cluster.AddNode("n0", {.cpu = 4, .memory = 4});
  ClassSpec pod;
  pod.nonzero_cpu = 1000;
  pod.nonzero_memory = 2 * kGiga;
  const auto score = [&](const char* key) {
    return ScoreOf(OpenPlugin(cluster, "nodeorder", Only(key, 10)), cluster, pod, node);
  };
  EXPECT_EQ(score("leastrequested.weight"), 10 * ((75 + 50) / 2));
  EXPECT_EQ(score("mostrequested.weight"), 10 * ((25 + 50) / 2));
}

TEST(Nodeorder, BalanceCountsGpusOnlyForPodsThatAskForThem) {
  //   4 cores, 4 GB, 4 GPUs, empty
  TestCluster cluster;
  const NodeId node = cluster.AddNode("n0", {.cpu = 4, .memory = 4, .gpu = 4});
  const TestPlugin plugin = OpenPlugin(cluster, "nodeorder", Only("balancedresource.weight", 1));
  //   shares 1/2, 1/4 -> 1 - 1/8 -> 87; empty 100: 50 + (50 + 87 - 100) / 2
  EXPECT_EQ(ScoreOf(plugin, cluster, cluster.ClassOf({.cpu = 2, .memory = 1}), node), 50 + 37 / 2);
  //   shares 0, 0, 1 -> sqrt(2/9) = 0.4714 -> 52
  EXPECT_EQ(ScoreOf(plugin, cluster, cluster.ClassOf({.gpu = 4}), node), 50 + 2 / 2);
}

TEST(Nodeorder, PreferredAffinityIsTheSumOfMatchingWeights) {
  TestCluster cluster;
  NodeSpec spec;
  spec.name = "n0";
  spec.labels = {{"zone", "a"}, {"disk", "ssd"}};
  const NodeId node = cluster.AddNode(std::move(spec));
  const auto term = [](const char* key, const char* value, std::int32_t weight) {
    return PreferredTerm{
        .weight = weight,
        .term = {.labels = {{.key = key, .op = SelectorOp::kIn, .values = {value}}}, .fields = {}}};
  };
  ClassSpec pod;
  pod.affinity.preferred = {term("zone", "a", 80), term("disk", "ssd", 50), term("zone", "b", 7)};
  const TestPlugin plugin = OpenPlugin(cluster, "nodeorder", Only("nodeaffinity.weight", 2));
  EXPECT_EQ(ScoreOf(plugin, cluster, pod, node), 260);
}

TEST(Nodeorder, TheDefaultsAreVolcanos) {
  //   empty 4 cores, 4 GB: least 50, balanced 75, no affinity
  TestCluster cluster;
  const NodeId node = cluster.AddNode("n0", {.cpu = 4, .memory = 4});
  const TestPlugin plugin = OpenPlugin(cluster, "nodeorder");
  EXPECT_EQ(ScoreOf(plugin, cluster, cluster.ClassOf({.cpu = 2, .memory = 2}), node), 50 + 75);
}

TEST(Nodeorder, NodesWithUntoleratedPreferencesScoreLower) {
  TestCluster cluster;
  const auto tainted = [&](const char* name, int taints) {
    NodeSpec spec;
    spec.name = name;
    for (int i = 0; i < taints; ++i) {
      spec.taints.push_back(
          {.key = "t" + std::to_string(i), .value = "", .effect = TaintEffect::kPreferNoSchedule});
    }
    return cluster.AddNode(std::move(spec));
  };
  const TestPlugin plugin = OpenPlugin(cluster, "nodeorder");
  const auto& scaled = plugin.As<ScaledScorePoint>();
  EXPECT_TRUE(scaled.IsUniform(cluster.state, {}));
  const std::vector<NodeId> nodes = {tainted("n0", 0), tainted("n1", 1), tainted("n2", 3)};
  std::vector<Score> scores(3);
  ClassSpec pod;
  EXPECT_FALSE(scaled.IsUniform(cluster.state, pod));
  scaled.ScoreFeasible(cluster.state, pod, nodes, scores);
  EXPECT_THAT(scores, ElementsAre(300 * kScoreUnit, 201 * kScoreUnit, 0));
  pod.tolerations = {
      {.key = "", .op = Toleration::Op::kExists, .value = "", .effect = std::nullopt}};
  EXPECT_TRUE(scaled.IsUniform(cluster.state, pod));
  scaled.ScoreFeasible(cluster.state, pod, nodes, scores);
  EXPECT_THAT(scores, ElementsAre(300 * kScoreUnit, 300 * kScoreUnit, 300 * kScoreUnit));
}

TEST(Nodeorder, PartsThatDoNotExistWarnOnlyWhenTheyAreWeighed) {
  TestCluster cluster;
  EXPECT_THAT(
      OpenPlugin(cluster, "nodeorder", {{"imagelocality.weight", std::int64_t{0}}}).warnings,
      IsEmpty());
  EXPECT_THAT(OpenPlugin(cluster, "nodeorder", {{"imagelocality.weight", "2"}}).warnings,
              ElementsAre("nodeorder: imagelocality.weight: has no effect in this version"));
  ResourceNames names;
  EXPECT_FALSE(TryPlugin("nodeorder", {{"podtopologyspread.weight", 0.5}}, names).has_value());
}

}  // namespace
}  // namespace strata
