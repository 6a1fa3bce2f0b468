#include "sched/chain_crowns.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/cluster_builder.h"

namespace strata {
namespace {

using ::testing::ElementsAre;
using ::testing::UnorderedElementsAre;

void AddAbove(ClusterState& state,
              const std::string& name,
              std::int32_t tier,
              const std::vector<std::string>& children) {
  HyperNodeSpec spec;
  spec.name = name;
  spec.tier = tier;
  for (const std::string& child : children) {
    spec.members.push_back(
        {.kind = HyperNodeMember::Kind::kHyperNode, .selector = HyperNodeMember::Exact{child}});
  }
  state.UpsertHyperNode(std::move(spec));
}

// Racks of one node, two of them in each row, and all of those below one root.
void AddRows(testing::ClusterBuilder& cluster, int rows) {
  cluster.Nodes(2 * rows);
  std::vector<std::string> names;
  for (int row = 0; row < rows; ++row) {
    std::vector<std::string> racks;
    for (const int i : {2 * row, 2 * row + 1}) {
      racks.push_back("rack" + std::to_string(i));
      cluster.Leaf(racks.back(), 1, {"node" + std::to_string(i)});
    }
    names.push_back("row" + std::to_string(row));
    AddAbove(cluster.state, names.back(), 2, racks);
  }
  AddAbove(cluster.state, "root", 3, names);
}

std::vector<std::string> LeavesAround(const testing::ClusterBuilder& cluster,
                                      const DomainShape& shape,
                                      ChainCrowns& crowns,
                                      const std::string& node) {
  const NodeId id = cluster.FindNode(node);
  std::vector<std::string> leaves;
  for (const std::size_t g : crowns.GroupsAround(std::vector<NodeId>{id})) {
    leaves.push_back(cluster.state.tree().at(shape.groups[g].leaf).name);
  }
  return leaves;
}

TEST(ChainCrowns, KeepsSumsBelowWhatManyChainsShare) {
  testing::ClusterBuilder cluster;
  AddRows(cluster, 20);
  const HyperNodeTree& tree = cluster.state.tree();
  const DomainShape shape(tree, tree.top());
  ChainCrowns crowns(tree, shape);
  // A pod changes the sums of two racks; those of all forty would change with the root.
  EXPECT_EQ(crowns.tiers(), 2U);
  EXPECT_THAT(LeavesAround(cluster, shape, crowns, "node7"),
              UnorderedElementsAre("rack6", "rack7"));
  EXPECT_EQ(crowns.CrownOf(0), crowns.CrownOf(39));  // the root and the top
}

TEST(ChainCrowns, ChainsThatAreNotNeighboursCanHaveOneCrown) {
  // Each of two roots is above eight racks, and the last node of each is also in a ring beside
  // them: the chains of the rings come first, those that share a crown with one come later.
  testing::ClusterBuilder cluster;
  cluster.Nodes(32);
  for (int rack = 0; rack < 16; ++rack) {
    const std::string first = "node" + std::to_string(2 * rack);
    const std::string second = "node" + std::to_string(2 * rack + 1);
    cluster.Leaf("rack" + std::to_string(rack), 1, {first, second});
    if (rack % 8 == 7) cluster.Leaf("ring" + std::to_string(rack), 2, {second});
  }
  for (const int root : {0, 1}) {
    std::vector<std::string> racks;
    for (int i = 0; i < 8; ++i) racks.push_back("rack" + std::to_string(8 * root + i));
    AddAbove(cluster.state, "root" + std::to_string(root), 3, racks);
  }
  const HyperNodeTree& tree = cluster.state.tree();
  const DomainShape shape(tree, tree.top());
  const ChainCrowns crowns(tree, shape);
  ASSERT_GT(crowns.tiers(), 0U);
  const std::int32_t lowest = tree.tiers()[crowns.tiers()];
  const auto crown_of = [&](std::size_t g) {
    std::vector<HyperNodeId> crown;
    for (const HyperNodeId id : tree.HyperNodesOf(shape.groups[g].chain)) {
      if (tree.at(id).tier >= lowest) crown.push_back(id);
    }
    return crown;
  };
  for (std::size_t a = 0; a < shape.groups.size(); ++a) {
    for (std::size_t b = 0; b < shape.groups.size(); ++b) {
      EXPECT_EQ(crowns.CrownOf(a) == crowns.CrownOf(b), crown_of(a) == crown_of(b))
          << a << " " << b;
    }
  }
}

TEST(ChainCrowns, ANodeInNoHyperNodeIsAroundItself) {
  testing::ClusterBuilder cluster;
  cluster.Nodes(3).Leaf("rack", 1, {"node0", "node1"});
  const HyperNodeTree& tree = cluster.state.tree();
  const DomainShape shape(tree, tree.top());
  ChainCrowns crowns(tree, shape);
  EXPECT_THAT(LeavesAround(cluster, shape, crowns, "node2"), ElementsAre(tree.at(tree.top()).name));
}

TEST(ChainCrowns, ChainsBelowDifferentHyperNodesHaveDifferentCrowns) {
  //   a: node0, node1   b: node1, node2   (tier 1; node1 is in both)
  testing::ClusterBuilder cluster;
  cluster.Nodes(3).Leaf("a", 1, {"node0", "node1"}).Leaf("b", 1, {"node1", "node2"});
  const HyperNodeTree& tree = cluster.state.tree();
  const DomainShape shape(tree, tree.top());
  ASSERT_EQ(shape.groups.size(), 3U);
  const ChainCrowns crowns(tree, shape);
  EXPECT_EQ(crowns.tiers(), 0U);  // three kinds cost less than chains that change with each other
  EXPECT_NE(crowns.CrownOf(0), crowns.CrownOf(1));
  EXPECT_NE(crowns.CrownOf(1), crowns.CrownOf(2));
}

}  // namespace
}  // namespace strata
