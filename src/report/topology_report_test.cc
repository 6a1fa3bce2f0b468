#include "report/topology_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/render_topology.h"
#include "report/test_gpus.h"
#include "whatif/test_support.h"

namespace strata {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

LoadedCluster Cluster(const std::string& manifests) {
  return BuildCluster(objects::MustLoad(manifests)).value();
}

std::vector<std::int64_t> PodsByTier(const TopologyReport& report) {
  std::vector<std::int64_t> pods;
  for (const TopologyReport::TierFit& fit : report.tiers) pods.push_back(fit.pods);
  return pods;
}

TEST(PodShape, IsAListOfAmounts) {
  const objects::ResourceList shape = ParsePodShape("cpu=500m,nvidia.com/gpu=8").value();
  EXPECT_EQ(shape.at("cpu").ToString(), "500m");
  EXPECT_EQ(shape.at("nvidia.com/gpu").ToString(), "8");
}

TEST(PodShape, SaysWhatIsWrong) {
  EXPECT_THAT(ParsePodShape("cpu").error().message, HasSubstr("want NAME=AMOUNT"));
  EXPECT_THAT(ParsePodShape("").error().message, HasSubstr("want NAME=AMOUNT"));
  EXPECT_THAT(ParsePodShape("cpu=0").error().message, HasSubstr("above 0"));
  EXPECT_THAT(ParsePodShape("cpu=1,cpu=2").error().message, HasSubstr("twice"));
  EXPECT_THAT(ParsePodShape("cpu=many").error().message, testing::StartsWith("cpu: "));
  EXPECT_EQ(ParsePodShape("cpu=9223372036854775807").error().message,
            "cpu: 9223372036854775807 is too large (want a number within 2^63-1 thousandths)");
  EXPECT_EQ(ParsePodShape("cpu=1,nvidia.com/gpu=500m").error().message,
            "nvidia.com/gpu 500m: want a whole number from 0 to 2147483647");
  EXPECT_THAT(ParsePodShape("nvidia.com/gpu=1,nvidia.com/gpumem=500m").error().message,
              testing::StartsWith("nvidia.com/gpumem 500m: want a whole number"));
}

TEST(PodShape, DefaultsToAllGpusOfTheLargestNodeOrAllItsCpus) {
  const auto with_gpus = Cluster(
      "apiVersion: v1\nkind: Node\nmetadata: {name: a}\nstatus: {allocatable: {cpu: 9}}\n---\n"
      "apiVersion: v1\nkind: Node\nmetadata: {name: b}\n"
      "status: {allocatable: {cpu: 2, nvidia.com/gpu: 4}}\n");
  const objects::ResourceList shape = DefaultPodShape(*with_gpus.state);
  ASSERT_EQ(shape.size(), 1U);
  EXPECT_EQ(shape.at("nvidia.com/gpu").ToString(), "4");
  EXPECT_EQ(DefaultPodShape(*Cluster(EightNodes("cpu: 3")).state).at("cpu").ToString(), "3");
}

TEST(PodShape, IsEmptyWhereNodesHaveNothingAlsoWhenPluginsKnowGpus) {
  auto bare = Cluster("apiVersion: v1\nkind: Node\nmetadata: {name: a}\n");
  ASSERT_TRUE(RunCycles(bare, DefaultSchedulerConfig(), {}).has_value());
  EXPECT_TRUE(bare.state->resource_names().Find("nvidia.com/gpu").has_value());
  EXPECT_TRUE(DefaultPodShape(*bare.state).empty());
}

TEST(TopologyReport, CountsPodsPerTier) {
  const auto cluster = Cluster(EightNodes("cpu: 3"));
  const TopologyReport report =
      MakeTopologyReport(*cluster.state, ParsePodShape("cpu=2").value()).value();
  EXPECT_THAT(PodsByTier(report), ElementsAre(2, 4, 8, 8));
  EXPECT_EQ(report.tiers[0].hypernode, "s0");
}

TEST(TopologyReport, CountsOnlyNodesThatTakePlainPods) {
  const auto cluster =
      Cluster(EightNodes("cpu: 1") +
              "apiVersion: v1\nkind: Node\nmetadata: {name: x}\nspec: {unschedulable: true}\n"
              "status: {allocatable: {cpu: 8}}\n---\n"
              "apiVersion: v1\nkind: Node\nmetadata: {name: z}\n"
              "spec: {taints: [{key: k, effect: NoSchedule}]}\nstatus: {allocatable: {cpu: 8}}\n");
  const TopologyReport report =
      MakeTopologyReport(*cluster.state, ParsePodShape("cpu=1").value()).value();
  EXPECT_EQ(report.tiers.back().pods, 8);
  EXPECT_EQ(report.rows.front().nodes, 10U);
  EXPECT_THAT(report.loose, ElementsAre("x", "z"));
  EXPECT_THAT(RenderTable(report, {}), HasSubstr("In no HyperNode (2 of the nodes): x z\n"));
}

TEST(TopologyReport, CountsWithWhatRunsAlready) {
  const Outcome run = Simulate(EightNodes("cpu: 1") + GangOf("t", 2, "cpu: 1", "mode: hard"));
  const TopologyReport report =
      MakeTopologyReport(*run.cluster.state, ParsePodShape("cpu=1").value()).value();
  EXPECT_THAT(PodsByTier(report), ElementsAre(2, 4, 6, 6));
  EXPECT_EQ(report.rows.front().used.at(0), 2000);
  EXPECT_EQ(report.rows.front().free.at(0), 6000);
}

TEST(TopologyReport, DrawsTheTree) {
  const auto cluster = Cluster(EightNodes("cpu: 4, memory: 1Gi, nvidia.com/gpu: 2"));
  const TopologyReport report =
      MakeTopologyReport(*cluster.state, ParsePodShape("nvidia.com/gpu=2").value()).value();
  EXPECT_EQ(
      RenderTable(report, {}),
      R"(HYPERNODE    TIER  NODES  CPU USED  FREE  MEMORY USED  FREE  GPU USED  FREE  PODS FIT  MEMBERS
(cluster)    4         8         0    32            0   8Gi         0    16         8
└─ s6        3         8         0    32            0   8Gi         0    16         8
   ├─ s4     2         4         0    16            0   4Gi         0     8         4
   │  ├─ s0  1         2         0     8            0   2Gi         0     4         2  node0 node1
   │  └─ s1  1         2         0     8            0   2Gi         0     4         2  node2 node3
   └─ s5     2         4         0    16            0   4Gi         0     8         4
      ├─ s2  1         2         0     8            0   2Gi         0     4         2  node4 node5
      └─ s3  1         2         0     8            0   2Gi         0     4         2  node6 node7

Pods of nvidia.com/gpu=2 that would fit now as one gang:

TIER  PODS  MOST ROOM IN
1        2  s0
2        4  s4
3        8  s6
any      8  (cluster)
)");
}

constexpr const char* kTwoRacks = R"(apiVersion: v1
kind: Node
metadata: {name: n1}
spec: {unschedulable: true}
status: {allocatable: {cpu: 8}}
---
apiVersion: v1
kind: Node
metadata: {name: n2}
spec: {taints: [{key: node.kubernetes.io/not-ready, effect: NoSchedule}]}
status: {allocatable: {cpu: 8}}
---
apiVersion: v1
kind: Node
metadata: {name: n10}
status: {allocatable: {cpu: 8}}
---
apiVersion: topology.volcano.sh/v1alpha1
kind: HyperNode
metadata: {name: s10}
spec: {tier: 1, members: [{type: Node, selector: {exactMatch: {name: n1}}}]}
---
apiVersion: topology.volcano.sh/v1alpha1
kind: HyperNode
metadata:
  name: s2
  labels: {volcano.sh/network-topology-source: label, topology/rack: r7}
spec:
  tier: 1
  tierName: topology/rack
  members:
  - {type: Node, selector: {exactMatch: {name: n2}}}
  - {type: Node, selector: {exactMatch: {name: n10}}}
)";

