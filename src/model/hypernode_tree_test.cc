#include "model/hypernode_tree.h"

#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace strata {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Optional;
using ::testing::StartsWith;

using Kind = HyperNodeMember::Kind;

HyperNodeMember NodeNamed(std::string name) {
  return {.kind = Kind::kNode, .selector = HyperNodeMember::Exact{std::move(name)}};
}

HyperNodeMember Child(std::string name) {
  return {.kind = Kind::kHyperNode, .selector = HyperNodeMember::Exact{std::move(name)}};
}

HyperNodeMember Matching(std::string_view pattern, Kind kind = Kind::kNode) {
  return {.kind = kind, .selector = *NamePattern::Compile(pattern)};
}

HyperNodeMember Labelled(std::string key, std::string value, Kind kind = Kind::kNode) {
  return {.kind = kind,
          .selector = LabelSelector{{{std::move(key), SelectorOp::kIn, {std::move(value)}}}}};
}

// A cluster that speaks in names.
class Cluster {
 public:
  void Add(std::string name, std::int32_t tier, std::vector<HyperNodeMember> members) {
    AddNamed(std::move(name), tier, "", std::move(members));
  }
  void AddNamed(std::string name,
                std::int32_t tier,
                std::string tier_name,
                std::vector<HyperNodeMember> members) {
    tree.UpsertHyperNode({std::move(name), tier, std::move(tier_name), std::move(members)});
  }
  void AddNode(const std::string& name, const Labels& labels = {}) {
    if (!ids.contains(name)) {
      ids[name] = IdAt<NodeId>(names.size());
      names.push_back(name);
    }
    tree.UpsertNode(ids[name], name, labels);
  }
  void AddNodes(int count) {
    for (int i = 0; i < count; ++i) AddNode("node" + std::to_string(i));
  }
  void RemoveNode(const std::string& name) { tree.RemoveNode(ids.at(name)); }

  [[nodiscard]] HyperNodeId Id(std::string_view name) const { return tree.Find(name).value(); }
  [[nodiscard]] const HyperNodeTree::HyperNode& At(std::string_view name) const {
    return tree.at(Id(name));
  }
  [[nodiscard]] NodeId Node(const std::string& name) const { return ids.at(name); }
  [[nodiscard]] std::vector<std::string> NodesOf(std::string_view name) const {
    std::vector<std::string> result;
    for (const NodeId node : tree.NodesOf(Id(name))) result.push_back(names[node.index()]);
    return result;
  }
  [[nodiscard]] std::vector<std::string> Names(std::span<const HyperNodeId> hypernodes) const {
    std::vector<std::string> result;
    for (const HyperNodeId id : hypernodes) result.push_back(tree.at(id).name);
    return result;
  }
  [[nodiscard]] std::vector<std::string> ChildrenOf(std::string_view name) const {
    return Names(At(name).children);
  }
  [[nodiscard]] std::string ParentOf(std::string_view name) const {
    const HyperNodeId parent = At(name).parent;
    return parent.valid() ? tree.at(parent).name : "";
  }
  [[nodiscard]] std::vector<std::string> HyperNodesOf(const std::string& node) const {
    return Names(tree.HyperNodesOf(tree.ChainOf(Node(node))));
  }
  [[nodiscard]] std::string LeafOf(const std::string& node) const {
    return tree.at(tree.LeafOf(tree.ChainOf(Node(node)))).name;
  }
  [[nodiscard]] std::string Lca(std::string_view a, std::string_view b) const {
    return tree.at(tree.Lca(Id(a), Id(b))).name;
  }

  HyperNodeTree tree;
  std::vector<std::string> names;
  std::map<std::string, NodeId> ids;
};

const std::string kTop(kTopHyperNodeName);

//                        s6                       tier 3
//            s4                      s5           tier 2
//      s0          s1          s2          s3     tier 1
//   node0 node1 node2 node3 node4 node5 node6 node7
Cluster SevenHyperNodes() {
  Cluster cluster;
  cluster.AddNodes(8);
  for (int i = 0; i < 4; ++i) {
    cluster.Add(
        "s" + std::to_string(i),
        1,
        {NodeNamed("node" + std::to_string(2 * i)), NodeNamed("node" + std::to_string(2 * i + 1))});
  }
  cluster.Add("s4", 2, {Child("s0"), Child("s1")});
  cluster.Add("s5", 2, {Child("s2"), Child("s3")});
  cluster.Add("s6", 3, {Child("s4"), Child("s5")});
  return cluster;
}

