#include "sched/plugins/predicates.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sched/plugins/test_cluster.h"

namespace strata {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

NodeSpec Plain(const std::string& name) {
  NodeSpec node;
  node.name = name;
  return node;
}

struct Asked {
  TestPlugin plugin;
  const TestCluster& cluster;

  [[nodiscard]] bool Admits(const ClassSpec& spec, NodeId node) const {
    const auto& filter = plugin.As<NodeFilterPoint>();
    return filter.AdmitsSpec(cluster.state, spec, node) &&
           filter.AdmitsNow(cluster.state, spec, node);
  }
  // "" when it is admitted.
  [[nodiscard]] std::string WhyNot(const ClassSpec& spec, NodeId node) const {
    if (Admits(spec, node)) return "";
    return plugin.As<NodeFilterPoint>().Reason(cluster.state, spec, node);
  }
};

Asked Ask(TestCluster& cluster, const TestArguments& arguments = {}) {
  return {OpenPlugin(cluster, "predicates", arguments), cluster};
}

TEST(Predicates, APodWithoutConstraintsMayRunOnAPlainNode) {
  TestCluster cluster;
  const NodeId node = cluster.AddNode(Plain("n0"));
  EXPECT_EQ(Ask(cluster).WhyNot({}, node), "");
}

TEST(Predicates, ACordonedNodeTakesOnlyPodsThatTolerateIt) {
  TestCluster cluster;
  NodeSpec spec = Plain("n0");
  spec.unschedulable = true;
  const NodeId node = cluster.AddNode(std::move(spec));
  ClassSpec pod;
  EXPECT_EQ(Ask(cluster).WhyNot(pod, node), "node(s) were unschedulable");
  pod.tolerations = {{.key = "node.kubernetes.io/unschedulable",
                      .op = Toleration::Op::kExists,
                      .value = "",
                      .effect = TaintEffect::kNoSchedule}};
  EXPECT_EQ(Ask(cluster).WhyNot(pod, node), "");
}

TEST(Predicates, NodeSelectorAndRequiredAffinityMustMatch) {
  TestCluster cluster;
  NodeSpec spec = Plain("n0");
  spec.labels = {{"zone", "a"}};
  const NodeId node = cluster.AddNode(std::move(spec));
  ClassSpec selects;
  selects.node_selector = {{"zone", "b"}};
  ClassSpec requires_term;
  requires_term.affinity.required = {
      {.labels = {{.key = "zone", .op = SelectorOp::kIn, .values = {"b"}}}, .fields = {}}};
  for (ClassSpec* pod : {&selects, &requires_term}) {
    EXPECT_EQ(Ask(cluster).WhyNot(*pod, node), "node(s) didn't match Pod's node affinity/selector");
    EXPECT_EQ(Ask(cluster, {{"predicate.NodeAffinityEnable", false}}).WhyNot(*pod, node), "");
  }
  selects.node_selector = {{"zone", "a"}};
  EXPECT_EQ(Ask(cluster).WhyNot(selects, node), "");
}

TEST(Predicates, AnUntoleratedTaintIsNamed) {
  TestCluster cluster;
  NodeSpec spec = Plain("n0");
  spec.taints = {{.key = "mild", .value = "", .effect = TaintEffect::kPreferNoSchedule},
                 {.key = "team", .value = "red", .effect = TaintEffect::kNoSchedule}};
  const NodeId node = cluster.AddNode(std::move(spec));
  ClassSpec pod;
  EXPECT_EQ(Ask(cluster).WhyNot(pod, node), "node(s) had untolerated taint {team: red}");
  EXPECT_EQ(Ask(cluster, {{"predicate.TaintTolerationEnable", "false"}}).WhyNot(pod, node), "");
  pod.tolerations = {
      {.key = "team", .op = Toleration::Op::kEqual, .value = "red", .effect = std::nullopt}};
  EXPECT_EQ(Ask(cluster).WhyNot(pod, node), "");
}

TEST(Predicates, HostPortsInUseAreNotGivenTwice) {
  TestCluster cluster;
  const NodeId node = cluster.AddNode("n0", {.cpu = 1, .memory = 1});
  ClassSpec pod;
  pod.host_ports = {{.ip = "", .protocol = "TCP", .port = 80}};
  EXPECT_EQ(Ask(cluster).WhyNot(pod, node), "");
  TaskSpec server;
  server.constraints = pod;
  cluster.AddTask(JobId{}, std::move(server), "n0");
  EXPECT_EQ(Ask(cluster).WhyNot(pod, node),
            "node(s) didn't have free ports for the requested pod ports");
  EXPECT_EQ(Ask(cluster, {{"predicate.NodePortsEnable", false}}).WhyNot(pod, node), "");
  EXPECT_EQ(Ask(cluster).WhyNot({}, node), "");
}

TEST(Predicates, ANodeTakesOnlyOnePodOfAClassWithAHostPort) {
  TestCluster cluster;
  const auto only_one = [&](const ClassSpec& pod, const TestArguments& arguments) {
    return OpenPlugin(cluster, "predicates", arguments).As<NodeFilterPoint>().TakesOnlyOne(pod);
  };
  ClassSpec pod;
  EXPECT_FALSE(only_one(pod, {}));
  pod.host_ports = {{.ip = "", .protocol = "TCP", .port = 80}};
  EXPECT_TRUE(only_one(pod, {}));
  EXPECT_FALSE(only_one(pod, {{"predicate.NodePortsEnable", false}}));
}

TEST(Predicates, VolcanosOtherSwitchesAreKnownAndWarnOnlyWhenSwitchedOn) {
  TestCluster cluster;
  EXPECT_THAT(OpenPlugin(cluster,
                         "predicates",
                         {{"predicate.PodAffinityEnable", false},
                          {"predicate.CacheEnable", true},
                          {"volumebinding.weight", std::int64_t{1}},
                          {"volumebinding.shape", std::monostate{}}})
                  .warnings,
              IsEmpty());
  EXPECT_THAT(
      OpenPlugin(cluster, "predicates", {{"predicate.DynamicResourceAllocationEnable", true}})
          .warnings,
      ElementsAre(
          "predicates: predicate.DynamicResourceAllocationEnable: has no effect in this version"));
}

TEST(Predicates, EveryArgumentIsTypeChecked) {
  ResourceNames names;
  for (const char* key : {"predicate.NodeAffinityEnable",
                          "predicate.CacheEnable",
                          "predicate.PodTopologySpreadEnable",
                          "volumebinding.bindTimeoutSeconds"}) {
    EXPECT_FALSE(TryPlugin("predicates", {{key, "perhaps"}}, names).has_value()) << key;
  }
}

}  // namespace
}  // namespace strata
