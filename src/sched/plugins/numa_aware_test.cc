#include "sched/plugins/numa_aware.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sched/plugins/test_cluster.h"

namespace strata {
namespace {

using ::testing::ElementsAre;

constexpr auto kSingle = NumaPolicy::kSingleNumaNode;

struct NumaCluster : TestCluster {
  NodeId AddNuma(const std::string& name,
                 NumaPolicy policy,
                 const std::vector<std::int32_t>& free) {
    NodeSpec node;
    node.name = name;
    node.allocatable = Amounts({.cpu = 16, .memory = 16}, 110);
    node.numa = NumaSpec{.policy = policy, .static_cpus = true, .cells = {}};
    for (const std::int32_t cpus : free) node.numa->cells.push_back({.cpus = 8, .free = cpus});
    return AddNode(std::move(node));
  }
  [[nodiscard]] ClassSpec PodOf(NumaPolicy policy, std::int32_t cpus) const {
    ClassSpec spec = ClassOf({.cpu = static_cast<double>(cpus), .memory = 1});
    spec.numa = {.policy = policy, .cpus = {cpus}};
    return spec;
  }
  TaskId AddPod(const ClassSpec& spec, const std::string& node = "") {
    TaskSpec task;
    task.constraints = spec;
    return AddTask(JobId{}, std::move(task), node);
  }
};

// "" when the node takes the pod.
std::string WhyNot(const TestPlugin& plugin,
                   const NumaCluster& cluster,
                   const ClassSpec& pod,
                   NodeId node) {
  const auto& filter = plugin.As<NodeFilterPoint>();
  const bool admitted =
      filter.AdmitsSpec(cluster.state, pod, node) && filter.AdmitsNow(cluster.state, pod, node);
  return admitted ? "" : filter.Reason(cluster.state, pod, node);
}

TEST(NumaAware, APodThatNamesAPolicyNeedsANodeOfThatPolicy) {
  NumaCluster cluster;
  const NodeId plain = cluster.AddNode("plain", {.cpu = 16, .memory = 16});
  const NodeId same = cluster.AddNuma("same", kSingle, {8, 8});
  const NodeId other = cluster.AddNuma("other", NumaPolicy::kRestricted, {8, 8});
  NodeSpec shared = cluster.state.nodes().spec(same);
  shared.name = "shared";
  shared.numa->static_cpus = false;
  const NodeId without_manager = cluster.AddNode(shared);
  const TestPlugin plugin = OpenPlugin(cluster, "numa-aware");
  const ClassSpec pod = cluster.PodOf(kSingle, 4);
  EXPECT_EQ(WhyNot(plugin, cluster, pod, plain), "node(s) had no Numatopology");
  EXPECT_EQ(WhyNot(plugin, cluster, pod, same), "");
  EXPECT_EQ(WhyNot(plugin, cluster, pod, other),
            "node(s) had another topology manager policy than single-numa-node");
  EXPECT_EQ(WhyNot(plugin, cluster, pod, without_manager),
            "node(s) had no static CPU manager policy");
}

TEST(NumaAware, TheNodeMustHaveItsCpusOnOneNumaNode) {
  NumaCluster cluster;
  const NodeId node = cluster.AddNuma("n", kSingle, {3, 3});
  const TestPlugin plugin = OpenPlugin(cluster, "numa-aware");
  EXPECT_EQ(WhyNot(plugin, cluster, cluster.PodOf(kSingle, 3), node), "");
  EXPECT_EQ(WhyNot(plugin, cluster, cluster.PodOf(kSingle, 4), node),
            "node(s) couldn't align the pod's cpus (single-numa-node)");
}

TEST(NumaAware, APodThatNamesNoneIsStillHeldToTheNodesPolicy) {
  NumaCluster cluster;
  const NodeId strict = cluster.AddNuma("strict", kSingle, {3, 3});
  const NodeId loose = cluster.AddNuma("loose", NumaPolicy::kNone, {3, 3});
  const NodeId plain = cluster.AddNode("plain", {.cpu = 16, .memory = 16});
  const TestPlugin plugin = OpenPlugin(cluster, "numa-aware");
  const ClassSpec pod = cluster.PodOf(NumaPolicy::kNone, 4);
  EXPECT_EQ(WhyNot(plugin, cluster, pod, strict),
            "node(s) couldn't align the pod's cpus (single-numa-node)");
  EXPECT_EQ(WhyNot(plugin, cluster, pod, loose), "");
  EXPECT_EQ(WhyNot(plugin, cluster, pod, plain), "");
  EXPECT_EQ(WhyNot(plugin, cluster, cluster.ClassOf({.cpu = 4}), strict), "")
      << "not Guaranteed: it shares";
}

TEST(NumaAware, PodsPlacedSinceTheReportTakeTheirShare) {
  NumaCluster cluster;
  const NodeId node = cluster.AddNuma("n", kSingle, {8, 8});
  const TestPlugin plugin = OpenPlugin(cluster, "numa-aware");
  const ClassSpec pod = cluster.PodOf(kSingle, 6);
  const TaskId first = cluster.AddPod(pod);
  const TaskId second = cluster.AddPod(pod);
  cluster.state.journal().Allocate(first, node);
  EXPECT_EQ(WhyNot(plugin, cluster, pod, node), "");
  cluster.state.journal().Allocate(second, node);
  EXPECT_NE(WhyNot(plugin, cluster, pod, node), "") << "two on each are left";
  EXPECT_EQ(WhyNot(plugin, cluster, cluster.PodOf(kSingle, 2), node), "");
  cluster.state.journal().RollbackTo(0);
  EXPECT_EQ(WhyNot(plugin, cluster, pod, node), "");
}

TEST(NumaAware, TheRoomOfANodeIsCountedByNumaNode) {
  NumaCluster cluster;
  const NodeId node = cluster.AddNuma("n", kSingle, {8, 7});
  const NodeId best_effort = cluster.AddNuma("b", NumaPolicy::kBestEffort, {8, 7});
  const TestPlugin plugin = OpenPlugin(cluster, "numa-aware");
  const auto& filter = plugin.As<NodeFilterPoint>();
  const ClassSpec pod = cluster.PodOf(NumaPolicy::kNone, 3);
  EXPECT_EQ(filter.Room(cluster.state, pod, node, 5), 4U);
  EXPECT_EQ(filter.Room(cluster.state, pod, node, 3), 3U);
  EXPECT_EQ(filter.Room(cluster.state, pod, best_effort, 5), 5U);
}

TEST(NumaAware, PodsThatRanWhenTheReportWasMadeAreInIt) {
  NumaCluster cluster;
  const NodeId node = cluster.AddNuma("n", kSingle, {2, 8});
  const ClassSpec pod = cluster.PodOf(kSingle, 6);
  cluster.AddPod(pod, "n");
  const TestPlugin plugin = OpenPlugin(cluster, "numa-aware");
  EXPECT_EQ(WhyNot(plugin, cluster, pod, node), "");
}

TEST(NumaAware, ItDoesNotMatterWhetherAPodOrItsNodeCameFirst) {
  for (const TaskStatus status : {TaskStatus::kRunning, TaskStatus::kUnknown, TaskStatus::kBound}) {
    NumaCluster cluster;
    TaskSpec task;
    task.name = "ns/early";
    task.constraints = cluster.PodOf(kSingle, 6);
    task.status = status;
    task.node_name = "n";
    const TaskId early = cluster.state.workload().AddTask(task);
    cluster.AddNuma("n", kSingle, {8, 8});
    task.name = "ns/late";
    const TaskId late = cluster.state.workload().AddTask(task);
    const auto placed = [&](TaskId id) { return cluster.state.workload().task(id).placed; };
    EXPECT_EQ(placed(early), placed(late));
    EXPECT_EQ(placed(late), status == TaskStatus::kBound ? Task::kCameWithNode : 0U);
  }
}

TEST(NumaAware, ANewReportCountsWhatRuns) {
  NumaCluster cluster;
  const NodeId node = cluster.AddNuma("n", kSingle, {8, 8});
  const TestPlugin plugin = OpenPlugin(cluster, "numa-aware");
  const ClassSpec pod = cluster.PodOf(kSingle, 6);
  const TaskId first = cluster.AddPod(pod);
  cluster.state.journal().Allocate(first, node);
  cluster.state.journal().Commit();
  cluster.state.workload().SetTaskStatus(first, TaskStatus::kRunning);
  NodeSpec reported = cluster.state.nodes().spec(node);
  reported.numa->cells[0].free = 2;
  cluster.AddNode(reported);
  EXPECT_EQ(WhyNot(plugin, cluster, pod, node), "") << "the second NUMA node is free";
}

TEST(NumaAware, FewerNumaNodesScoreHigher) {
  NumaCluster cluster;
  const NodeId one = cluster.AddNuma("one", NumaPolicy::kBestEffort, {8, 8});
  const NodeId two = cluster.AddNuma("two", NumaPolicy::kBestEffort, {4, 4});
  const TestPlugin plugin = OpenPlugin(cluster, "numa-aware", {{"weight", std::int64_t{3}}});
  const auto& point = plugin.As<ScaledScorePoint>();
  const ClassSpec pod = cluster.PodOf(NumaPolicy::kBestEffort, 6);
  ASSERT_FALSE(point.IsUniform(cluster.state, pod));
  std::vector<Score> scores(2);
  point.ScoreFeasible(cluster.state, pod, std::vector{one, two}, scores);
  EXPECT_THAT(scores, ElementsAre(150 * kScoreUnit, 0));
}

TEST(NumaAware, PodsThatNameNoPolicyAreNotScored) {
  NumaCluster cluster;
  const TestPlugin plugin = OpenPlugin(cluster, "numa-aware");
  EXPECT_TRUE(
      plugin.As<ScaledScorePoint>().IsUniform(cluster.state, cluster.PodOf(NumaPolicy::kNone, 2)));
}

TEST(NumaAware, TheWeightIsTypeChecked) {
  ResourceNames names;
  const auto made = TryPlugin("numa-aware", {{"weight", "heavy"}}, names);
  ASSERT_FALSE(made.has_value());
  EXPECT_EQ(made.error().message, "numa-aware: weight: want an integer, found \"heavy\"");
}

}  // namespace
}  // namespace strata
