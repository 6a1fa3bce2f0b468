#include "sched/plugins/network_topology_aware.h"

#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sched/plugins/test_cluster.h"

namespace strata {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

using Scores = std::map<std::string, double>;

void ExpectNear(const Scores& found, const Scores& wanted) {
  for (const auto& [name, score] : wanted) {
    ASSERT_TRUE(found.contains(name)) << name;
    EXPECT_NEAR(found.at(name), score, 1e-6) << name;
  }
}

//   s0 (3)
//   s1 (2)                          s2 (2)
//   s3 2x(2c,4G)   s4 2x(4c,4G)     s5 2x(2c,8G)   s6 2x(4c,8G)      tier 1; nodes s3-a, s3-b, ...
struct GoldenCluster : TestCluster {
  GoldenCluster() {
    AddQueue("default");
    AddPair("s3", {.cpu = 2, .memory = 4});
    AddPair("s4", {.cpu = 4, .memory = 4});
    AddPair("s5", {.cpu = 2, .memory = 8});
    AddPair("s6", {.cpu = 4, .memory = 8});
    AddParent("s1", 2, {"s3", "s4"});
    AddParent("s2", 2, {"s5", "s6"});
    AddParent("s0", 3, {"s1", "s2"});
  }
  void AddPair(const std::string& name, const Shape& shape) {
    AddNode(name + "-a", shape);
    AddNode(name + "-b", shape);
    AddLeaf(name, 1, {(name + "-a").c_str(), (name + "-b").c_str()});
  }

  JobId AddTopologyJob() {
    JobSpec spec;
    spec.name = "ns/gang";
    spec.queue = "default";
    spec.topology.mode = TopologySpec::Mode::kHard;
    return state.workload().UpsertJob(std::move(spec));
  }
  [[nodiscard]] const SubJob& SubJobOf(JobId job) const {
    return state.workload().job(job).sub_jobs[0];
  }

  // Scores of HyperNodes, by name.
  [[nodiscard]] Scores ScoreHyperNodes(const TestPlugin& plugin,
                                       const HyperNodeScoreQuery& query,
                                       const std::vector<std::string>& names) const {
    std::vector<HyperNodeId> ids;
    for (const std::string& name : names) ids.push_back(HyperNode(name));
    std::vector<Score> scores(ids.size());
    plugin.As<HyperNodeScorePoint>().ScoreHyperNodes(state, query, ids, scores);
    Scores by_name;
    for (std::size_t i = 0; i < ids.size(); ++i) by_name[names[i]] = ToDouble(scores[i]);
    return by_name;
  }

