#include "model/hypernode_tree.h"

#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/named_cluster.h"

namespace strata {
namespace {

using testing::Child;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::kTop;
using testing::Labelled;
using testing::Matching;
using testing::NamedCluster;
using testing::NodeNamed;
using ::testing::Optional;
using testing::SevenHyperNodes;

TEST(HyperNodeTree, WithoutHyperNodesIsTheTopOverAllNodes) {
  NamedCluster cluster;
  cluster.AddNodes(2);
  EXPECT_EQ(cluster.tree.hypernodes().size(), 1U);
  EXPECT_EQ(cluster.At(kTop).tier, 1);
  EXPECT_THAT(cluster.tree.tiers(), ElementsAre(1));
  EXPECT_THAT(cluster.NodesOf(kTop), ElementsAre("node0", "node1"));
  EXPECT_THAT(cluster.HyperNodesOf("node0"), ElementsAre(kTop));
  EXPECT_FALSE(cluster.tree.has_hypernodes());
  EXPECT_TRUE(cluster.tree.ready());
}

TEST(HyperNodeTree, AnswersWhileItIsEmpty) {
  const HyperNodeTree tree;
  EXPECT_THAT(tree.NodesOf(tree.top()), IsEmpty());
  EXPECT_EQ(tree.chain_count(), 0U);
  EXPECT_EQ(tree.version(), 0U);
}

TEST(HyperNodeTree, HoldsTheNodesOfAllItsChildren) {
  const NamedCluster cluster = SevenHyperNodes();
  EXPECT_THAT(cluster.NodesOf("s1"), ElementsAre("node2", "node3"));
  EXPECT_THAT(cluster.NodesOf("s5"), ElementsAre("node4", "node5", "node6", "node7"));
  EXPECT_EQ(cluster.NodesOf("s6"), cluster.NodesOf(kTop));
  EXPECT_EQ(cluster.NodesOf("s6").size(), 8U);
  EXPECT_TRUE(cluster.tree.ready());
}

TEST(HyperNodeTree, LinksParentsChildrenAndDepth) {
  const NamedCluster cluster = SevenHyperNodes();
  EXPECT_THAT(cluster.ChildrenOf("s4"), ElementsAre("s0", "s1"));
  EXPECT_EQ(cluster.ParentOf("s4"), "s6");
  EXPECT_EQ(cluster.ParentOf("s6"), kTop);
  EXPECT_THAT(cluster.ChildrenOf(kTop), ElementsAre("s6"));
  EXPECT_EQ(cluster.At(kTop).depth, 0U);
  EXPECT_EQ(cluster.At("s0").depth, 3U);
  EXPECT_THAT(cluster.Names(cluster.tree.AncestorsOf(cluster.Id("s0"))),
              ElementsAre("s0", "s4", "s6", kTop));
}

TEST(HyperNodeTree, ListsTiersWithTheTopAboveAll) {
  const NamedCluster cluster = SevenHyperNodes();
  EXPECT_THAT(cluster.tree.tiers(), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(cluster.Names(cluster.tree.OfTier(2)), ElementsAre("s4", "s5"));
  EXPECT_THAT(cluster.Names(cluster.tree.OfTier(4)), ElementsAre(kTop));
  EXPECT_THAT(cluster.tree.OfTier(7), IsEmpty());
}

TEST(HyperNodeTree, ListsHyperNodesByNameAndTheTopLast) {
  const NamedCluster cluster = SevenHyperNodes();
  std::vector<std::string> names;
  for (const auto& hypernode : cluster.tree.hypernodes()) names.push_back(hypernode.name);
  EXPECT_THAT(names, ElementsAre("s0", "s1", "s2", "s3", "s4", "s5", "s6", kTop));
  EXPECT_EQ(cluster.tree.Find("s7"), std::nullopt);
  EXPECT_EQ(cluster.tree.Find(kTop), cluster.tree.top());
}

TEST(HyperNodeTree, FindsTheLowestCommonAncestor) {
  const NamedCluster cluster = SevenHyperNodes();
  EXPECT_EQ(cluster.Lca("s0", "s0"), "s0");
  EXPECT_EQ(cluster.Lca("s0", "s1"), "s4");
  EXPECT_EQ(cluster.Lca("s0", "s3"), "s6");
  EXPECT_EQ(cluster.Lca("s4", "s0"), "s4");
  EXPECT_EQ(cluster.Lca("s0", "s5"), "s6");
  EXPECT_EQ(cluster.Lca("s0", kTop), kTop);
  EXPECT_EQ(cluster.tree.Lca(HyperNodeId{}, cluster.Id("s2")), cluster.Id("s2"));
  EXPECT_EQ(cluster.tree.Lca(cluster.Id("s2"), HyperNodeId{}), cluster.Id("s2"));
  EXPECT_FALSE(cluster.tree.Lca(HyperNodeId{}, HyperNodeId{}).valid());
}

TEST(HyperNodeTree, OfSeveralRootsMeetsAtTheTop) {
  NamedCluster cluster = SevenHyperNodes();
  cluster.tree.RemoveHyperNode("s6");
  EXPECT_EQ(cluster.Lca("s0", "s3"), kTop);
  EXPECT_THAT(cluster.ChildrenOf(kTop), ElementsAre("s4", "s5"));
  EXPECT_EQ(cluster.At(kTop).tier, 3);
}

TEST(HyperNodeTree, KnowsAncestors) {
  const NamedCluster cluster = SevenHyperNodes();
  const HyperNodeTree& tree = cluster.tree;
  EXPECT_TRUE(tree.IsAncestorOrSelf(cluster.Id("s6"), cluster.Id("s0")));
  EXPECT_TRUE(tree.IsAncestorOrSelf(cluster.Id("s0"), cluster.Id("s0")));
  EXPECT_FALSE(tree.IsAncestorOrSelf(cluster.Id("s0"), cluster.Id("s4")));
  EXPECT_FALSE(tree.IsAncestorOrSelf(cluster.Id("s5"), cluster.Id("s0")));
  EXPECT_TRUE(tree.Contains(cluster.Id("s4"), cluster.Node("node3")));
  EXPECT_FALSE(tree.Contains(cluster.Id("s5"), cluster.Node("node3")));
  EXPECT_FALSE(tree.Contains(tree.top(), NodeId{99}));
}

TEST(HyperNodeTree, GroupsNodesInTheSameHyperNodesIntoAChain) {
  const NamedCluster cluster = SevenHyperNodes();
  EXPECT_EQ(cluster.tree.chain_count(), 4U);
  EXPECT_EQ(cluster.tree.ChainOf(cluster.Node("node0")), ChainId{0});
  EXPECT_EQ(cluster.tree.ChainOf(cluster.Node("node1")), ChainId{0});
  EXPECT_EQ(cluster.tree.ChainOf(cluster.Node("node6")), ChainId{3});
  EXPECT_THAT(cluster.HyperNodesOf("node6"), ElementsAre("s3", "s5", "s6", kTop));
  EXPECT_EQ(cluster.LeafOf("node6"), "s3");
}

TEST(HyperNodeTree, RanksNodesByNameWhateverTheirIds) {
  NamedCluster cluster;
  for (const char* name : {"c", "a", "b"}) cluster.AddNode(name);
  EXPECT_EQ(cluster.tree.NameRank(cluster.Node("a")), 0U);
  EXPECT_EQ(cluster.tree.NameRank(cluster.Node("b")), 1U);
  EXPECT_EQ(cluster.tree.NameRank(cluster.Node("c")), 2U);
  EXPECT_THAT(cluster.NodesOf(kTop), ElementsAre("a", "b", "c"));
  cluster.RemoveNode("a");
  EXPECT_EQ(cluster.tree.NameRank(cluster.Node("c")), 1U);
}

TEST(HyperNodeTree, AcceptsNodesThatComeAfterTheHyperNodesThatNameThem) {
  NamedCluster cluster;
  cluster.Add("s0", 1, {NodeNamed("node0"), NodeNamed("node9")});
  EXPECT_THAT(cluster.NodesOf("s0"), IsEmpty());
  cluster.AddNodes(2);
  EXPECT_THAT(cluster.NodesOf("s0"), ElementsAre("node0"));
  EXPECT_TRUE(cluster.At("s0").ready);
  EXPECT_EQ(cluster.At("s0").reason, "");
}

TEST(HyperNodeTree, ForgetsARemovedNode) {
  NamedCluster cluster = SevenHyperNodes();
  cluster.RemoveNode("node2");
  EXPECT_THAT(cluster.NodesOf("s4"), ElementsAre("node0", "node1", "node3"));
  EXPECT_FALSE(cluster.tree.ChainOf(cluster.Node("node2")).valid());
  cluster.AddNode("node2");
  EXPECT_THAT(cluster.NodesOf("s1"), ElementsAre("node2", "node3"));
}

TEST(HyperNodeTree, GivesTheIdOfARemovedNodeToAnother) {
  HyperNodeTree tree;
  tree.UpsertHyperNode({"s0", 1, "", {NodeNamed("old")}});
  tree.UpsertNode(NodeId{3}, "old", {});
  tree.RemoveNode(NodeId{3});
  tree.UpsertNode(NodeId{3}, "new", {});
  EXPECT_THAT(tree.NodesOf(*tree.Find("s0")), IsEmpty());
  EXPECT_THAT(tree.NodesOf(tree.top()), ElementsAre(NodeId{3}));
}

// ---- tiers ----

TEST(TierNames, MeanTheirTier) {
  NamedCluster cluster;
  cluster.AddNamed("s0", 1, "rack", {});
  cluster.AddNamed("s1", 2, "spine", {Child("s0")});
  cluster.Add("s2", 3, {Child("s1")});
  EXPECT_THAT(cluster.tree.TierOfName("spine"), Optional(2));
  EXPECT_EQ(cluster.tree.TierOfName("row"), std::nullopt);
  EXPECT_EQ(cluster.tree.TierOfName(""), std::nullopt);
  EXPECT_THAT(cluster.tree.TierNames(), ElementsAre("rack", "spine"));
}

TEST(TierNames, OnTwoTiersMeanTheHighestAndTheHyperNodesSaySo) {
  NamedCluster cluster;
  cluster.AddNamed("s0", 1, "rack", {});
  cluster.AddNamed("s1", 2, "rack", {Child("s0")});
  cluster.AddNamed("s2", 3, "spine", {Child("s1")});
  EXPECT_THAT(cluster.tree.TierOfName("rack"), Optional(2));
  EXPECT_THAT(cluster.tree.TierNames(), ElementsAre("rack", "spine"));
  EXPECT_EQ(cluster.At("s0").reason,
            "Its tierName \"rack\" is also on tier 2 (HyperNode \"s1\"); as a limit it means the "
            "highest, tier 2.");
  EXPECT_THAT(cluster.At("s1").reason, HasSubstr("is also on tier 1 (HyperNode \"s0\")"));
  EXPECT_EQ(cluster.At("s2").reason, "");
  EXPECT_TRUE(cluster.tree.ready());
}

TEST(TierNames, OfLeftOutHyperNodesAreNotKnown) {
  NamedCluster cluster;
  cluster.AddNamed("s0", 1, "rack", {Child("s0")});
  EXPECT_EQ(cluster.tree.TierOfName("rack"), std::nullopt);
}

TEST(Tiers, ZeroIsLegalAndTheTopIsAtLeastOne) {
  NamedCluster cluster;
  cluster.AddNodes(1);
  cluster.Add("host", 0, {NodeNamed("node0")});
  EXPECT_THAT(cluster.tree.tiers(), ElementsAre(0, 1));
  EXPECT_EQ(cluster.LeafOf("node0"), "host");
}

TEST(Tiers, AtTheLimitOfTheNumberDoNotOverflow) {
  NamedCluster cluster;
  constexpr std::int32_t kMax = std::numeric_limits<std::int32_t>::max();
  cluster.AddNodes(1);
  cluster.Add("s0", kMax, {NodeNamed("node0")});
  EXPECT_EQ(cluster.At(kTop).tier, kMax);
  EXPECT_THAT(cluster.HyperNodesOf("node0"), ElementsAre("s0", kTop));
}

TEST(Tiers, AreBelowTheTopUpToTheHighestThatMayBeWritten) {
  NamedCluster cluster;
  cluster.AddNodes(1);
  cluster.Add("s0", kHighestTier, {NodeNamed("node0")});
  EXPECT_EQ(cluster.At(kTop).tier, std::numeric_limits<std::int32_t>::max());
}

// ---- more than one way through the network ----

TEST(SeveralTrees, OverTheSameNodesHoldEachTheirOwn) {
  //  a0: n0 n1   a1: n2 n3   (by rack)      b0: n0 n2   b1: n1 n3   (by power)
  NamedCluster cluster;
  for (const char* name : {"n0", "n1", "n2", "n3"}) cluster.AddNode(name);
  cluster.Add("a0", 1, {NodeNamed("n0"), NodeNamed("n1")});
  cluster.Add("a1", 1, {NodeNamed("n2"), NodeNamed("n3")});
  cluster.Add("a", 2, {Child("a0"), Child("a1")});
  cluster.Add("b0", 1, {NodeNamed("n0"), NodeNamed("n2")});
  cluster.Add("b1", 1, {NodeNamed("n1"), NodeNamed("n3")});
  cluster.Add("b", 3, {Child("b0"), Child("b1")});
  EXPECT_TRUE(cluster.tree.ready());
  EXPECT_THAT(cluster.NodesOf("a1"), ElementsAre("n2", "n3"));
  EXPECT_THAT(cluster.NodesOf("b0"), ElementsAre("n0", "n2"));
  EXPECT_THAT(cluster.NodesOf("b1"), ElementsAre("n1", "n3"));
  EXPECT_THAT(cluster.NodesOf("b"), ElementsAre("n0", "n1", "n2", "n3"));
  EXPECT_EQ(cluster.tree.chain_count(), 4U);
  EXPECT_THAT(cluster.HyperNodesOf("n2"), ElementsAre("a1", "b0", "a", "b", kTop));
  EXPECT_EQ(cluster.LeafOf("n2"), "a1");
  EXPECT_EQ(cluster.Lca("a0", "b0"), kTop);
}

TEST(SeveralTrees, OfMixedDepthHaveTheLowestTierAsLeaf) {
  //   big (2): n0 n1          deep (3) > mid (2) > low (1): n2
  NamedCluster cluster;
  for (const char* name : {"n0", "n1", "n2", "alone"}) cluster.AddNode(name);
  cluster.Add("big", 2, {NodeNamed("n0"), NodeNamed("n1")});
  cluster.Add("low", 1, {NodeNamed("n2")});
  cluster.Add("mid", 2, {Child("low")});
  cluster.Add("deep", 3, {Child("mid")});
  EXPECT_EQ(cluster.LeafOf("n0"), "big");
  EXPECT_EQ(cluster.LeafOf("n2"), "low");
  EXPECT_EQ(cluster.LeafOf("alone"), kTop);
}

TEST(SeveralTrees, NodeInTwoLeavesIsInBothAndOnceAbove) {
  NamedCluster cluster = SevenHyperNodes();
  cluster.Add("s3", 1, {NodeNamed("node0"), NodeNamed("node6"), NodeNamed("node7")});
  EXPECT_THAT(cluster.HyperNodesOf("node0"), ElementsAre("s0", "s3", "s4", "s5", "s6", kTop));
  EXPECT_THAT(cluster.NodesOf("s3"), ElementsAre("node0", "node6", "node7"));
  EXPECT_THAT(cluster.NodesOf("s5"), ElementsAre("node0", "node4", "node5", "node6", "node7"));
  EXPECT_THAT(cluster.NodesOf("s0"), ElementsAre("node1", "node0"));  // chain by chain
  EXPECT_EQ(cluster.NodesOf("s6").size(), 8U);
  EXPECT_EQ(cluster.LeafOf("node0"), "s0");
}

TEST(SeveralTrees, NodeListedAgainByAnAncestorIsInTheSameChain) {
  NamedCluster cluster = SevenHyperNodes();
  cluster.Add("s6", 3, {Child("s4"), Child("s5"), NodeNamed("node0")});
  EXPECT_EQ(cluster.tree.ChainOf(cluster.Node("node0")),
            cluster.tree.ChainOf(cluster.Node("node1")));
  EXPECT_EQ(cluster.NodesOf("s6").size(), 8U);
}

// ---- version ----

TEST(TreeVersion, StaysWhenAnEventSaysNothingNew) {
  NamedCluster cluster = SevenHyperNodes();
  cluster.Add("racks", 1, {Labelled("rack", "a"), Matching("^x")});
  cluster.AddNode("node0", {{"rack", "a"}});
  const std::uint64_t version = cluster.tree.version();
  cluster.AddNode("node0", {{"rack", "a"}});
  cluster.AddNode("node0", {{"rack", "a"}, {"heartbeat", "7"}});
  cluster.Add("racks", 1, {Labelled("rack", "a"), Matching("^x")});
  cluster.Add("s4", 2, {Child("s0"), Child("s1")});
  cluster.tree.RemoveHyperNode("nobody");
  cluster.tree.RemoveNode(NodeId{99});
  EXPECT_EQ(cluster.tree.version(), version);
}

TEST(TreeVersion, MovesWithNodesMembersAndShape) {
  NamedCluster cluster = SevenHyperNodes();
  cluster.Add("racks", 1, {Labelled("rack", "a")});
  std::uint64_t version = cluster.tree.version();
  const auto moved = [&] {
    const std::uint64_t before = std::exchange(version, cluster.tree.version());
    return version != before;
  };
  cluster.AddNode("node8");
  EXPECT_TRUE(moved());
  cluster.AddNode("node8", {{"rack", "a"}});
  EXPECT_TRUE(moved());
  cluster.RemoveNode("node8");
  EXPECT_TRUE(moved());
  cluster.AddNamed("racks", 1, "rack", {Labelled("rack", "a")});
  EXPECT_TRUE(moved());
  cluster.Add("racks", 1, {Labelled("rack", "b")});
  EXPECT_TRUE(moved());
  cluster.tree.RemoveHyperNode("racks");
  EXPECT_TRUE(moved());
}

}  // namespace
}  // namespace strata
