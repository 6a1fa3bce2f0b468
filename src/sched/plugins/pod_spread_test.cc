// Topology spread, as cycles decide by it.
#include "sched/plugins/pod_spread.h"

#include <cmath>
#include <map>
#include <string>
#include <vector>

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
using testing::RunCycle;
using ::testing::SizeIs;
using testing::TaskArgs;
using Unsatisfiable = SpreadRule::Unsatisfiable;

SpreadRule Even(Unsatisfiable when = Unsatisfiable::kDoNotSchedule) {
  SpreadRule rule;
  rule.topology_key = "zone";
  rule.when_unsatisfiable = when;
  rule.selector = LabelSelector{{{"app", SelectorOp::kIn, {"web"}}}};
  return rule;
}

TaskArgs Web(std::vector<SpreadRule> rules = {}) {
  TaskArgs args{.labels = {{"app", "web"}}};
  args.rules.spread = std::move(rules);
  return args;
}

//   zone a: a0 a1 a2      zone b: b0
void AddUnevenZones(ClusterBuilder& cluster) {
  for (const char* name : {"a0", "a1", "a2", "b0"}) {
    cluster.Node(name, {.labels = {{"zone", std::string(1, *name)}}});
  }
}

std::map<char, int> PodsByZone(const Decisions& decisions) {
  std::map<char, int> zones;
  for (const auto& [task, node] : decisions.binds) ++zones[node[0]];
  return zones;
}

TEST(PodSpread, AGangIsJudgedPlacementByPlacement) {
  ClusterBuilder cluster;
  AddUnevenZones(cluster);
  cluster.Job("j", {.tasks = 6, .task = Web({Even()})});
  EXPECT_THAT(PodsByZone(RunCycle(cluster.state)), ElementsAre(Pair('a', 3), Pair('b', 3)));
}

TEST(PodSpread, PodsThatRunAlreadyCount) {
  ClusterBuilder cluster;
  AddUnevenZones(cluster);
  cluster.Occupy("a0", Web()).Occupy("a1", Web());
  cluster.Occupy("b0", Web(), TaskStatus::kReleasing);  // on its way out
  cluster.Job("j", {.tasks = 2, .task = Web({Even()})});
  EXPECT_THAT(PodsByZone(RunCycle(cluster.state)), ElementsAre(Pair('b', 2)));
}

TEST(PodSpread, AFullZoneHoldsBackTheRest) {
  ClusterBuilder cluster;
  AddUnevenZones(cluster);
  cluster.Occupy("b0", {.cpu = 7});
  cluster.Job("j", {.tasks = 4, .task = Web({Even()})});
  const Decisions decisions = RunCycle(cluster.state);
  EXPECT_THAT(decisions.binds, IsEmpty());
  EXPECT_THAT(decisions.Message("j"), HasSubstr("3 of 4 pods fit on the 4 nodes"));
  EXPECT_THAT(decisions.Message("j"),
              HasSubstr("3 node(s) didn't match pod topology spread constraints"));
}

TEST(PodSpread, TooFewDomainsCountAsIfThereWereAnEmptyOne) {
  ClusterBuilder cluster;
  AddUnevenZones(cluster);
  SpreadRule rule = Even();
  rule.min_domains = 3;
  cluster.Job("j", {.tasks = 4, .task = Web({rule}), .min_available = 1});
  EXPECT_THAT(PodsByZone(RunCycle(cluster.state)), ElementsAre(Pair('a', 1), Pair('b', 1)));
}

TEST(PodSpread, ANodeWithoutTheKeyTakesNone) {
  ClusterBuilder cluster;
  cluster.Node("n");
  cluster.Job("j", {.tasks = 1, .task = Web({Even()})});
  EXPECT_THAT(
      RunCycle(cluster.state).Message("j"),
      HasSubstr("1 node(s) didn't match pod topology spread constraints (missing required label)"));
}

