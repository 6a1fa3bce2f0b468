// Pod affinity and anti-affinity, as cycles decide by them.
#include "sched/plugins/inter_pod_affinity.h"

#include <set>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/cluster_builder.h"
#include "tests/support/cycle.h"

namespace strata {
namespace {

using testing::ClusterBuilder;
using testing::Decisions;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using testing::Pods;
using testing::RunCycle;
using ::testing::SizeIs;
using testing::TaskArgs;
using ::testing::UnorderedElementsAre;

//   zone a: a0 a1      zone b: b0 b1      and "lost", in no zone
void AddZones(ClusterBuilder& cluster) {
  for (const char* name : {"a0", "a1", "b0", "b1"}) {
    cluster.Node(name, {.labels = {{"zone", std::string(1, *name)}, {"host", name}}});
  }
  cluster.Node("lost", {.labels = {{"host", "lost"}}});
}

TaskArgs App(const std::string& app, PodRules rules = {}) {
  return {.labels = {{"app", app}}, .rules = std::move(rules)};
}

PodRules Beside(const std::string& app, const std::string& key) {
  return {.affinity = {Pods("app", app, key)}, .anti_affinity = {}, .preferred = {}, .spread = {}};
}
PodRules Apart(const std::string& app, const std::string& key) {
  return {.affinity = {}, .anti_affinity = {Pods("app", app, key)}, .preferred = {}, .spread = {}};
}
PodRules Rather(const std::string& app, const std::string& key, std::int32_t weight) {
  return {.affinity = {},
          .anti_affinity = {},
          .preferred = {{.weight = weight, .term = Pods("app", app, key)}},
          .spread = {}};
}

TEST(InterPodAffinity, APodGoesWhereThePodsAreThatItAsksFor) {
  ClusterBuilder cluster;
  AddZones(cluster);
  cluster.Occupy("b1", App("store"));
  cluster.Job("j", {.tasks = 2, .task = App("web", Beside("store", "zone"))});
  EXPECT_THAT(RunCycle(cluster.state).NodesOf("j"), ::testing::IsSubsetOf({"b0", "b1"}));
}

TEST(InterPodAffinity, WithoutThosePodsItWaitsWithAReason) {
  ClusterBuilder cluster;
  AddZones(cluster);
  cluster.Job("j", {.tasks = 1, .task = App("web", Beside("store", "zone"))});
  const Decisions decisions = RunCycle(cluster.state);
  EXPECT_THAT(decisions.binds, IsEmpty());
  EXPECT_EQ(decisions.Reason("j"), "NoMatchingNode");
  EXPECT_EQ(decisions.Message("j"),
            "1/1 tasks in gang unschedulable: 0 of 1 pod fits on the 5 nodes of the cluster: "
            "5 node(s) didn't match pod affinity rules");
}

TEST(InterPodAffinity, TheFirstOfAGroupGoesAnywhereAndTheOthersFollow) {
  ClusterBuilder cluster;
  AddZones(cluster);
  cluster.Job("j", {.tasks = 10, .task = App("web", Beside("web", "zone"))});
  const std::set<std::string> nodes = RunCycle(cluster.state).NodesOf("j");
  EXPECT_THAT(nodes,
              ::testing::AnyOf(UnorderedElementsAre("a0", "a1"), UnorderedElementsAre("b0", "b1")));
}

TEST(InterPodAffinity, TheFirstOfAGroupStillNeedsTheTopologyKey) {
  ClusterBuilder cluster;
  cluster.Node("lost");
  cluster.Job("j", {.tasks = 1, .task = App("web", Beside("web", "zone"))});
  EXPECT_THAT(RunCycle(cluster.state).binds, IsEmpty());
}

TEST(InterPodAffinity, AGangFindsPodsThatArePlacedAfterThoseThatAskForThem) {
  ClusterBuilder cluster;
  AddZones(cluster);
  cluster.Job("j", {.tasks = 2, .task = App("web", Beside("store", "zone")), .min_available = 3});
  cluster.Task("j", App("store"));
  EXPECT_THAT(RunCycle(cluster.state).binds, SizeIs(3));
}

TEST(InterPodAffinity, AntiAffinityPutsOnePodOfAGangOnEachNode) {
  ClusterBuilder cluster;
  AddZones(cluster);
  cluster.Job("j", {.tasks = 5, .task = App("web", Apart("web", "host"))});
  EXPECT_THAT(RunCycle(cluster.state).NodesOf("j"), SizeIs(5));
}

TEST(InterPodAffinity, AGangThatIsTooLargeToKeepApartStartsNowhere) {
  ClusterBuilder cluster;
  AddZones(cluster);
  cluster.Occupy("lost", {.cpu = 8});  // in no zone, so it would take them all
  cluster.Job("j", {.tasks = 4, .task = App("web", Apart("web", "zone"))});
  const Decisions decisions = RunCycle(cluster.state);
  EXPECT_THAT(decisions.binds, IsEmpty());
  EXPECT_THAT(decisions.Message("j"), HasSubstr("2 of 4 pods fit on the 5 nodes"));
  EXPECT_THAT(decisions.Message("j"), HasSubstr("4 node(s) didn't match pod anti-affinity rules"));
}

TEST(InterPodAffinity, AntiAffinityOfRunningPodsAppliesToNewPods) {
  ClusterBuilder cluster;
  AddZones(cluster);
  cluster.Occupy("a0", App("loner", Apart("web", "zone")));
  cluster.Occupy("b0", App("loner", Apart("web", "zone")));
  cluster.Occupy("lost", {.cpu = 8});
  cluster.Job("j", {.tasks = 1, .task = App("web")});
  cluster.Job("other", {.tasks = 1, .task = App("db")});
  const Decisions decisions = RunCycle(cluster.state);
  EXPECT_THAT(decisions.NodesOf("other"), SizeIs(1));
  EXPECT_THAT(decisions.NodesOf("j"), IsEmpty());
  EXPECT_THAT(decisions.Message("j"),
              HasSubstr("4 node(s) didn't satisfy existing pods anti-affinity rules"));
}

TEST(InterPodAffinity, AppliesToTheOwnNamespaceOnly) {
  ClusterBuilder cluster;
  cluster.Node("n", {.labels = {{"host", "n"}}});
  PodRules rules = Apart("web", "host");
  rules.anti_affinity[0].namespaces = {"elsewhere"};
  cluster.Occupy("n", App("web"));
  cluster.Job("j", {.tasks = 1, .task = App("web", rules)});
  EXPECT_THAT(RunCycle(cluster.state).binds, SizeIs(1));
  rules.anti_affinity[0].every_namespace = true;
  cluster.Job("k", {.tasks = 1, .task = App("web", rules)});
  EXPECT_THAT(RunCycle(cluster.state).NodesOf("k"), IsEmpty());
}

TEST(InterPodAffinity, AGangThatFailsLeavesNoAntiAffinityBehind) {
  ClusterBuilder cluster;
  cluster.Node("n", {.cpu = 2, .labels = {{"host", "n"}}});
  cluster.Job("big", {.tasks = 2, .task = App("web", Apart("web", "host"))});
  cluster.Job("small", {.tasks = 1, .task = App("web")});
  EXPECT_THAT(RunCycle(cluster.state).binds, ElementsAre(Pair("small-w-0", "n")));
}

TEST(InterPodAffinity, PreferencesOfBothSidesDrawAndPush) {
  ClusterBuilder cluster;
  AddZones(cluster);
  cluster.Occupy("b0", App("store", Rather("web", "zone", 100)));
  cluster.Occupy("b0", App("noise"));
  PodRules quiet = Rather("noise", "host", -50);
  cluster.Job("j", {.tasks = 1, .task = App("web", quiet)});
  EXPECT_THAT(RunCycle(cluster.state).binds, ElementsAre(Pair("j-w-0", "b1")));
}

TEST(InterPodAffinity, ScoresAreScaledOverTheNodesThatTakeThePod) {
  ClusterBuilder cluster;
  AddZones(cluster);
  cluster.Occupy("a0", App("store"));
  cluster.Occupy("b0", App("store"));
  cluster.Occupy("b1", App("store"));
  cluster.Job("j", {.tasks = 1, .task = App("web", Rather("store", "zone", 10))});
  PeerCounts peers(cluster.state,
                   cluster.state.workload().task(cluster.FindTask("j-w-0")).class_id);
  ASSERT_TRUE(peers.Concerned());
  peers.Refresh();
  const std::vector<NodeId> nodes = {
      cluster.FindNode("a1"), cluster.FindNode("b0"), cluster.FindNode("lost")};
  std::vector<std::int64_t> scores(3);
  ScoreAffinity(peers, nodes, scores);
  EXPECT_THAT(scores, ElementsAre(50, 100, 0));
}

TEST(InterPodAffinity, CanBeSwitchedOff) {
  ClusterBuilder cluster;
  AddZones(cluster);
  cluster.Job("j", {.tasks = 1, .task = App("web", Beside("store", "zone"))});
  EXPECT_THAT(RunCycle(cluster.state,
                       testing::ConfigWith("predicates", "predicate.PodAffinityEnable", false))
                  .binds,
              SizeIs(1));
}

TEST(PeerCounts, ClassesThatNoRuleSelectsAreNotConcerned) {
  ClusterBuilder cluster;
  AddZones(cluster);
  cluster.Job("j", {.tasks = 1, .task = App("db")});
  const ClassId db = cluster.state.workload().task(cluster.FindTask("j-w-0")).class_id;
  PeerCounts peers(cluster.state, db);
  EXPECT_FALSE(peers.Concerned());
  cluster.Occupy("a0", App("loner", Apart("web", "zone")));
  EXPECT_FALSE(peers.Concerned());
  cluster.Occupy("a0", App("loner", Apart("db", "zone")));
  EXPECT_TRUE(peers.Concerned());
}

}  // namespace
}  // namespace strata
