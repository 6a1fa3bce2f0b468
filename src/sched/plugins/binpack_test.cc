#include "sched/plugins/binpack.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sched/plugins/test_cluster.h"

namespace strata {
namespace {

using ::testing::ElementsAre;

double ScoreOf(const TestPlugin& plugin,
               const TestCluster& cluster,
               const Shape& pod,
               NodeId node) {
  Score score = 0;
  plugin.As<NodeScorePoint>().ScoreNodes(
      cluster.state, cluster.ClassOf(pod), std::span(&node, 1), std::span(&score, 1));
  return ToDouble(score);
}

// n0: 8 cores, 16 GB, 8 GPUs, of which 2 cores, 2 GB, 4 GPUs are in use.
struct OneNode : TestCluster {
  OneNode() {
    AddQueue("default");
    AddTask(AddJob("ns/other", "default"), {.cpu = 2, .memory = 2, .gpu = 4}, "n0");
  }
  NodeId n0 = AddNode("n0", {.cpu = 8, .memory = 16, .gpu = 8});
};

TEST(Binpack, ScoresTheMeanFullnessOfWhatIsRequested) {
  OneNode cluster;
  const TestPlugin plugin = OpenPlugin(cluster, "binpack");
  EXPECT_NEAR(ScoreOf(plugin, cluster, {.cpu = 2, .memory = 6}, cluster.n0),
              100 * (4.0 / 8 + 8.0 / 16) / 2,
              1e-6);
  EXPECT_NEAR(ScoreOf(plugin, cluster, {.cpu = 2}, cluster.n0), 50, 1e-6);
  EXPECT_NEAR(ScoreOf(plugin, cluster, {.gpu = 4}, cluster.n0), 0, 1e-6);  // no weight by default
}

TEST(Binpack, WeighsListedResources) {
  OneNode cluster;
  const TestPlugin plugin = OpenPlugin(cluster,
                                       "binpack",
                                       {{"binpack.weight", std::int64_t{10}},
                                        {"binpack.cpu", "5"},
                                        {"binpack.memory", std::int64_t{0}},
                                        {"binpack.resources", "nvidia.com/gpu, example.com/foo"},
                                        {"binpack.resources.nvidia.com/gpu", std::int64_t{2}}});
  EXPECT_NEAR(ScoreOf(plugin, cluster, {.cpu = 2, .memory = 6, .gpu = 2}, cluster.n0),
              1000 * (5 * 4.0 / 8 + 2 * 6.0 / 8) / 7,
              1e-6);
}

TEST(Binpack, AnyWeightedOverflowMakesTheWholeScoreZero) {
  OneNode cluster;
  const TestPlugin plugin = OpenPlugin(cluster, "binpack");
  EXPECT_EQ(ScoreOf(plugin, cluster, {.cpu = 7, .memory = 1}, cluster.n0), 0);
}

TEST(Binpack, AResourceTheNodeLacksAddsNothingButItsWeightCounts) {
  TestCluster cluster;
  const NodeId node = cluster.AddNode("n0", {.cpu = 4, .memory = 4});
  const TestPlugin plugin =
      OpenPlugin(cluster, "binpack", {{"binpack.resources", "nvidia.com/gpu"}});
  EXPECT_NEAR(ScoreOf(plugin, cluster, {.cpu = 4, .gpu = 1}, node), 50, 1e-6);
}

TEST(Binpack, ANegativeWeightReversesTheOrderAndOtherNegativesMeanTheDefault) {
  OneNode cluster;
  const TestPlugin plugin =
      OpenPlugin(cluster,
                 "binpack",
                 {{"binpack.weight", std::int64_t{-1}}, {"binpack.memory", std::int64_t{-3}}});
  EXPECT_NEAR(ScoreOf(plugin, cluster, {.cpu = 2, .memory = 6}, cluster.n0), -50, 1e-6);
}

TEST(Binpack, RefusesWeightsThatCouldOverflowASum) {
  ResourceNames names;
  for (const char* key : {"binpack.weight", "binpack.cpu", "binpack.memory"}) {
    const auto made = TryPlugin("binpack", {{key, std::int64_t{1'000'001}}}, names);
    ASSERT_FALSE(made.has_value());
    EXPECT_EQ(made.error().message,
              std::string("binpack: ") + key + ": want a weight of at most 1000000, found 1000001");
  }
  EXPECT_FALSE(TryPlugin("binpack", {{"binpack.weight", std::int64_t{-1'000'001}}}, names));
}

TEST(Binpack, WarnsOfWeightsOfResourcesThatAreNotListed) {
  TestCluster cluster;
  const TestPlugin plugin = OpenPlugin(cluster,
                                       "binpack",
                                       {{"binpack.resources", "nvidia.com/gpu"},
                                        {"binpack.resources.example.com/foo", std::int64_t{2}},
                                        {"binpack.gpu", std::int64_t{2}}});
  EXPECT_THAT(plugin.warnings,
              ElementsAre("binpack: binpack.gpu: unknown argument, ignored",
                          "binpack: binpack.resources.example.com/foo: ignored, since "
                          "binpack.resources does not list the resource"));
}

}  // namespace
}  // namespace strata