TEST(PodSpread, NodesThatThePodCannotUseDoNotCountUnlessItSaysSo) {
  ClusterBuilder cluster;
  AddUnevenZones(cluster);
  cluster.Node("c0", {.labels = {{"zone", "c"}, {"disk", "hdd"}}});
  TaskArgs args = Web({Even()});
  for (const char* node : {"a0", "a1", "a2", "b0"}) {
    cluster.Node(node, {.labels = {{"zone", std::string(1, *node)}, {"disk", "ssd"}}});
  }
  args.selector = {{"disk", "ssd"}};
  cluster.Job("j", {.tasks = 4, .task = args});
  EXPECT_THAT(RunCycle(cluster.state).binds, SizeIs(4));
  args.rules.spread[0].node_affinity = SpreadRule::NodePolicy::kIgnore;
  cluster.Job("k", {.tasks = 1, .task = args});
  EXPECT_THAT(RunCycle(cluster.state).NodesOf("k"), IsEmpty());  // zone c stays empty
}

TEST(PodSpread, TaintsCountWhenHonoured) {
  ClusterBuilder cluster;
  AddUnevenZones(cluster);
  cluster.Node("c0",
               {.labels = {{"zone", "c"}},
                .taints = {{.key = "k", .value = "", .effect = TaintEffect::kNoSchedule}}});
  SpreadRule rule = Even();
  cluster.Job("j", {.tasks = 4, .task = Web({rule})});
  EXPECT_THAT(RunCycle(cluster.state).binds, IsEmpty());
  rule.node_taints = SpreadRule::NodePolicy::kHonor;
  cluster.Job("k", {.tasks = 4, .task = Web({rule})});
  EXPECT_THAT(RunCycle(cluster.state).binds, SizeIs(4));
}

TEST(PodSpread, ScheduleAnywayPrefersTheEmptierZone) {
  ClusterBuilder cluster;
  AddUnevenZones(cluster);
  cluster.Occupy("a0", Web()).Occupy("a1", Web());
  cluster.Job("j", {.tasks = 1, .task = Web({Even(Unsatisfiable::kScheduleAnyway)})});
  EXPECT_THAT(RunCycle(cluster.state).binds, ElementsAre(Pair("j-w-0", "b0")));
}

TEST(PodSpread, ScoresFallWithThePodsInTheZone) {
  ClusterBuilder cluster;
  AddUnevenZones(cluster);
  cluster.Node("lost");
  cluster.Occupy("a0", Web()).Occupy("a1", Web()).Occupy("b0", Web());
  cluster.Job("j", {.tasks = 1, .task = Web({Even(Unsatisfiable::kScheduleAnyway)})});
  PeerCounts peers(cluster.state,
                   cluster.state.workload().task(cluster.FindTask("j-w-0")).class_id);
  peers.Refresh();
  const std::vector<NodeId> nodes = {
      cluster.FindNode("a2"), cluster.FindNode("b0"), cluster.FindNode("lost")};
  std::vector<std::int64_t> scores(3);
  ScoreSpread(peers, nodes, scores);
  // Two zones: ln 4 = 1.39 for a pod, so 3 and 1 after rounding; 100 * (3 + 1 - s) / 3.
  EXPECT_THAT(scores, ElementsAre(33, 100, 0));
}

TEST(PodSpread, TheLogarithmIsExactEnough) {
  for (const double number : {1.0, 2.0, 3.0, 10.0, 102.0, 10'002.0, 1e6}) {
    EXPECT_NEAR(NaturalLog(number), std::log(number), 1e-14 * std::max(1.0, std::log(number)));
  }
}

TEST(PodSpread, CanBeSwitchedOff) {
  ClusterBuilder cluster;
  cluster.Node("n");
  cluster.Job("j", {.tasks = 1, .task = Web({Even()})});
  EXPECT_THAT(
      RunCycle(cluster.state,
               testing::ConfigWith("predicates", "predicate.PodTopologySpreadEnable", false))
          .binds,
      SizeIs(1));
}

}  // namespace
}  // namespace strata