TEST(HyperNodeTree, WithoutHyperNodesIsTheTopOverAllNodes) {
  Cluster cluster;
  cluster.AddNodes(2);
  EXPECT_EQ(cluster.tree.hypernodes().size(), 1U);
  EXPECT_EQ(cluster.At(kTop).tier, 1);
  EXPECT_THAT(cluster.tree.tiers(), ElementsAre(1));
  EXPECT_THAT(cluster.NodesOf(kTop), ElementsAre("node0", "node1"));
  EXPECT_THAT(cluster.HyperNodesOf("node0"), ElementsAre(kTop));
  EXPECT_FALSE(cluster.tree.has_hypernodes());
  EXPECT_TRUE(cluster.tree.ready());
}

TEST(HyperNodeTree, ThatIsEmptyAnswers) {
  const HyperNodeTree tree;
  EXPECT_THAT(tree.NodesOf(tree.top()), IsEmpty());
  EXPECT_EQ(tree.chain_count(), 0U);
  EXPECT_EQ(tree.version(), 0U);
}

TEST(HyperNodeTree, HoldsTheNodesOfAllItsChildren) {
  const Cluster cluster = SevenHyperNodes();
  EXPECT_THAT(cluster.NodesOf("s1"), ElementsAre("node2", "node3"));
  EXPECT_THAT(cluster.NodesOf("s5"), ElementsAre("node4", "node5", "node6", "node7"));
  EXPECT_EQ(cluster.NodesOf("s6"), cluster.NodesOf(kTop));
  EXPECT_EQ(cluster.NodesOf("s6").size(), 8U);
  EXPECT_TRUE(cluster.tree.ready());
}

