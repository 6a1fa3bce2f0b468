#include "sched/topology_limit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/cluster_builder.h"

namespace strata {
namespace {

using testing::ClusterBuilder;
using testing::Hard;
using testing::HardAnyTier;
using testing::HardByName;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::Soft;
using Kind = TopologyLimit::Kind;

constexpr bool kCanSearch = true;

// Racks at tier 1, spines at 2, the core at 3, the virtual top at 4.
class Limit : public ::testing::Test {
 protected:
  Limit() { testing::AddExampleTree(cluster_); }
  [[nodiscard]] TopologyLimit Of(const TopologySpec& spec, const TopologyLimit& outer = {}) const {
    return ResolveLimit(cluster_.state.tree(), spec, outer, kCanSearch);
  }
  ClusterBuilder cluster_;
};

TEST_F(Limit, IsNoneWithoutATopology) {
  EXPECT_EQ(Of({}).kind, Kind::kNone);
}

TEST_F(Limit, OfHardIsTheTierThatWasWritten) {
  EXPECT_EQ(Of(Hard(2)).kind, Kind::kBounded);
  EXPECT_EQ(Of(Hard(2)).tier, 2);
  EXPECT_THAT(Of(Hard(3)).warning, IsEmpty());
}

TEST_F(Limit, OfHardWithoutATierIsTheHighestRealTier) {
  EXPECT_EQ(Of(HardAnyTier()).tier, 3);
}

TEST_F(Limit, OfHardByNameIsTheTierWithThatName) {
  EXPECT_EQ(Of(HardByName("spine")).tier, 2);
}

TEST_F(Limit, ByAnUnknownTierNameIsImpossibleAndListsTheKnownNames) {
  const TopologyLimit limit = Of(HardByName("rakc"));
  EXPECT_EQ(limit.kind, Kind::kImpossible);
  EXPECT_EQ(limit.refusal.reason, "UnknownTierName");
  EXPECT_THAT(limit.refusal.message, HasSubstr("rakc"));
  EXPECT_THAT(limit.refusal.message, HasSubstr("core, rack, spine"));
}

TEST_F(Limit, AtOrAboveTheTopDoesNotBindAndWarns) {
  for (const int tier : {4, 99}) {
    EXPECT_EQ(Of(Hard(tier)).tier, 4);
    EXPECT_THAT(Of(Hard(tier)).warning, HasSubstr(std::to_string(tier)));
  }
}

TEST_F(Limit, OfSoftIsTheTopAndInsideAJobTheLimitOfTheJob) {
  EXPECT_EQ(Of(Soft()).tier, 4);
  EXPECT_EQ(Of(Soft(), Of(Hard(2))).tier, 2);
}

TEST_F(Limit, OfAHardSubJobIsItsOwn) {
  EXPECT_EQ(Of(Hard(1), Of(Hard(2))).tier, 1);
}

TEST_F(Limit, OfHardNeedsThePluginThatSearches) {
  const auto without = [&](const TopologySpec& spec) {
    return ResolveLimit(cluster_.state.tree(), spec, {}, !kCanSearch);
  };
  EXPECT_EQ(without(Hard(1)).kind, Kind::kImpossible);
  EXPECT_EQ(without(Hard(1)).refusal.reason, "TopologyPluginDisabled");
  EXPECT_EQ(without(Soft()).kind, Kind::kNone);
}

TEST(LimitWithoutHyperNodes, IsTheWholeCluster) {
  ClusterBuilder cluster;
  cluster.Nodes(2);
  for (const TopologySpec& spec : {Hard(1), HardAnyTier(), HardByName("x"), Soft()}) {
    const TopologyLimit limit = ResolveLimit(cluster.state.tree(), spec, {}, kCanSearch);
    EXPECT_EQ(limit.kind, Kind::kBounded);
    EXPECT_EQ(limit.tier, 1);
    EXPECT_THAT(limit.warning, IsEmpty());
  }
}

TEST(LimitWithInvalidHyperNodes, StillBinds) {
  ClusterBuilder cluster;
  cluster.Nodes(1).Above("a", 1, {"b"}).Above("b", 2, {"a"});
  const TopologyLimit limit = ResolveLimit(cluster.state.tree(), HardAnyTier(), {}, kCanSearch);
  EXPECT_EQ(limit.kind, Kind::kBounded);
  EXPECT_LT(limit.tier, cluster.state.tree().at(cluster.state.tree().top()).tier);
  EXPECT_EQ(limit.TierToSay(), 2);
}

TEST(LimitWithInvalidHyperNodes, MessagesNameTheTierAsWritten) {
  ClusterBuilder cluster;
  cluster.Nodes(1).Above("a", 1, {"a"});
  const HyperNodeTree& tree = cluster.state.tree();
  const TopologyLimit limit = ResolveLimit(tree, Hard(1), {}, kCanSearch);
  EXPECT_EQ(limit.tier, 0);
  EXPECT_EQ(limit.TierToSay(), 1);
  EXPECT_EQ(ResolveLimit(tree, Soft(), limit, kCanSearch).TierToSay(), 1);
}

TEST(LimitWithInvalidHyperNodes, OfATierThatIsInTheTreeIsThatTier) {
  ClusterBuilder cluster;
  cluster.Nodes(1).Leaf("s", 1, {"node0"}).Above("a", 7, {"a"});
  const HyperNodeTree& tree = cluster.state.tree();
  EXPECT_EQ(ResolveLimit(tree, Hard(1), {}, kCanSearch).TierToSay(), 1);
  EXPECT_EQ(ResolveLimit(tree, HardAnyTier(), {}, kCanSearch).TierToSay(), 1);
}

TEST(LimitByNameOfAnInvalidHyperNode, NamesTheInvalidHyperNode) {
  ClusterBuilder cluster;
  cluster.Nodes(1).Above("a", 1, {"a"}, "rack");
  const TopologyLimit limit =
      ResolveLimit(cluster.state.tree(), HardByName("rack"), {}, kCanSearch);
  EXPECT_EQ(limit.refusal.reason, "UnknownTierName");
  EXPECT_THAT(limit.refusal.message, HasSubstr("HyperNode a has it, but is invalid and excluded"));
}

}  // namespace
}  // namespace strata