  // Scores of the nodes of each chain, by the name of its leaf; every node takes the pod.
  [[nodiscard]] Scores ScoreChains(const TestPlugin& plugin,
                                   JobId job,
                                   const ClassSpec& pod,
                                   std::string_view allocated = "") const {
    const HyperNodeTree& tree = state.tree();
    Placement placement{.job = &state.workload().job(job),
                        .sub_job = &SubJobOf(job),
                        .spec = &pod,
                        .allocated = {}};
    if (!allocated.empty()) placement.allocated = HyperNode(allocated);
    std::vector<ChainGroup> groups;
    for (std::size_t i = 0; i < tree.chain_count(); ++i) {
      ChainGroup group;
      group.chain = IdAt<ChainId>(i);
      group.leaf = tree.LeafOf(group.chain);
      for (const NodeId node : state.nodes().all()) {
        group.feasible += tree.ChainOf(node) == group.chain;
      }
      group.lca_tier = tree.at(tree.Lca(group.leaf, placement.allocated)).tier;
      group.same_as_allocated = group.leaf == placement.allocated;
      group.tasks_on_leaf = TasksIn(state, SubJobOf(job), group.leaf);
      groups.push_back(group);
    }
    std::vector<Score> scores(groups.size(), -1);
    plugin.As<ChainScorePoint>().ScoreChains(state, placement, groups, scores);
    Scores by_leaf;
    for (std::size_t i = 0; i < groups.size(); ++i) {
      by_leaf[tree.at(groups[i].leaf).name] = ToDouble(scores[i]);
    }
    return by_leaf;
  }
};

// ---- HyperNodes --------------------------------------------------------------------------------

TEST(HyperNodeScores, AreTheMeanFullnessWithTheGang) {
  GoldenCluster c;
  const JobId job = c.AddTopologyJob();
  c.AddTask(job, {.cpu = 4, .memory = 4});
  c.AddTask(job, {.cpu = 4, .memory = 4});
  const Resources pending = c.Amounts({.cpu = 8, .memory = 8}, 2);
  const HyperNodeScoreQuery query{
      .sub_job = &c.SubJobOf(job), .pending = &pending, .need = &pending};
  const TestPlugin plugin = OpenPlugin(c, "network-topology-aware");
  ExpectNear(
      c.ScoreHyperNodes(
          plugin, query, {"s0", "s1", "s2", "s3", "s4", "s5", "s6", "<cluster-top-hypernode>"}),
      {{"s0", 25},
       {"s1", 100 * (8.0 / 12 + 8.0 / 16) / 2},
       {"s2", 100 * (8.0 / 12 + 8.0 / 32) / 2},
       {"s3", 0},
       {"s4", 100},
       {"s5", 0},
       {"s6", 75},
       {"<cluster-top-hypernode>", 25}});
}

TEST(HyperNodeScores, WeighOnlyWhatIsRequested) {
  GoldenCluster c;
  const JobId job = c.AddTopologyJob();
  const Resources pending = c.Amounts({.cpu = 4});
  const HyperNodeScoreQuery query{
      .sub_job = &c.SubJobOf(job), .pending = &pending, .need = &pending};
  const TestPlugin plugin = OpenPlugin(c,
                                       "network-topology-aware",
                                       {{"weight", std::int64_t{10}},
                                        {"hypernode.binpack.cpu", std::int64_t{5}},
                                        {"hypernode.binpack.memory", std::int64_t{7}}});
  ExpectNear(c.ScoreHyperNodes(plugin, query, {"s3", "s4"}), {{"s3", 1000}, {"s4", 500}});
}

TEST(HyperNodeScores, WeighListedResources) {
  TestCluster c;
  c.AddNode("n0", {.cpu = 10, .memory = 10, .gpu = 8});
  c.AddLeaf("leaf", 1, {"n0"});
  const Resources pending = c.Amounts({.cpu = 5, .gpu = 8});
  SubJob sub_job;
  const HyperNodeScoreQuery query{.sub_job = &sub_job, .pending = &pending, .need = &pending};
  const std::vector<HyperNodeId> ids = {c.HyperNode("leaf")};
  const auto score = [&](const TestArguments& arguments) {
    Score out = 0;
    OpenPlugin(c, "network-topology-aware", arguments)
        .As<HyperNodeScorePoint>()
        .ScoreHyperNodes(c.state, query, ids, std::span(&out, 1));
    return ToDouble(out);
  };
  EXPECT_NEAR(score({}), 50, 1e-6);
  EXPECT_NEAR(score({{"hypernode.binpack.resources", "nvidia.com/gpu"}}), 75, 1e-6);
  EXPECT_NEAR(score({{"hypernode.binpack.resources", "nvidia.com/gpu"},
                     {"hypernode.binpack.resources.nvidia.com/gpu", std::int64_t{3}}}),
              100 * (0.5 + 3 * 1.0) / 4,
              1e-6);
}

TEST(HyperNodeScores, UseWhatTheGangNeedsWhenNoneHoldsAllPendingTasks) {
  //   3 pods of 4 cores, 2 make the gang: no leaf holds 12 cores, s4 and s6 hold 8
  GoldenCluster c;
  const JobId job = c.AddTopologyJob();
  const Resources pending = c.Amounts({.cpu = 12});
  const Resources need = c.Amounts({.cpu = 8});
  const HyperNodeScoreQuery query{.sub_job = &c.SubJobOf(job), .pending = &pending, .need = &need};
  const TestPlugin plugin = OpenPlugin(c, "network-topology-aware");
  ExpectNear(c.ScoreHyperNodes(plugin, query, {"s3", "s4", "s6"}),
             {{"s3", 0}, {"s4", 100}, {"s6", 100}});
  ExpectNear(c.ScoreHyperNodes(plugin, query, {"s1", "s3"}), {{"s1", 100}, {"s3", 0}});
}

TEST(HyperNodeScores, TasksAlreadyThereDecideAmongTheBest) {
  //   s3 and s5 would both be full of cpu; 1 of the 4 tasks runs in s5, 1 in s6
  GoldenCluster c;
  const JobId job = c.AddTopologyJob();
  c.AddTask(job, Shape{.memory = 1}, "s5-a");
  c.AddTask(job, Shape{.memory = 1}, "s6-a");
  c.AddTask(job, {.cpu = 2});
  c.AddTask(job, {.cpu = 2});
  const Resources pending = c.Amounts({.cpu = 4});
  const HyperNodeScoreQuery query{
      .sub_job = &c.SubJobOf(job), .pending = &pending, .need = &pending};
  const TestPlugin plugin = OpenPlugin(c, "network-topology-aware");
  ExpectNear(c.ScoreHyperNodes(plugin, query, {"s3", "s5", "s6"}),
             {{"s3", 100}, {"s5", 125}, {"s6", 50}});
}

TEST(HyperNodeScores, CountWhatIsUsedAndPipelined) {
  GoldenCluster c;
  const JobId job = c.AddTopologyJob();
  const JobId other = c.AddJob("ns/other", "default");
  c.AddTask(other, {.cpu = 2}, "s4-a");
  c.state.journal().Pipeline(c.AddTask(other, {.cpu = 2}), *c.state.nodes().Find("s4-b"));
  const Resources pending = c.Amounts({.cpu = 1});
  const HyperNodeScoreQuery query{
      .sub_job = &c.SubJobOf(job), .pending = &pending, .need = &pending};
  const TestPlugin plugin = OpenPlugin(c, "network-topology-aware");
  ExpectNear(c.ScoreHyperNodes(plugin, query, {"s4"}), {{"s4", 100 * 5.0 / 8}});
}

// ---- nodes, for pods with topology -------------------------------------------------------------

TEST(TopologyNodeScores, FallWithTheTierOfTheCommonHyperNode) {
  GoldenCluster c;
  c.AddNode("outside", {.cpu = 8, .memory = 8});
  const JobId job = c.AddTopologyJob();
  c.AddTask(job, {.cpu = 1});
  const TestPlugin plugin = OpenPlugin(c, "network-topology-aware");
  ExpectNear(c.ScoreChains(plugin, job, {}, "s3"),
             {{"s3", 100},
              {"s4", 200.0 / 3},
              {"s5", 100.0 / 3},
              {"s6", 100.0 / 3},
              {"<cluster-top-hypernode>", 0}});
}

TEST(TopologyNodeScores, AreNothingForTheFirstPod) {
  GoldenCluster c;
  const JobId job = c.AddTopologyJob();
  c.AddTask(job, {.cpu = 1});
  const TestPlugin plugin = OpenPlugin(c, "network-topology-aware");
  ExpectNear(c.ScoreChains(plugin, job, {}), {{"s3", 0}, {"s4", 0}, {"s5", 0}, {"s6", 0}});
}

TEST(TopologyNodeScores, TasksOnTheLeafDecideAmongTheBest) {
  //   s1 is what the gang has: 2 of its 4 tasks in s3, 1 in s4
  GoldenCluster c;
  const JobId job = c.AddTopologyJob();
  c.AddTask(job, {.cpu = 1}, "s3-a");
  c.AddTask(job, {.cpu = 1}, "s3-b");
  c.AddTask(job, {.cpu = 1}, "s4-a");
  c.AddTask(job, {.cpu = 1});
  const TestPlugin plugin = OpenPlugin(c, "network-topology-aware");
  ExpectNear(c.ScoreChains(plugin, job, {}, "s1"),
             {{"s3", 200.0 / 3 + 50}, {"s4", 200.0 / 3 + 25}, {"s5", 100.0 / 3}});
}

TEST(TopologyNodeScores, OneTierKnowsOnlyHereAndElsewhere) {
  GoldenCluster c;
  for (const char* name : {"s0", "s1", "s2"}) c.state.RemoveHyperNode(name);
  const JobId job = c.AddTopologyJob();
  c.AddTask(job, {.cpu = 1});
  const TestPlugin plugin = OpenPlugin(c, "network-topology-aware");
  ExpectNear(c.ScoreChains(plugin, job, {}, "s3"), {{"s3", 100}, {"s4", 0}, {"s5", 0}});
}

TEST(TopologyNodeScores, ASingleBestNodeGetsNoShareOfTasks) {
  GoldenCluster c;
  const JobId job = c.AddTopologyJob();
  c.AddTask(job, {.cpu = 1}, "s3-a");
  c.AddTask(job, {.cpu = 1});
  const HyperNodeTree& tree = c.state.tree();
  const ChainId chain = tree.ChainOf(*c.state.nodes().Find("s3-b"));
  ChainGroup group{.chain = chain,
                   .leaf = tree.LeafOf(chain),
                   .feasible = 1,
                   .lca_tier = 1,
                   .same_as_allocated = true,
                   .tasks_on_leaf = 1};
  ChainGroup full = group;  // nothing there takes the task: it does not count as one of the best
  full.feasible = 0;
  const ClassSpec pod;
  const Placement placement{.job = &c.state.workload().job(job),
                            .sub_job = &c.SubJobOf(job),
                            .spec = &pod,
                            .allocated = group.leaf};
  const TestPlugin plugin = OpenPlugin(c, "network-topology-aware");
  std::vector<Score> scores(2);
  const std::vector<ChainGroup> groups = {group, full};
  plugin.As<ChainScorePoint>().ScoreChains(c.state, placement, groups, scores);
  EXPECT_NEAR(ToDouble(scores[0]), 100, 1e-6);
}

TEST(TopologyNodeScores, WithoutHyperNodesEveryNodeIsEquallyNear) {
  GoldenCluster c;
  for (const char* name : {"s0", "s1", "s2", "s3", "s4", "s5", "s6"}) {
    c.state.RemoveHyperNode(name);
  }
  const JobId job = c.AddTopologyJob();
  c.AddTask(job, {.cpu = 1}, "s3-a");
  c.AddTask(job, {.cpu = 1});
  const TestPlugin plugin = OpenPlugin(c, "network-topology-aware");
  ExpectNear(c.ScoreChains(plugin, job, {}, "<cluster-top-hypernode>"),
             {{"<cluster-top-hypernode>", 150}});
}

// ---- nodes, for pods without topology ----------------------------------------------------------

Scores NormalScores(GoldenCluster& c, const Shape& pod, const TestArguments& arguments = {}) {
  const JobId job = c.AddJob("ns/normal", "default");
  return c.ScoreChains(OpenPlugin(c, "network-topology-aware", arguments), job, c.ClassOf(pod));
}

TEST(NormalPodScores, AreTheFadingMeanOfTheFullnessOfEachTier) {
  GoldenCluster c;
  const double upper = (0.64 + 0.512) * (1.0 / 12);
  ExpectNear(NormalScores(c, {.cpu = 2, .memory = 4}),
             {{"s3", 100 * (0.5 + 0.8 * (5.0 / 24) + upper) / 2.952},
              {"s4", 100 * (0.375 + 0.8 * (5.0 / 24) + upper) / 2.952},
              {"s5", 100 * (0.375 + 0.8 * (7.0 / 48) + upper) / 2.952},
              {"s6", 100 * (0.25 + 0.8 * (7.0 / 48) + upper) / 2.952}});
  //   as Volcano's own test rounds them: 25.8, 21.6, 19.9, 15.7
}

TEST(NormalPodScores, FullFadingLeavesTierOneAndNoFadingWeighsAllTiersAlike) {
  GoldenCluster c;
  const std::string fading = "hypernode.binpack.normal-pod.fading";
  ExpectNear(NormalScores(c, {.cpu = 2, .memory = 4}, {{fading, std::int64_t{0}}}),
             {{"s3", 50}, {"s6", 25}});
  ExpectNear(NormalScores(c, {.cpu = 2, .memory = 4}, {{fading, 1.0}}),
             {{"s3", 100 * (0.5 + 5.0 / 24 + 1.0 / 12 + 1.0 / 12) / 4}});
  ExpectNear(NormalScores(c, {.cpu = 2, .memory = 4}, {{fading, -1.0}}),
             NormalScores(c, {.cpu = 2, .memory = 4}));
}

TEST(NormalPodScores, PreferNodesOutsideHyperNodes) {
  GoldenCluster c;
  c.AddNode("outside", {.cpu = 12, .memory = 24});
  // The top has 36 cores and 72 GB then.
  ExpectNear(NormalScores(c, {.cpu = 2, .memory = 4}),
             {{"<cluster-top-hypernode>",
               100 * (1 + 0.8 + 0.64 + 0.512 * (2.0 / 36 + 4.0 / 72) / 2) / 2.952}});
}

TEST(NormalPodScores, ATierInWhichThePodOverflowsAddsNothing) {
  GoldenCluster c;
  ExpectNear(NormalScores(c, {.cpu = 5}),
             {{"s3", 100 * (0.8 * 5.0 / 12 + (0.64 + 0.512) * 5.0 / 24) / 2.952}});
}

TEST(NormalPodScores, TiersWithoutHyperNodesCountAsOutside) {
  //   one leaf of tier 3 beside the others: tier 2 is a gap for everyone
  TestCluster plain;
  plain.AddNode("n0", {.cpu = 4, .memory = 4});
  plain.AddLeaf("low", 1, {"n0"});
  plain.AddParent("high", 3, {"low"});
  plain.AddQueue("default");
  const JobId job = plain.AddJob("ns/normal", "default");
  const TestPlugin plugin = OpenPlugin(plain, "network-topology-aware");
  const ClassSpec pod = plain.ClassOf({.cpu = 2});
  const Job& made = plain.state.workload().job(job);
  const Placement placement{
      .job = &made, .sub_job = made.sub_jobs.data(), .spec = &pod, .allocated = {}};
  const ChainGroup group{.chain = ChainId{0},
                         .leaf = plain.HyperNode("low"),
                         .feasible = 1,
                         .lca_tier = 0,
                         .same_as_allocated = false,
                         .tasks_on_leaf = 0};
  Score score = 0;
  plugin.As<ChainScorePoint>().ScoreChains(
      plain.state, placement, std::span(&group, 1), std::span(&score, 1));
  EXPECT_NEAR(ToDouble(score), 100 * (0.5 + 0.8 + (0.64 + 0.512) * 0.5) / 2.952, 1e-6);
}

TEST(NormalPodScores, CanBeSwitchedOff) {
  GoldenCluster c;
  ExpectNear(
      NormalScores(c, {.cpu = 2, .memory = 4}, {{"hypernode.binpack.normal-pod.enable", "false"}}),
      {{"s3", 0}, {"s4", 0}});
}

// ---- arguments ---------------------------------------------------------------------------------

TEST(NetworkTopologyAware, KnowsVolcanosArgumentsAndReadsQuotedNumbers) {
  TestCluster c;
  EXPECT_THAT(OpenPlugin(c,
                         "network-topology-aware",
                         {{"weight", "10"},
                          {"hypernode.binpack.cpu", std::int64_t{5}},
                          {"hypernode.binpack.memory", std::int64_t{1}},
                          {"hypernode.binpack.resources", "nvidia.com/gpu, example.com/foo"},
                          {"hypernode.binpack.resources.nvidia.com/gpu", std::int64_t{2}},
                          {"hypernode.binpack.resources.example.com/foo", std::int64_t{3}},
                          {"hypernode.binpack.normal-pod.enable", true},
                          {"hypernode.binpack.normal-pod.fading", 0.8},
                          {"hypernode.gradient.evict.max-hypernodes", std::int64_t{8}}})
                  .warnings,
              IsEmpty());
  EXPECT_THAT(OpenPlugin(c,
                         "network-topology-aware",
                         {{"hypernode.binpack.resources.nvidia.com/gpu", std::int64_t{2}}})
                  .warnings,
              ElementsAre("network-topology-aware: hypernode.binpack.resources.nvidia.com/gpu: "
                          "ignored, since hypernode.binpack.resources does not list the resource"));
}

TEST(NetworkTopologyAware, RefusesArgumentsOfTheWrongType) {
  ResourceNames names;
  for (const char* key : {"weight",
                          "hypernode.binpack.cpu",
                          "hypernode.binpack.normal-pod.enable",
                          "hypernode.binpack.normal-pod.fading",
                          "hypernode.gradient.evict.max-hypernodes"}) {
    const auto made = TryPlugin("network-topology-aware", {{key, "lots"}}, names);
    ASSERT_FALSE(made.has_value()) << key;
    EXPECT_THAT(made.error().message, ::testing::HasSubstr(key));
  }
}

}  // namespace
}  // namespace strata
