#include "model/hypernode_sums.h"

#include <span>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/cluster_builder.h"
#include "tests/support/recount.h"

namespace strata {
namespace {

using testing::ClusterBuilder;
using testing::RecountMistakes;

Amount CpuIn(std::span<const Amount> row) {
  return row[kCpu.index()] / 1000;
}

TEST(HyperNodeSums, SumsOfAHyperNodeFollowNodesAndMembers) {
  //   s0: node0 node1        then s0: node1 node2, then node1 goes
  ClusterBuilder cluster;
  cluster.Node("node0", {.cpu = 1}).Node("node1", {.cpu = 10}).Node("node2", {.cpu = 100});
  cluster.Occupy("node2", {.cpu = 7});
  cluster.Leaf("s0", 1, {"node0", "node1"});
  const auto idle = [&] { return CpuIn(cluster.state.sums().Idle(cluster.FindHyperNode("s0"))); };
  EXPECT_EQ(idle(), 11);
  cluster.Leaf("s0", 1, {"node1", "node2"});
  EXPECT_EQ(idle(), 103);
  cluster.state.RemoveNode(cluster.FindNode("node1"));
  EXPECT_EQ(idle(), 93);
  cluster.Node("node2", {.cpu = 50});
  EXPECT_EQ(idle(), 43);
  EXPECT_EQ(RecountMistakes(cluster.state), "");
}

TEST(HyperNodeSums, SumsOfAHyperNodeFollowTheTasksOfItsNodes) {
  ClusterBuilder cluster;
  testing::AddExampleTree(cluster, {.cpu = 8});
  cluster.Job("train", {.tasks = 1, .task = {.cpu = 3}});
  cluster.state.journal().Allocate(cluster.FindTask("train-w-0"), cluster.FindNode("node2"));
  EXPECT_EQ(CpuIn(cluster.state.sums().Idle(cluster.FindHyperNode("s1"))), 13);
  EXPECT_EQ(CpuIn(cluster.state.sums().Idle(cluster.FindHyperNode("s4"))), 29);
  EXPECT_EQ(CpuIn(cluster.state.sums().Idle(cluster.FindHyperNode("s5"))), 32);
  EXPECT_EQ(CpuIn(cluster.state.sums().Used(cluster.state.tree().top())), 3);
}

TEST(HyperNodeSums, ARemovedHyperNodeLeavesTheSumsOfTheOthers) {
  ClusterBuilder cluster;
  testing::AddExampleTree(cluster);
  cluster.state.RemoveHyperNode("s0");
  EXPECT_EQ(CpuIn(cluster.state.sums().Allocatable(cluster.FindHyperNode("s4"))), 16);
  EXPECT_EQ(CpuIn(cluster.state.sums().Allocatable(cluster.state.tree().top())), 64);
}

TEST(HyperNodeSums, AResourceNobodyKnewYetFindsItsPlaceInEverySum) {
  ClusterBuilder cluster;
  cluster.Nodes(2).Leaf("s0", 1, {"node0"}).Job("train", {.tasks = 0});
  EXPECT_EQ(CpuIn(cluster.state.sums().Idle(cluster.FindHyperNode("s0"))), 8);
  const ResourceId hca = cluster.state.resource_names().Intern("rdma/hca");
  NodeSpec spec = cluster.SpecOf("node0", {});
  spec.allocatable.Set(hca, 4000);
  ASSERT_TRUE(cluster.state.UpsertNode(spec).has_value());
  EXPECT_EQ(cluster.state.sums().Idle(cluster.FindHyperNode("s0"))[hca.index()], 4000);
  EXPECT_EQ(cluster.state.nodes().Idle(cluster.FindNode("node1"))[hca.index()], 0);
  EXPECT_EQ(RecountMistakes(cluster.state), "");
}

TEST(HyperNodeSums, ANameThatIsNewLeavesTheSumsAsTheyWere) {
  ClusterBuilder cluster;
  cluster.Nodes(2).Leaf("s0", 1, {"node0"}).Job("train", {.tasks = 1});
  const HyperNodeId leaf = cluster.FindHyperNode("s0");
  cluster.state.sums().Settle();
  cluster.state.journal().Pipeline(cluster.FindTask("train-w-0"), cluster.FindNode("node0"));
  const ResourceId hca = cluster.state.resource_names().Intern("rdma/hca");
  cluster.state.GrowTables();
  EXPECT_EQ(CpuIn(cluster.state.sums().Idle(leaf)), 8);
  EXPECT_EQ(CpuIn(cluster.state.sums().FutureIdle(leaf)), 7);
  EXPECT_EQ(cluster.state.sums().Idle(leaf)[hca.index()], 0);
}

}  // namespace
}  // namespace strata
