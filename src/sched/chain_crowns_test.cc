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