TEST(TopologyReport, MarksNodesThatTakeNoPodsAndDoesNotCountThemAsFree) {
  const auto cluster = Cluster(kTwoRacks);
  const TopologyReport report = MakeTopologyReport(*cluster.state, {}).value();
  ASSERT_EQ(report.rows.size(), 3U);
  EXPECT_EQ(report.rows[1].name, "s2");
  EXPECT_EQ(report.rows[2].name, "s10");
  EXPECT_EQ(report.rows[0].free.at(0), 8000);
  EXPECT_EQ(report.rows[1].free.at(0), 8000);
  EXPECT_EQ(report.rows[2].free.at(0), 0);
  const std::string text = RenderTable(report, {});
  EXPECT_THAT(text, HasSubstr("1 cordoned, 1 not ready\n"));
  EXPECT_THAT(text, HasSubstr("1 not ready              n2 n10\n"));
}

TEST(TopologyReport, CallsDiscoveredHyperNodesByTheirLabel) {
  const auto objects = objects::MustLoad(kTwoRacks);
  const auto cluster = BuildCluster(objects).value();
  TopologyReport report = MakeTopologyReport(*cluster.state, {}).value();
  AddLabels(objects.hypernodes, report);
  EXPECT_EQ(report.rows[1].label, "r7");
  EXPECT_EQ(report.rows[2].label, "");
  EXPECT_THAT(RenderTable(report, {}), HasSubstr("├─ s2      r7     1 topology/rack"));
  ASSERT_TRUE(Narrow({.under = "r7", .depth = {}}, report));
  ASSERT_EQ(report.rows.size(), 1U);
  EXPECT_EQ(report.tiers.size(), 1U);
}

