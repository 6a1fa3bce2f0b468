#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/hypernode_tree.h"
#include "tests/support/named_cluster.h"

namespace strata {
namespace {

using ::testing::AllOf;
using testing::Child;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::kTop;
using testing::Labelled;
using testing::Matching;
using testing::NamedCluster;
using testing::NodeNamed;
using testing::SevenHyperNodes;
using ::testing::StartsWith;

using Kind = HyperNodeMember::Kind;

// ---- selectors of members ----

TEST(HyperNodeMembers, ByRegexAreFoundAnywhereInTheName) {
  NamedCluster cluster;
  for (const char* name : {"node-1", "node-10", "node-2", "x-node-1"}) cluster.AddNode(name);
  cluster.Add("loose", 1, {Matching("node-1")});
  cluster.Add("strict", 1, {Matching("^node-1$")});
  EXPECT_THAT(cluster.NodesOf("loose"),
              ::testing::UnorderedElementsAre("node-1", "node-10", "x-node-1"));
  EXPECT_THAT(cluster.NodesOf("strict"), ElementsAre("node-1"));
  cluster.AddNode("node-1b");
  EXPECT_TRUE(cluster.tree.Contains(cluster.Id("loose"), cluster.Node("node-1b")));
}

TEST(HyperNodeMembers, ByLabelMoveWithTheLabelAtOnce) {
  NamedCluster cluster;
  cluster.Add("rack-a", 1, {Labelled("rack", "a")});
  cluster.Add("rack-b", 1, {Labelled("rack", "b")});
  cluster.AddNode("n", {{"rack", "a"}});
  EXPECT_THAT(cluster.NodesOf("rack-a"), ElementsAre("n"));
  cluster.AddNode("n", {{"rack", "b"}});
  EXPECT_THAT(cluster.NodesOf("rack-a"), IsEmpty());
  EXPECT_THAT(cluster.NodesOf("rack-b"), ElementsAre("n"));
  cluster.AddNode("n", {});
  EXPECT_THAT(cluster.NodesOf("rack-b"), IsEmpty());
}

TEST(HyperNodeMembers, StayWhenOneOfTwoSelectorsStillMatches) {
  NamedCluster cluster;
  cluster.Add("rack", 1, {Labelled("rack", "a"), NodeNamed("named"), Matching("^spare")});
  cluster.AddNode("named", {{"rack", "a"}});
  cluster.AddNode("spare1", {{"rack", "a"}});
  cluster.AddNode("other", {{"rack", "a"}});
  for (const char* name : {"named", "spare1", "other"}) cluster.AddNode(name, {{"rack", "b"}});
  EXPECT_THAT(cluster.NodesOf("rack"), ElementsAre("named", "spare1"));
}

TEST(HyperNodeMembers, WithAnEmptyLabelSelectorOrNoneAreNobody) {
  NamedCluster cluster;
  cluster.AddNodes(2);
  cluster.Add("s0", 1, {{.kind = Kind::kNode, .selector = LabelSelector{}}, HyperNodeMember{}});
  EXPECT_THAT(cluster.NodesOf("s0"), IsEmpty());
  cluster.AddNode("node2", {{"a", "b"}});
  EXPECT_THAT(cluster.NodesOf("s0"), IsEmpty());
  EXPECT_TRUE(cluster.At("s0").ready);
}

TEST(HyperNodeMembers, OfTypeHyperNodeWithRegexOrLabelAreSkippedWithANote) {
  NamedCluster cluster = SevenHyperNodes();
  cluster.Add("s7", 4, {Matching("s[0-9]", Kind::kHyperNode)});
  cluster.Add("s8", 4, {Labelled("a", "b", Kind::kHyperNode), Child("s6")});
  EXPECT_THAT(cluster.ChildrenOf("s7"), IsEmpty());
  EXPECT_THAT(cluster.ChildrenOf("s8"), ElementsAre("s6"));
  for (const char* name : {"s7", "s8"}) {
    EXPECT_TRUE(cluster.At(name).ready);
    EXPECT_EQ(cluster.At(name).reason,
              "Members of type HyperNode with regexMatch or labelMatch are skipped: only "
              "exactMatch selects HyperNodes.");
  }
  EXPECT_TRUE(cluster.tree.ready());
}

TEST(HyperNodeMembers, OfBothTypesCountWithANote) {
  NamedCluster cluster = SevenHyperNodes();
  cluster.AddNode("spare");
  cluster.Add("s4", 2, {Child("s0"), Child("s1"), NodeNamed("spare")});
  EXPECT_THAT(cluster.NodesOf("s4"), ElementsAre("spare", "node0", "node1", "node2", "node3"));
  EXPECT_TRUE(cluster.At("s4").ready);
  EXPECT_EQ(cluster.At("s4").reason,
            "It has members of both types, Node and HyperNode; all of them count.");
  EXPECT_EQ(cluster.LeafOf("spare"), "s4");
}

// ---- faults ----

TEST(HyperNodeFaults, MissingChildIsSimplyNotThereUntilItAppears) {
  NamedCluster cluster = SevenHyperNodes();
  cluster.Add("s6", 3, {Child("s4"), Child("s5"), Child("later")});
  EXPECT_TRUE(cluster.At("s6").ready);
  EXPECT_EQ(cluster.At("s6").reason, "");
  cluster.AddNode("node8");
  cluster.Add("later", 0, {NodeNamed("node8")});
  EXPECT_EQ(cluster.ParentOf("later"), "s6");
  EXPECT_TRUE(cluster.tree.Contains(cluster.Id("s6"), cluster.Node("node8")));
  EXPECT_THAT(cluster.Names(cluster.tree.OfTier(0)), ElementsAre("later"));
}

TEST(HyperNodeFaults, ParentGoesOnWithoutADeletedChild) {
  NamedCluster cluster = SevenHyperNodes();
  cluster.tree.RemoveHyperNode("s4");
  EXPECT_THAT(cluster.ChildrenOf("s6"), ElementsAre("s5"));
  EXPECT_EQ(cluster.NodesOf("s6"), cluster.NodesOf("s5"));
  EXPECT_THAT(cluster.ChildrenOf(kTop), ElementsAre("s0", "s1", "s6"));
  EXPECT_TRUE(cluster.tree.ready());
}

TEST(HyperNodeFaults, EveryHyperNodeOnACycleIsLeftOut) {
  // a -> b -> c -> a, c also holds leaf; above holds a.
  NamedCluster cluster;
  cluster.AddNodes(2);
  cluster.Add("leaf", 1, {NodeNamed("node0")});
  cluster.Add("a", 4, {Child("b")});
  cluster.Add("b", 3, {Child("c"), NodeNamed("node1")});
  cluster.Add("c", 2, {Child("a"), Child("leaf")});
  cluster.Add("above", 9, {Child("a")});
  for (const char* name : {"a", "b", "c"}) {
    EXPECT_FALSE(cluster.At(name).in_tree) << name;
    EXPECT_FALSE(cluster.At(name).ready) << name;
    EXPECT_EQ(cluster.ParentOf(name), "") << name;
    EXPECT_THAT(cluster.NodesOf(name), IsEmpty()) << name;
    EXPECT_THAT(cluster.ChildrenOf(name), IsEmpty()) << name;
  }
  EXPECT_EQ(
      cluster.At("c").reason,
      "Excluded from the tree: it is on a cycle, its member \"a\" leads back to it; remove one "
      "of the members that close the cycle.");
  EXPECT_EQ(cluster.ParentOf("leaf"), kTop);
  EXPECT_TRUE(cluster.At("above").ready);
  EXPECT_THAT(cluster.NodesOf("above"), IsEmpty());
  EXPECT_THAT(cluster.HyperNodesOf("node1"), ElementsAre(kTop));
  EXPECT_THAT(cluster.tree.tiers(), ElementsAre(1, 9, 10));
  EXPECT_FALSE(cluster.tree.ready());
  EXPECT_TRUE(cluster.tree.has_hypernodes());
}

TEST(HyperNodeFaults, OneBetweenTwoCyclesIsNotAtFault) {
  // a <-> b -> bridge -> c <-> d
  NamedCluster cluster;
  cluster.Add("a", 9, {Child("b")});
  cluster.Add("b", 8, {Child("a"), Child("bridge")});
  cluster.Add("bridge", 5, {Child("c")});
  cluster.Add("c", 4, {Child("d")});
  cluster.Add("d", 3, {Child("c")});
  EXPECT_TRUE(cluster.At("bridge").ready);
  EXPECT_EQ(cluster.ParentOf("bridge"), kTop);
  for (const char* name : {"a", "b", "c", "d"}) EXPECT_FALSE(cluster.At(name).in_tree) << name;
}

TEST(HyperNodeFaults, HyperNodeThatListsItselfIsACycleOfOne) {
  NamedCluster cluster;
  cluster.AddNodes(1);
  cluster.Add("self", 1, {Child("self"), NodeNamed("node0")});
  EXPECT_FALSE(cluster.At("self").in_tree);
  EXPECT_THAT(
      cluster.At("self").reason,
      StartsWith("Excluded from the tree: it lists itself as a member; remove that member."));
  EXPECT_THAT(cluster.tree.tiers(), ElementsAre(1));
  EXPECT_EQ(cluster.Lca("self", "self"), "self");
  EXPECT_EQ(cluster.Lca("self", kTop), kTop);
  EXPECT_THAT(cluster.Names(cluster.tree.AncestorsOf(cluster.Id("self"))), ElementsAre("self"));
}

TEST(HyperNodeFaults, CycleThatIsBrokenHeals) {
  NamedCluster cluster = SevenHyperNodes();
  cluster.Add("s0", 1, {NodeNamed("node0"), NodeNamed("node1"), Child("s6")});
  EXPECT_FALSE(cluster.At("s4").in_tree);
  EXPECT_TRUE(cluster.At("s1").in_tree);
  cluster.Add("s0", 1, {NodeNamed("node0"), NodeNamed("node1")});
  EXPECT_TRUE(cluster.tree.ready());
  EXPECT_THAT(cluster.HyperNodesOf("node0"), ElementsAre("s0", "s4", "s6", kTop));
}

TEST(HyperNodeFaults, OfTwoParentsTheLowerNameKeepsTheChild) {
  NamedCluster cluster = SevenHyperNodes();
  cluster.Add("s5", 2, {Child("s1"), Child("s2"), Child("s3")});
  EXPECT_EQ(cluster.ParentOf("s1"), "s4");
  EXPECT_THAT(cluster.ChildrenOf("s5"), ElementsAre("s2", "s3"));
  EXPECT_TRUE(cluster.At("s4").ready);
  EXPECT_TRUE(cluster.At("s1").ready);
  EXPECT_FALSE(cluster.At("s5").ready);
  EXPECT_TRUE(cluster.At("s5").in_tree);
  EXPECT_EQ(cluster.At("s5").reason,
            "Continues without member \"s1\" (held by \"s4\"): a HyperNode has one parent, the "
            "one with the lowest name; remove it from the members of one of them.");
  EXPECT_FALSE(cluster.tree.ready());
}

TEST(HyperNodeFaults, ParentWhoseTierIsNotAboveTheChildsLosesIt) {
  NamedCluster cluster = SevenHyperNodes();
  cluster.Add("s4", 1, {Child("s0"), Child("s1")});
  EXPECT_EQ(cluster.ParentOf("s0"), kTop);
  EXPECT_THAT(cluster.ChildrenOf("s4"), IsEmpty());
  EXPECT_TRUE(cluster.At("s4").in_tree);
  EXPECT_FALSE(cluster.At("s4").ready);
  EXPECT_TRUE(cluster.At("s0").ready);
  EXPECT_EQ(cluster.At("s4").reason,
            "Continues without members \"s0\" (tier 1), \"s1\" (tier 1): its own tier 1 must be "
            "above theirs; change the tiers or remove the members.");
}

TEST(HyperNodeFaults, ParentThatLostAChildByItsTierDoesNotCompeteForIt) {
  NamedCluster cluster = SevenHyperNodes();
  cluster.Add("a", 1, {Child("s0")});  // the lowest name of all, but too low
  EXPECT_EQ(cluster.ParentOf("s0"), "s4");
  EXPECT_FALSE(cluster.At("a").ready);
  EXPECT_TRUE(cluster.At("s4").ready);
}

TEST(HyperNodeFaults, ParentOnACycleDoesNotCompeteForAChild) {
  NamedCluster cluster = SevenHyperNodes();
  cluster.Add("a", 2, {Child("a"), Child("s0")});
  EXPECT_EQ(cluster.ParentOf("s0"), "s4");
  EXPECT_TRUE(cluster.At("s4").ready);
}

TEST(HyperNodeFaults, SeveralOfOneHyperNodeAreAllSaidInOrder) {
  NamedCluster cluster = SevenHyperNodes();
  cluster.AddNode("spare");
  std::vector<HyperNodeMember> members = {NodeNamed("spare"), Child("s0"), Child("s0")};
  for (const char* name : {"s9", "s5", "s6", "s8", "s7"}) {
    members.push_back(Child(name));
    cluster.Add(name, 3, {});
  }
  cluster.Add("z", 2, std::move(members));
  EXPECT_THAT(
      cluster.At("z").reason,
      AllOf(
          StartsWith("Continues without members \"s5\" (tier 3), \"s6\" (tier 3), \"s7\" (tier 3) "
                     "and 2 more: its own tier 2 must be above theirs"),
          HasSubstr(" Continues without member \"s0\" (held by \"s4\"): "),
          HasSubstr(" It has members of both types")));
}

TEST(HyperNodeFaults, ChildListedTwiceByOneParentIsNoFault) {
  NamedCluster cluster = SevenHyperNodes();
  cluster.Add("s4", 2, {Child("s0"), Child("s0"), Child("s1")});
  EXPECT_TRUE(cluster.tree.ready());
  EXPECT_THAT(cluster.ChildrenOf("s4"), ElementsAre("s0", "s1"));
}

TEST(HyperNodeFaults, LongChainIsNoTrouble) {
  NamedCluster cluster;
  constexpr int kLong = 20000;
  for (int i = 0; i < kLong; ++i) {
    cluster.Add("h" + std::to_string(i), i, {Child("h" + std::to_string(i - 1))});
  }
  EXPECT_EQ(cluster.At("h0").depth, static_cast<std::uint32_t>(kLong));
  EXPECT_TRUE(cluster.tree.ready());
}

}  // namespace
}  // namespace strata
