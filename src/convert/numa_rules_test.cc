#include "convert/numa_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "objects/test_support.h"

namespace strata {
namespace {

using objects::MustLoad;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr auto kSingle = NumaPolicy::kSingleNumaNode;

// Two sockets with a NUMA node each, of four CPUs: two cores of two threads.
std::string Topology(const std::string& spec) {
  std::string cpus;
  for (int cpu = 0; cpu < 8; ++cpu) {
    const std::string numa = std::to_string(cpu / 4);
    cpus += (cpus.empty() ? "" : ", ") + ("\"" + std::to_string(cpu)) + "\": {numa: " + numa +
            ", socket: " + numa + ", core: " + std::to_string(cpu / 2) + "}";
  }
  return "apiVersion: nodeinfo.volcano.sh/v1alpha1\nkind: Numatopology\nmetadata: {name: n0}\n"
         "spec: {cpuDetail: {" +
         cpus + "}, " + spec + "}\n";
}

Result<NumaSpec> SpecOf(const std::string& spec) {
  return ToNumaSpec(MustLoad(Topology(spec)).numa_topologies.at(0));
}

TEST(NumaRules, ANodeHasItsPoliciesAndItsCpusByNumaNode) {
  const NumaSpec spec =
      SpecOf(
          "policies: {CPUManagerPolicy: static, TopologyManagerPolicy: single-numa-node}, "
          "numares: {cpu: {allocatable: \"0-1,5-7\", capacity: 8}}")
          .value();
  EXPECT_EQ(spec.policy, kSingle);
  EXPECT_TRUE(spec.static_cpus);
  EXPECT_TRUE(spec.Aligns());
  EXPECT_THAT(spec.cells,
              ElementsAre(NumaCell{.cpus = 4, .free = 2}, NumaCell{.cpus = 4, .free = 3}));
}

TEST(NumaRules, ReservedCpusAreTheFirstCoresAndNotFree) {
  const NumaSpec spec = SpecOf(
                            "resReserved: {cpu: 2500m}, "
                            "numares: {cpu: {allocatable: \"2-7\", capacity: 8}}")
                            .value();
  EXPECT_THAT(spec.cells,
              ElementsAre(NumaCell{.cpus = 4, .free = 1}, NumaCell{.cpus = 4, .free = 4}));
  EXPECT_FALSE(spec.Aligns()) << "no policy is none";
}

TEST(NumaRules, WhatIsWrongWithATopologyIsSaidInOneLine) {
  EXPECT_EQ(SpecOf("policies: {TopologyManagerPolicy: strict}").error().message,
            "spec.policies.TopologyManagerPolicy: unknown value \"strict\" (want none, "
            "best-effort, restricted or single-numa-node)");
  for (const char* cpus : {"0-", "3-1", "a", "0,,1", "-1", "0-70000", " 1"}) {
    EXPECT_EQ(
        SpecOf("numares: {cpu: {allocatable: \"" + std::string(cpus) + "\"}}").error().message,
        "spec.numares.cpu.allocatable: want a list of cpus such as 0-3,8, found \"" +
            std::string(cpus) + "\"");
  }
}

TEST(NumaRules, CpuSetsAreRangesAndNumbers) {
  EXPECT_THAT(ParseCpuSet("").value(), IsEmpty());
  EXPECT_THAT(ParseCpuSet("8,0-2,1").value(), ElementsAre(0, 1, 2, 8));
}

std::string NumaPod(const std::string& policy,
                    const std::string& containers,
                    const std::string& spec = "") {
  return "apiVersion: v1\nkind: Pod\nmetadata: {name: p, annotations: "
         "{volcano.sh/numa-topology-policy: \"" +
         policy + "\"}}\nspec: {containers: [" + containers + "]" + spec + "}\n";
}
std::string Container(const std::string& name, const std::string& cpu) {
  return "{name: " + name + ", image: i, resources: {limits: {cpu: " + cpu + ", memory: 1Gi}}}";
}
Result<NumaRules> RulesOf(const std::string& yaml) {
  return ToNumaRules(MustLoad(yaml).pods.at(0));
}

TEST(NumaRules, AGuaranteedPodHoldsItsWholeCpusAlone) {
  const NumaRules rules = RulesOf(NumaPod("single-numa-node",
                                          Container("a", "4") + ", " + Container("b", "1500m") +
                                              ", " + Container("c", "2")))
                              .value();
  EXPECT_EQ(rules.policy, kSingle);
  EXPECT_THAT(rules.cpus, ElementsAre(4, 2));
}

TEST(NumaRules, SidecarsHoldTheirCpusBesideTheOthers) {
  const std::string resources = "resources: {limits: {cpu: 3, memory: 1Gi}}";
  const NumaRules rules =
      RulesOf(
          "{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {initContainers: [{name: once, " +
          resources + "}, {name: side, restartPolicy: Always, " + resources + "}], containers: [" +
          Container("a", "4") + "]}}")
          .value();
  EXPECT_THAT(rules.cpus, ElementsAre(3, 4));
}

TEST(NumaRules, APodThatIsNotGuaranteedAsksForNothing) {
  EXPECT_TRUE(RulesOf(NumaPod("restricted",
                              "{name: a, image: i, resources: {requests: {cpu: 2, memory: 1Gi}, "
                              "limits: {cpu: 4, memory: 1Gi}}}"))
                  .value()
                  .empty());
  EXPECT_TRUE(RulesOf(NumaPod("restricted", "{name: a, image: i, resources: {limits: {cpu: 2}}}"))
                  .value()
                  .empty())
      << "memory too must be fixed";
  EXPECT_TRUE(
      RulesOf(NumaPod("restricted", Container("a", "2"), ", initContainers: [{name: i, image: i}]"))
          .value()
          .empty());
}

TEST(NumaRules, AnUnknownPolicyIsAnErrorUnlessThePodHasItsNode) {
  EXPECT_EQ(RulesOf(NumaPod("close", Container("a", "2"))).error().message,
            "metadata.annotations.volcano.sh/numa-topology-policy: unknown value \"close\" (want "
            "none, best-effort, restricted or single-numa-node)");
  EXPECT_EQ(RulesOf(NumaPod("close", Container("a", "2"), ", nodeName: n0")).value().policy,
            NumaPolicy::kNone);
}

}  // namespace
}  // namespace strata