TEST(TopologyReport, FitsATerminalOf80Columns) {
  const auto cluster = Cluster(EightNodes("cpu: 96, memory: 1024Gi, nvidia.com/gpu: 8"));
  TopologyReport report =
      MakeTopologyReport(*cluster.state, ParsePodShape("nvidia.com/gpu=2").value()).value();
  ASSERT_TRUE(Narrow({.under = "s4", .depth = 1}, report));
  const std::string text = RenderTree(report, FitColumn::kShow, {.width = 80, .fit = true});
  EXPECT_EQ(text,
            "HYPERNODE  TIER  NODES  CPU USED  FREE  GPU USED  FREE  PODS FIT\n"
            "s4         2         4         0   384         0    32        16\n"
            "├─ s0      1         2         0   192         0    16         8\n"
            "└─ s1      1         2         0   192         0    16         8\n");
  const std::string all = RenderTree(report, FitColumn::kShow, {.width = 200, .fit = true});
  EXPECT_THAT(all, HasSubstr("MEMBERS\n"));
}

TEST(TopologyReport, ShowsTheFreeGpusThatNvlinksJoin) {
  const auto cluster = Cluster(FourGpus());
  const auto report = MakeTopologyReport(*cluster.state, DefaultPodShape(*cluster.state));
  ASSERT_EQ(report->gpus.size(), 1U);
  EXPECT_EQ(report->gpus[0].gpus, 4U);
  EXPECT_EQ(report->gpus[0].free, 2U);
  EXPECT_THAT(report->gpus[0].sets, ElementsAre(ElementsAre(0), ElementsAre(2)));
  const std::string text = RenderTable(*report, {});
  EXPECT_THAT(text, HasSubstr("0 | 2"));
  EXPECT_LT(text.find("0 | 2"), text.find("would fit now")) << "what was asked for comes last";
}

TEST(TopologyReport, CountsRegisteredGpusNotTheirShares) {
  const auto cluster = Cluster(FourGpus());
  const objects::ResourceList shape = DefaultPodShape(*cluster.state);
  EXPECT_EQ(shape.at("nvidia.com/gpu").ToString(), "3");  // and one that is cordoned
  EXPECT_THAT(PodsByTier(*MakeTopologyReport(*cluster.state, shape)), ElementsAre(0));
  const objects::ResourceList one = ParsePodShape("nvidia.com/gpu=1").value();
  EXPECT_THAT(PodsByTier(*MakeTopologyReport(*cluster.state, one)), ElementsAre(2));
}

TEST(TopologyReport, TheColumnsOfGpusSayWhatTheListBelowThemSays) {
  //   node a: 4 registered, 40 shares of them; b: 2 that only its allocatable knows
  const auto cluster =
      Cluster(FourGpus() +
              "---\napiVersion: v1\nkind: Node\nmetadata: {name: b}\n"
              "status: {allocatable: {cpu: 8, pods: 110, nvidia.com/gpu: 2}}\n---\n"
              "apiVersion: topology.volcano.sh/v1alpha1\nkind: HyperNode\nmetadata: {name: s0}\n"
              "spec: {tier: 1, members: [{type: Node, selector: {exactMatch: {name: a}}}]}\n");
  const TopologyReport report = MakeTopologyReport(*cluster.state, {}).value();
  ASSERT_EQ(report.resources.at(2), "nvidia.com/gpu");
  EXPECT_EQ(report.rows.at(0).used.at(2), 1000);  // the cordoned one is no longer there
  EXPECT_EQ(report.rows.at(0).free.at(2), 4000);
  EXPECT_EQ(report.rows.at(1).name, "s0");
  EXPECT_EQ(report.rows.at(1).used.at(2), 1000);
  EXPECT_EQ(report.rows.at(1).free.at(2), 2000);
}

TEST(TopologyReport, CountsSharesOfGpusWhereTheShapeNamesThem) {
  const auto cluster = Cluster(FourGpus());
  const auto fits = [&](const std::string& shape) {
    return PodsByTier(*MakeTopologyReport(*cluster.state, ParsePodShape(shape).value()));
  };
  EXPECT_THAT(fits("nvidia.com/gpu=1,nvidia.com/gpumem=300"), ElementsAre(6));  // 3 on each of two
  EXPECT_THAT(fits("nvidia.com/gpumem=300"), ElementsAre(6));
  EXPECT_THAT(fits("nvidia.com/gpu=2,nvidia.com/gpumem=300"), ElementsAre(3));
  EXPECT_THAT(fits("nvidia.com/gpumem=1"), ElementsAre(20));  // as many as there are slots
}

}  // namespace
}  // namespace strata
