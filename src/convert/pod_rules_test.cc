#include "convert/pod_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "objects/test_support.h"

namespace strata {
namespace {

using objects::MustLoad;
using testing::ElementsAre;
using testing::Pair;

// A pod with labels {app: web, index: "7"} in namespace "shop"; `spec` goes into its spec.
std::string PodWith(const std::string& spec) {
  return "apiVersion: v1\nkind: Pod\n"
         "metadata: {name: p, namespace: shop, labels: {app: web, index: \"7\"}}\n"
         "spec:\n  containers: [{name: c, image: i}]\n" +
         spec;
}

std::string Affinity(const std::string& kind, const std::string& term) {
  return PodWith("  affinity: {" + kind + ": {requiredDuringSchedulingIgnoredDuringExecution: [{" +
                 term + "}]}}\n");
}

PodRules RulesFrom(const std::string& yaml) {
  const objects::ObjectSet objects = MustLoad(yaml);
  return PodRulesReader(objects).RulesOf(objects.pods.at(0));
}

constexpr const char* kSelector = "topologyKey: zone, labelSelector: {matchLabels: {app: db}}";

TEST(PodRulesReader, PodsWithoutRulesAreAllAlike) {
  const objects::ObjectSet objects = MustLoad(PodWith(""));
  const PodRulesReader reader(objects);
  EXPECT_EQ(reader.IdentityOf(objects.pods.at(0)), PodIdentity{});
  EXPECT_TRUE(reader.RulesOf(objects.pods.at(0)).empty());
}

TEST(PodRulesReader, OnlyLabelsThatSomebodySelectsByAreKept) {
  const objects::ObjectSet objects = MustLoad(
      Affinity("podAntiAffinity", "topologyKey: zone, labelSelector: {matchLabels: {app: web}}"));
  const PodIdentity identity = PodRulesReader(objects).IdentityOf(objects.pods.at(0));
  EXPECT_EQ(identity.ns, "shop");
  EXPECT_THAT(identity.labels, ElementsAre(Pair("app", "web")));
}

TEST(PodRulesReader, ATermMeansTheOwnNamespaceUnlessItNamesOthers) {
  EXPECT_THAT(RulesFrom(Affinity("podAffinity", kSelector)).affinity.at(0).namespaces,
              ElementsAre("shop"));
  EXPECT_THAT(
      RulesFrom(Affinity("podAntiAffinity", std::string(kSelector) + ", namespaces: [b, a]"))
          .anti_affinity.at(0)
          .namespaces,
      ElementsAre("a", "b"));
}

TEST(PodRulesReader, NamespacesAreSelectedByTheirLabels) {
  const std::string namespaces =
      "---\napiVersion: v1\nkind: Namespace\nmetadata: {name: one, labels: {team: red}}\n"
      "---\napiVersion: v1\nkind: Namespace\nmetadata: {name: two, labels: {team: blue}}\n";
  const auto from = [&](const std::string& more) {
    return RulesFrom(Affinity("podAffinity", std::string(kSelector) + more) + namespaces)
        .affinity.at(0);
  };
  EXPECT_THAT(from(", namespaceSelector: {matchLabels: {team: red}}").namespaces,
              ElementsAre("one"));
  EXPECT_THAT(
      from(", namespaces: [shop], namespaceSelector: {matchLabels: {team: blue}}").namespaces,
      ElementsAre("shop", "two"));
  EXPECT_THAT(
      from(", namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: shop}}").namespaces,
      ElementsAre("shop"));
  EXPECT_TRUE(from(", namespaceSelector: {}").every_namespace);
}

TEST(PodRulesReader, AntiAffinityHasANegativeWeight) {
  const PodRules rules = RulesFrom(
      PodWith("  affinity: {podAntiAffinity: {preferredDuringSchedulingIgnoredDuringExecution: "
              "[{weight: 30, podAffinityTerm: {" +
              std::string(kSelector) + "}}]}}\n"));
  EXPECT_EQ(rules.preferred.at(0).weight, -30);
}

TEST(PodRulesReader, SpreadConstraintsKeepTheirTerms) {
  const PodRules rules = RulesFrom(PodWith(
      "  topologySpreadConstraints:\n"
      "  - {maxSkew: 2, topologyKey: zone, whenUnsatisfiable: DoNotSchedule, minDomains: 3,\n"
      "     nodeTaintsPolicy: Honor, labelSelector: {matchLabels: {app: web}},\n"
      "     matchLabelKeys: [index]}\n"));
  const SpreadRule& rule = rules.spread.at(0);
  EXPECT_EQ(rule.max_skew, 2);
  EXPECT_EQ(rule.min_domains, 3);
  EXPECT_EQ(rule.node_taints, SpreadRule::NodePolicy::kHonor);
  EXPECT_EQ(ToString(*rule.selector), "app=web,index=7");
}

}  // namespace
}  // namespace strata