TEST(HyperNodeTree, LinksParentsChildrenAndDepth) {
  const Cluster cluster = SevenHyperNodes();
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
  const Cluster cluster = SevenHyperNodes();
  EXPECT_THAT(cluster.tree.tiers(), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(cluster.Names(cluster.tree.OfTier(2)), ElementsAre("s4", "s5"));
  EXPECT_THAT(cluster.Names(cluster.tree.OfTier(4)), ElementsAre(kTop));
  EXPECT_THAT(cluster.tree.OfTier(7), IsEmpty());
}

TEST(HyperNodeTree, ListsHyperNodesByNameAndTheTopLast) {
  const Cluster cluster = SevenHyperNodes();
  std::vector<std::string> names;
  for (const auto& hypernode : cluster.tree.hypernodes()) names.push_back(hypernode.name);
  EXPECT_THAT(names, ElementsAre("s0", "s1", "s2", "s3", "s4", "s5", "s6", kTop));
  EXPECT_EQ(cluster.tree.Find("s7"), std::nullopt);
  EXPECT_EQ(cluster.tree.Find(kTop), cluster.tree.top());
}

TEST(HyperNodeTree, FindsTheLowestCommonAncestor) {
  const Cluster cluster = SevenHyperNodes();
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
  Cluster cluster = SevenHyperNodes();
  cluster.tree.RemoveHyperNode("s6");
  EXPECT_EQ(cluster.Lca("s0", "s3"), kTop);
  EXPECT_THAT(cluster.ChildrenOf(kTop), ElementsAre("s4", "s5"));
  EXPECT_EQ(cluster.At(kTop).tier, 3);
}

TEST(HyperNodeTree, KnowsWhoIsAboveWhom) {
  const Cluster cluster = SevenHyperNodes();
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
  const Cluster cluster = SevenHyperNodes();
  EXPECT_EQ(cluster.tree.chain_count(), 4U);
  EXPECT_EQ(cluster.tree.ChainOf(cluster.Node("node0")), ChainId{0});
  EXPECT_EQ(cluster.tree.ChainOf(cluster.Node("node1")), ChainId{0});
  EXPECT_EQ(cluster.tree.ChainOf(cluster.Node("node6")), ChainId{3});
  EXPECT_THAT(cluster.HyperNodesOf("node6"), ElementsAre("s3", "s5", "s6", kTop));
  EXPECT_EQ(cluster.LeafOf("node6"), "s3");
}

TEST(HyperNodeTree, RanksNodesByNameWhateverTheirIds) {
  Cluster cluster;
  for (const char* name : {"c", "a", "b"}) cluster.AddNode(name);
  EXPECT_EQ(cluster.tree.NameRank(cluster.Node("a")), 0U);
  EXPECT_EQ(cluster.tree.NameRank(cluster.Node("b")), 1U);
  EXPECT_EQ(cluster.tree.NameRank(cluster.Node("c")), 2U);
  EXPECT_THAT(cluster.NodesOf(kTop), ElementsAre("a", "b", "c"));
  cluster.RemoveNode("a");
  EXPECT_EQ(cluster.tree.NameRank(cluster.Node("c")), 1U);
}

TEST(HyperNodeTree, AcceptsNodesThatComeAfterTheHyperNodesThatNameThem) {
  Cluster cluster;
  cluster.Add("s0", 1, {NodeNamed("node0"), NodeNamed("node9")});
  EXPECT_THAT(cluster.NodesOf("s0"), IsEmpty());
  cluster.AddNodes(2);
  EXPECT_THAT(cluster.NodesOf("s0"), ElementsAre("node0"));
  EXPECT_TRUE(cluster.At("s0").ready);
  EXPECT_EQ(cluster.At("s0").reason, "");
}

TEST(HyperNodeTree, LetsARemovedNodeGo) {
  Cluster cluster = SevenHyperNodes();
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

// ---- selectors of members ----

TEST(HyperNodeMembers, ByRegexAreFoundAnywhereInTheName) {
  Cluster cluster;
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
  Cluster cluster;
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
  Cluster cluster;
  cluster.Add("rack", 1, {Labelled("rack", "a"), NodeNamed("named"), Matching("^spare")});
  cluster.AddNode("named", {{"rack", "a"}});
  cluster.AddNode("spare1", {{"rack", "a"}});
  cluster.AddNode("other", {{"rack", "a"}});
  for (const char* name : {"named", "spare1", "other"}) cluster.AddNode(name, {{"rack", "b"}});
  EXPECT_THAT(cluster.NodesOf("rack"), ElementsAre("named", "spare1"));
}

TEST(HyperNodeMembers, WithAnEmptyLabelSelectorOrNoneAreNobody) {
  Cluster cluster;
  cluster.AddNodes(2);
  cluster.Add("s0", 1, {{.kind = Kind::kNode, .selector = LabelSelector{}}, HyperNodeMember{}});
  EXPECT_THAT(cluster.NodesOf("s0"), IsEmpty());
  cluster.AddNode("node2", {{"a", "b"}});
  EXPECT_THAT(cluster.NodesOf("s0"), IsEmpty());
  EXPECT_TRUE(cluster.At("s0").ready);
}

TEST(HyperNodeMembers, OfTypeHyperNodeWithRegexOrLabelAreSkippedWithANote) {
  Cluster cluster = SevenHyperNodes();
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
  Cluster cluster = SevenHyperNodes();
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
  Cluster cluster = SevenHyperNodes();
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
  Cluster cluster = SevenHyperNodes();
  cluster.tree.RemoveHyperNode("s4");
  EXPECT_THAT(cluster.ChildrenOf("s6"), ElementsAre("s5"));
  EXPECT_EQ(cluster.NodesOf("s6"), cluster.NodesOf("s5"));
  EXPECT_THAT(cluster.ChildrenOf(kTop), ElementsAre("s0", "s1", "s6"));
  EXPECT_TRUE(cluster.tree.ready());
}

TEST(HyperNodeFaults, EveryHyperNodeOnACycleIsLeftOut) {
  // a -> b -> c -> a, c also holds leaf; above holds a.
  Cluster cluster;
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
  EXPECT_EQ(cluster.At("c").reason,
            "Left out of the tree: it is on a cycle, its member \"a\" leads back to it; remove one "
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
  Cluster cluster;
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
  Cluster cluster;
  cluster.AddNodes(1);
  cluster.Add("self", 1, {Child("self"), NodeNamed("node0")});
  EXPECT_FALSE(cluster.At("self").in_tree);
  EXPECT_THAT(cluster.At("self").reason,
              StartsWith("Left out of the tree: it lists itself as a member; remove that member."));
  EXPECT_THAT(cluster.tree.tiers(), ElementsAre(1));
  EXPECT_EQ(cluster.Lca("self", "self"), "self");
  EXPECT_EQ(cluster.Lca("self", kTop), kTop);
  EXPECT_THAT(cluster.Names(cluster.tree.AncestorsOf(cluster.Id("self"))), ElementsAre("self"));
}

TEST(HyperNodeFaults, CycleThatIsBrokenHeals) {
  Cluster cluster = SevenHyperNodes();
  cluster.Add("s0", 1, {NodeNamed("node0"), NodeNamed("node1"), Child("s6")});
  EXPECT_FALSE(cluster.At("s4").in_tree);
  EXPECT_TRUE(cluster.At("s1").in_tree);
  cluster.Add("s0", 1, {NodeNamed("node0"), NodeNamed("node1")});
  EXPECT_TRUE(cluster.tree.ready());
  EXPECT_THAT(cluster.HyperNodesOf("node0"), ElementsAre("s0", "s4", "s6", kTop));
}

TEST(HyperNodeFaults, OfTwoParentsTheLowerNameKeepsTheChild) {
  Cluster cluster = SevenHyperNodes();
  cluster.Add("s5", 2, {Child("s1"), Child("s2"), Child("s3")});
  EXPECT_EQ(cluster.ParentOf("s1"), "s4");
  EXPECT_THAT(cluster.ChildrenOf("s5"), ElementsAre("s2", "s3"));
  EXPECT_TRUE(cluster.At("s4").ready);
  EXPECT_TRUE(cluster.At("s1").ready);
  EXPECT_FALSE(cluster.At("s5").ready);
  EXPECT_TRUE(cluster.At("s5").in_tree);
  EXPECT_EQ(cluster.At("s5").reason,
            "Goes on without member \"s1\" (held by \"s4\"): a HyperNode has one parent, of "
            "several the lowest name keeps it; remove it from the members of one of them.");
  EXPECT_FALSE(cluster.tree.ready());
}

TEST(HyperNodeFaults, ParentWhoseTierIsNotAboveTheChildsLosesIt) {
  Cluster cluster = SevenHyperNodes();
  cluster.Add("s4", 1, {Child("s0"), Child("s1")});
  EXPECT_EQ(cluster.ParentOf("s0"), kTop);
  EXPECT_THAT(cluster.ChildrenOf("s4"), IsEmpty());
  EXPECT_TRUE(cluster.At("s4").in_tree);
  EXPECT_FALSE(cluster.At("s4").ready);
  EXPECT_TRUE(cluster.At("s0").ready);
  EXPECT_EQ(cluster.At("s4").reason,
            "Goes on without members \"s0\" (tier 1), \"s1\" (tier 1): its own tier 1 must be "
            "above theirs; change the tiers or remove the members.");
}

TEST(HyperNodeFaults, ParentThatLostAChildByItsTierDoesNotCompeteForIt) {
  Cluster cluster = SevenHyperNodes();
  cluster.Add("a", 1, {Child("s0")});  // the lowest name of all, but too low
  EXPECT_EQ(cluster.ParentOf("s0"), "s4");
  EXPECT_FALSE(cluster.At("a").ready);
  EXPECT_TRUE(cluster.At("s4").ready);
}

TEST(HyperNodeFaults, ParentOnACycleDoesNotCompeteForAChild) {
  Cluster cluster = SevenHyperNodes();
  cluster.Add("a", 2, {Child("a"), Child("s0")});
  EXPECT_EQ(cluster.ParentOf("s0"), "s4");
  EXPECT_TRUE(cluster.At("s4").ready);
}

TEST(HyperNodeFaults, SeveralOfOneHyperNodeAreAllSaidInOrder) {
  Cluster cluster = SevenHyperNodes();
  cluster.AddNode("spare");
  std::vector<HyperNodeMember> members = {NodeNamed("spare"), Child("s0"), Child("s0")};
  for (const char* name : {"s9", "s5", "s6", "s8", "s7"}) {
    members.push_back(Child(name));
    cluster.Add(name, 3, {});
  }
  cluster.Add("z", 2, std::move(members));
  EXPECT_THAT(
      cluster.At("z").reason,
      AllOf(StartsWith("Goes on without members \"s5\" (tier 3), \"s6\" (tier 3), \"s7\" (tier 3) "
                       "and 2 more: its own tier 2 must be above theirs"),
            HasSubstr(" Goes on without member \"s0\" (held by \"s4\"): "),
            HasSubstr(" It has members of both types")));
}

TEST(HyperNodeFaults, ChildListedTwiceByOneParentIsNoFault) {
  Cluster cluster = SevenHyperNodes();
  cluster.Add("s4", 2, {Child("s0"), Child("s0"), Child("s1")});
  EXPECT_TRUE(cluster.tree.ready());
  EXPECT_THAT(cluster.ChildrenOf("s4"), ElementsAre("s0", "s1"));
}

TEST(HyperNodeFaults, LongChainIsNoTrouble) {
  Cluster cluster;
  constexpr int kLong = 20000;
  for (int i = 0; i < kLong; ++i) {
    cluster.Add("h" + std::to_string(i), i, {Child("h" + std::to_string(i - 1))});
  }
  EXPECT_EQ(cluster.At("h0").depth, static_cast<std::uint32_t>(kLong));
  EXPECT_TRUE(cluster.tree.ready());
}

// ---- tiers ----

TEST(TierNames, MeanTheirTier) {
  Cluster cluster;
  cluster.AddNamed("s0", 1, "rack", {});
  cluster.AddNamed("s1", 2, "spine", {Child("s0")});
  cluster.Add("s2", 3, {Child("s1")});
  EXPECT_THAT(cluster.tree.TierOfName("spine"), Optional(2));
  EXPECT_EQ(cluster.tree.TierOfName("row"), std::nullopt);
  EXPECT_EQ(cluster.tree.TierOfName(""), std::nullopt);
  EXPECT_THAT(cluster.tree.TierNames(), ElementsAre("rack", "spine"));
}

TEST(TierNames, OnTwoTiersMeanTheHighestAndTheHyperNodesSaySo) {
  Cluster cluster;
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
  Cluster cluster;
  cluster.AddNamed("s0", 1, "rack", {Child("s0")});
  EXPECT_EQ(cluster.tree.TierOfName("rack"), std::nullopt);
}

TEST(Tiers, ZeroIsLegalAndTheTopIsAtLeastOne) {
  Cluster cluster;
  cluster.AddNodes(1);
  cluster.Add("host", 0, {NodeNamed("node0")});
  EXPECT_THAT(cluster.tree.tiers(), ElementsAre(0, 1));
  EXPECT_EQ(cluster.LeafOf("node0"), "host");
}

TEST(Tiers, AtTheLimitOfTheNumberDoNotOverflow) {
  Cluster cluster;
  constexpr std::int32_t kMax = std::numeric_limits<std::int32_t>::max();
  cluster.AddNodes(1);
  cluster.Add("s0", kMax, {NodeNamed("node0")});
  EXPECT_EQ(cluster.At(kTop).tier, kMax);
  EXPECT_THAT(cluster.HyperNodesOf("node0"), ElementsAre("s0", kTop));
}

TEST(Tiers, AreBelowTheTopUpToTheHighestThatMayBeWritten) {
  Cluster cluster;
  cluster.AddNodes(1);
  cluster.Add("s0", kHighestTier, {NodeNamed("node0")});
  EXPECT_EQ(cluster.At(kTop).tier, std::numeric_limits<std::int32_t>::max());
}

// ---- more than one way through the network ----

TEST(SeveralTrees, OverTheSameNodesHoldEachTheirOwn) {
  //  a0: n0 n1   a1: n2 n3   (by rack)      b0: n0 n2   b1: n1 n3   (by power)
  Cluster cluster;
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
  Cluster cluster;
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
  Cluster cluster = SevenHyperNodes();
  cluster.Add("s3", 1, {NodeNamed("node0"), NodeNamed("node6"), NodeNamed("node7")});
  EXPECT_THAT(cluster.HyperNodesOf("node0"), ElementsAre("s0", "s3", "s4", "s5", "s6", kTop));
  EXPECT_THAT(cluster.NodesOf("s3"), ElementsAre("node0", "node6", "node7"));
  EXPECT_THAT(cluster.NodesOf("s5"), ElementsAre("node0", "node4", "node5", "node6", "node7"));
  EXPECT_THAT(cluster.NodesOf("s0"), ElementsAre("node1", "node0"));  // chain by chain
  EXPECT_EQ(cluster.NodesOf("s6").size(), 8U);
  EXPECT_EQ(cluster.LeafOf("node0"), "s0");
}

TEST(SeveralTrees, NodeListedAgainByAnAncestorIsInTheSameChain) {
  Cluster cluster = SevenHyperNodes();
  cluster.Add("s6", 3, {Child("s4"), Child("s5"), NodeNamed("node0")});
  EXPECT_EQ(cluster.tree.ChainOf(cluster.Node("node0")),
            cluster.tree.ChainOf(cluster.Node("node1")));
  EXPECT_EQ(cluster.NodesOf("s6").size(), 8U);
}

// ---- version ----

TEST(TreeVersion, StaysWhenAnEventSaysNothingNew) {
  Cluster cluster = SevenHyperNodes();
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
  Cluster cluster = SevenHyperNodes();
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
