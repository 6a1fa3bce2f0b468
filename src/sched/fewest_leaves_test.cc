#include "sched/fewest_leaves.h"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sched/test_session.h"
#include "tests/support/cycle.h"

namespace strata {
namespace {

using testing::ClusterBuilder;
using ::testing::ElementsAre;
using testing::Hard;
using testing::kWholeNode;
using testing::OpenedSession;
using testing::RunCycle;

//   spine: r0: node0   r1: node1 node2   r2: node3 node4 node5   r3: node6 node7
class FourRacks : public ::testing::Test {
 protected:
  FourRacks() { Fill(cluster_); }

  static void Fill(ClusterBuilder& cluster) {
    cluster.Nodes(8);
    cluster.Leaf("r0", 1, {"node0"}).Leaf("r1", 1, {"node1", "node2"});
    cluster.Leaf("r2", 1, {"node3", "node4", "node5"}).Leaf("r3", 1, {"node6", "node7"});
    cluster.Above("spine", 2, {"r0", "r1", "r2", "r3"});
  }

  // Places a gang of whole nodes, and asks where it could go instead.
  struct Answer {
    bool may_need_fewer = false;
    std::vector<std::string> nodes;  // none: it stays
  };
  Answer Ask(const std::vector<std::string>& nodes) {
    cluster_.Job(
        "gang", {.tasks = static_cast<int>(nodes.size()), .task = kWholeNode, .topology = Hard(2)});
    OpenedSession opened(cluster_);
    std::vector<TaskId> tasks;
    std::vector<HyperNodeId> leaves;
    const HyperNodeTree& tree = cluster_.state.tree();
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      tasks.push_back(cluster_.FindTask("gang-w-" + std::to_string(i)));
      const NodeId node = cluster_.FindNode(nodes[i]);
      cluster_.state.journal().Allocate(tasks.back(), node);
      leaves.push_back(tree.LeafOf(tree.ChainOf(node)));
    }
    std::sort(leaves.begin(), leaves.end());
    leaves.erase(std::unique(leaves.begin(), leaves.end()), leaves.end());
    const DomainShape shape(tree, cluster_.FindHyperNode("spine"));
    const PlaceOutcome placed{.ok = true, .placed = tasks.size(), .leaves = leaves.size()};
    const ClassId class_id = cluster_.state.workload().task(tasks.front()).class_id;
    Answer answer{.may_need_fewer = MayNeedFewer(*opened, shape, class_id, placed), .nodes = {}};
    if (const auto choice = FewerLeaves(*opened, shape, tasks)) {
      answer.nodes.reserve(choice->nodes.size());
      for (const NodeId node : choice->nodes) {
        answer.nodes.push_back(cluster_.state.nodes().spec(node).name);
      }
    }
    return answer;
  }

  ClusterBuilder cluster_;
};

TEST_F(FourRacks, LargestLeafFirstAndAsTheLastOneTheSmallestThatIsEnough) {
  const Answer answer = Ask({"node0", "node1", "node2", "node6"});
  EXPECT_TRUE(answer.may_need_fewer);
  EXPECT_THAT(answer.nodes, ElementsAre("node0", "node3", "node4", "node5"));
}

TEST_F(FourRacks, StaysWhereNoFewerLeavesHoldIt) {
  EXPECT_THAT(Ask({"node3", "node4", "node5", "node0"}).nodes, ElementsAre());
}

TEST_F(FourRacks, NeedsNoLookAtNodesWhereEveryLeafIsTooSmall) {
  // Seven pods in three leaves: with two, one of them would hold four.
  EXPECT_FALSE(Ask({"node1", "node2", "node3", "node4", "node5", "node6", "node7"}).may_need_fewer);
}

TEST_F(FourRacks, CountsWhatIsFreeWhereANodeHoldsMoreThanItIsLarge) {
  cluster_.Occupy("node3", {.cpu = 8});
  cluster_.Node("node3", {.cpu = 1});
  const Answer answer = Ask({"node0", "node1"});
  EXPECT_TRUE(answer.may_need_fewer);
  EXPECT_THAT(answer.nodes, ElementsAre("node1", "node2"));
}

// The leaves that the first pods open, by the scores of their nodes, are not always the fewest.
TEST_F(FourRacks, AGangOpensOnlyAsManyLeavesAsItNeeds) {
  const auto leaves_with = [](bool fewest) {
    ClusterBuilder cluster;
    Fill(cluster);
    cluster.Job("gang", {.tasks = 7, .task = kWholeNode, .topology = Hard(2)});
    const auto binds =
        RunCycle(cluster.state,
                 testing::ConfigWith("network-topology-aware", kFewLeaves, ArgumentValue(fewest)))
            .binds;
    const HyperNodeTree& tree = cluster.state.tree();
    std::set<HyperNodeId> leaves;
    for (const auto& [task, node] : binds) {
      leaves.insert(tree.LeafOf(tree.ChainOf(cluster.FindNode(node))));
    }
    return leaves.size();
  };
  EXPECT_EQ(leaves_with(false), 4U);
  EXPECT_EQ(leaves_with(true), 3U);
}

}  // namespace
}  // namespace strata
