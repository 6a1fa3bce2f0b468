#include "model/constraints.h"

#include <gtest/gtest.h>

namespace strata {
namespace {

const Taint kGpuOnly = {.key = "gpu", .value = "h100", .effect = TaintEffect::kNoSchedule};
const Taint kDraining = {.key = "drain", .value = "", .effect = TaintEffect::kNoExecute};
const Taint kSlow = {.key = "slow", .value = "yes", .effect = TaintEffect::kPreferNoSchedule};

Toleration Equal(std::string key, std::string value) {
  return {
      .key = std::move(key), .op = Toleration::Op::kEqual, .value = std::move(value), .effect = {}};
}

Toleration Exists(std::string key) {
  return {.key = std::move(key), .op = Toleration::Op::kExists, .value = "", .effect = {}};
}

Requirement NameIn(std::vector<std::string> names) {
  return {.key = "metadata.name", .op = SelectorOp::kIn, .values = std::move(names)};
}

Requirement LabelIn(std::string key, std::vector<std::string> values) {
  return {.key = std::move(key), .op = SelectorOp::kIn, .values = std::move(values)};
}

HostPort Port(std::string ip, std::string protocol, std::int32_t port) {
  return {.ip = std::move(ip), .protocol = std::move(protocol), .port = port};
}

TEST(Toleration, EqualComparesKeyAndValue) {
  EXPECT_TRUE(Equal("gpu", "h100").Tolerates(kGpuOnly));
  EXPECT_FALSE(Equal("gpu", "a100").Tolerates(kGpuOnly));
  EXPECT_FALSE(Equal("cpu", "h100").Tolerates(kGpuOnly));
}

TEST(Toleration, ExistsIgnoresTheValue) {
  EXPECT_TRUE(Exists("gpu").Tolerates(kGpuOnly));
  EXPECT_FALSE(Exists("cpu").Tolerates(kGpuOnly));
}

TEST(Toleration, ExistsWithoutAKeyToleratesEveryTaint) {
  for (const Taint& taint : {kGpuOnly, kDraining, kSlow}) {
    EXPECT_TRUE(Exists("").Tolerates(taint)) << taint.key;
  }
}

TEST(Toleration, WithAnEffectToleratesThatEffectOnly) {
  Toleration toleration = Exists("");
  toleration.effect = TaintEffect::kNoExecute;
  EXPECT_TRUE(toleration.Tolerates(kDraining));
  EXPECT_FALSE(toleration.Tolerates(kGpuOnly));
}

TEST(FirstUntolerated, IsTheFirstHardTaintNothingTolerates) {
  const std::vector<Taint> taints = {kSlow, kGpuOnly, kDraining};
  EXPECT_EQ(FirstUntolerated(taints, {}), &taints[1]);
  EXPECT_EQ(FirstUntolerated(taints, {Equal("gpu", "h100")}), &taints[2]);
  EXPECT_EQ(FirstUntolerated(taints, {Equal("gpu", "h100"), Exists("drain")}), nullptr);
  EXPECT_EQ(FirstUntolerated({}, {}), nullptr);
}

TEST(CountUntoleratedPreferences, CountsSoftTaintsOnly) {
  const std::vector<Taint> taints = {kSlow, kGpuOnly, {"old", "", TaintEffect::kPreferNoSchedule}};
  EXPECT_EQ(CountUntoleratedPreferences(taints, {}), 2);
  EXPECT_EQ(CountUntoleratedPreferences(taints, {Exists("slow")}), 1);
  EXPECT_EQ(CountUntoleratedPreferences(taints, {Exists("")}), 0);
}

TEST(NodeSelectorTerm, ThatIsEmptyMatchesNothing) {
  EXPECT_FALSE(NodeSelectorTerm{}.Matches("node0", {{"rack", "a"}}));
}

TEST(NodeSelectorTerm, NeedsItsLabelsAndItsFields) {
  const NodeSelectorTerm term = {.labels = {LabelIn("rack", {"a"})}, .fields = {NameIn({"node0"})}};
  EXPECT_TRUE(term.Matches("node0", {{"rack", "a"}}));
  EXPECT_FALSE(term.Matches("node1", {{"rack", "a"}}));
  EXPECT_FALSE(term.Matches("node0", {{"rack", "b"}}));
}

TEST(NodeSelectorTerm, OnFieldsAloneMatchesByName) {
  const NodeSelectorTerm term = {.labels = {}, .fields = {NameIn({"node0"})}};
  EXPECT_TRUE(term.Matches("node0", {}));
  EXPECT_FALSE(term.Matches("node1", {}));
}

TEST(NodeSelectorTerm, OnAFieldNodesDoNotHaveMatchesNothing) {
  const Requirement phase = {.key = "status.phase", .op = SelectorOp::kNotIn, .values = {"x"}};
  EXPECT_FALSE((NodeSelectorTerm{.labels = {}, .fields = {phase}}).Matches("node0", {}));
}

TEST(MatchesNode, NeedsTheNodeSelectorAndAnyRequiredTerm) {
  const NodeAffinity affinity = {
      .required = {{{.labels = {LabelIn("zone", {"z1"})}, .fields = {}},
                    {.labels = {LabelIn("zone", {"z2"})}, .fields = {}}}},
      .preferred = {}};
  EXPECT_TRUE(MatchesNode({{"rack", "a"}}, affinity, "n", {{"rack", "a"}, {"zone", "z2"}}));
  EXPECT_FALSE(MatchesNode({{"rack", "b"}}, affinity, "n", {{"rack", "a"}, {"zone", "z2"}}));
  EXPECT_FALSE(MatchesNode({{"rack", "a"}}, affinity, "n", {{"rack", "a"}, {"zone", "z3"}}));
  EXPECT_FALSE(MatchesNode({{"absent", ""}}, {}, "n", {{"rack", "a"}}));
}

TEST(MatchesNode, WithoutConstraintsIsEveryNode) {
  EXPECT_TRUE(MatchesNode({}, {}, "n", {}));
}

TEST(MatchesNode, WithRequiredAffinityOfNoTermsIsNoNode) {
  const NodeAffinity affinity = {.required = std::vector<NodeSelectorTerm>{}, .preferred = {}};
  EXPECT_FALSE(MatchesNode({}, affinity, "n", {}));
}

TEST(PreferredWeight, SumsTheTermsThatMatch) {
  const NodeAffinity affinity = {
      .required = {},
      .preferred = {{.weight = 10, .term = {.labels = {LabelIn("rack", {"a"})}, .fields = {}}},
                    {.weight = 5, .term = {.labels = {}, .fields = {NameIn({"node0"})}}},
                    {.weight = 100, .term = {}}}};
  EXPECT_EQ(PreferredWeight(affinity, "node0", {{"rack", "a"}}), 15);
  EXPECT_EQ(PreferredWeight(affinity, "node1", {{"rack", "a"}}), 10);
  EXPECT_EQ(PreferredWeight(affinity, "node1", {}), 0);
}

TEST(HostPort, ConflictsOnTheSameAddressProtocolAndPort) {
  const HostPort port = Port("10.0.0.1", "TCP", 80);
  EXPECT_TRUE(port.ConflictsWith(Port("10.0.0.1", "TCP", 80)));
  EXPECT_FALSE(port.ConflictsWith(Port("10.0.0.2", "TCP", 80)));
  EXPECT_FALSE(port.ConflictsWith(Port("10.0.0.1", "UDP", 80)));
  EXPECT_FALSE(port.ConflictsWith(Port("10.0.0.1", "TCP", 81)));
}

TEST(HostPort, OnEveryAddressConflictsWithAnyAddress) {
  for (const char* every : {"", "0.0.0.0"}) {
    EXPECT_TRUE(Port(every, "TCP", 80).ConflictsWith(Port("10.0.0.1", "TCP", 80)));
    EXPECT_TRUE(Port("10.0.0.1", "TCP", 80).ConflictsWith(Port(every, "TCP", 80)));
    EXPECT_TRUE(Port(every, "TCP", 80).ConflictsWith(Port("", "TCP", 80)));
    EXPECT_FALSE(Port(every, "TCP", 80).ConflictsWith(Port("", "UDP", 80)));
  }
}

TEST(HostPort, WithoutAProtocolIsTcpAndPortZeroIsNone) {
  EXPECT_TRUE(Port("", "", 80).ConflictsWith(Port("", "TCP", 80)));
  EXPECT_FALSE(Port("", "TCP", 0).ConflictsWith(Port("", "TCP", 0)));
}

}  // namespace
}  // namespace strata
