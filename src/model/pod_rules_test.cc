#include "model/pod_rules.h"

#include <gtest/gtest.h>

#include "tests/support/cluster_builder.h"

namespace strata {
namespace {

using testing::ClusterBuilder;
using testing::Pods;

const PodIdentity kWeb{.ns = "", .labels = {{"app", "web"}}};

TEST(PodTerm, MatchesByLabelsAndNamespace) {
  PodTerm term = Pods("app", "web", "zone");
  EXPECT_TRUE(term.Matches(kWeb));
  EXPECT_FALSE(term.Matches({.ns = "", .labels = {{"app", "db"}}}));
  term.namespaces = {"a", "b"};
  EXPECT_FALSE(term.Matches(kWeb));
  EXPECT_TRUE(term.Matches({.ns = "b", .labels = kWeb.labels}));
  term.every_namespace = true;
  EXPECT_TRUE(term.Matches(kWeb));
}

TEST(PodTerm, WithoutASelectorMatchesNoPodAndWithAnEmptyOneEveryPod) {
  PodTerm term = Pods("app", "web", "zone");
  term.selector = std::nullopt;
  EXPECT_FALSE(term.Matches(kWeb));
  term.selector = LabelSelector{};
  EXPECT_TRUE(term.Matches(kWeb));
}

TEST(SpreadRule, MeansPodsOfTheOwnNamespaceOnly) {
  SpreadRule rule;
  EXPECT_FALSE(rule.Matches(kWeb, kWeb));
  rule.selector = LabelSelector{};
  EXPECT_TRUE(rule.Matches(kWeb, kWeb));
  EXPECT_FALSE(rule.Matches(kWeb, {.ns = "other", .labels = {}}));
}

TEST(ClusterState, KnowsItsNodesByTheValueOfALabel) {
  ClusterBuilder cluster;
  cluster.Node("n0", {.labels = {{"zone", "a"}}}).Node("n1", {.labels = {{"zone", "b"}}});
  cluster.Node("n2", {.labels = {{"zone", "a"}}}).Node("n3");
  const auto zone_of = [&](const char* node) {
    return cluster.state.nodes().Domains("zone").Of(cluster.FindNode(node));
  };
  EXPECT_EQ(cluster.state.nodes().Domains("zone").count, 2U);
  EXPECT_EQ(zone_of("n0"), zone_of("n2"));
  EXPECT_NE(zone_of("n0"), zone_of("n1"));
  EXPECT_EQ(zone_of("n3"), TopologyDomains::kNone);
  cluster.Node("n2", {.labels = {{"zone", "b"}}});
  EXPECT_EQ(zone_of("n2"), zone_of("n1"));
  cluster.state.RemoveNode(cluster.FindNode("n0"));
  EXPECT_EQ(cluster.state.nodes().Domains("zone").count, 1U);
}

}  // namespace
}  // namespace strata
