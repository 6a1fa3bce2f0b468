#include "sched/domain_index.h"

#include <map>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/cluster_builder.h"

namespace strata {
namespace {

using testing::ClusterBuilder;

// Gives nodes the score a test wrote for them, less one for each task there.
class WrittenScores final : public NodeScorePoint {
 public:
  explicit WrittenScores(std::map<std::string, Score> scores) : scores_(std::move(scores)) {}

  void ScoreNodes(const ClusterState& state,
                  const ClassSpec& /*spec*/,
                  std::span<const NodeId> nodes,
                  std::span<Score> out) const override {
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      const auto it = scores_.find(state.nodes().spec(nodes[i]).name);
      out[i] = (it == scores_.end() ? 0 : it->second) -
               static_cast<Score>(state.nodes().TasksOn(nodes[i]).size());
    }
  }

 private:
  std::map<std::string, Score> scores_;
};

struct Fixture {
  explicit Fixture(std::map<std::string, Score> scores) : written(std::move(scores)) {
    testing::AddExampleTree(cluster, {.cpu = 2});
    cluster.Node("lone", {.cpu = 2}).Job("train", {.tasks = 4});
    points.scores.push_back({"written", &written});
  }
  [[nodiscard]] ClassId Class() const {
    return cluster.state.workload().task(cluster.FindTask("train-w-0")).class_id;
  }
  [[nodiscard]] std::string NameAt(const DomainShape& shape, std::size_t position) const {
    return cluster.state.nodes().spec(shape.nodes[position]).name;
  }
  [[nodiscard]] std::size_t GroupOf(const DomainShape& shape, const std::string& leaf) const {
    for (std::size_t g = 0; g < shape.groups.size(); ++g) {
      if (cluster.state.tree().at(shape.groups[g].leaf).name == leaf) return g;
    }
    ADD_FAILURE() << "no group of " << leaf;
    return 0;
  }

  ClusterBuilder cluster;
  WrittenScores written;
  NodePoints points;
};

TEST(DomainShape, CutsTheNodesOfAHyperNodeIntoItsLeaves) {
  Fixture f({});
  const DomainShape shape(f.cluster.state.tree(), f.cluster.FindHyperNode("s4"));
  ASSERT_EQ(shape.groups.size(), 2U);
  EXPECT_EQ(shape.nodes.size(), 4U);
  EXPECT_EQ(shape.groups[0].leaf, f.cluster.FindHyperNode("s0"));
  EXPECT_EQ(shape.groups[1].leaf, f.cluster.FindHyperNode("s1"));
  EXPECT_EQ(shape.groups[1].begin, 2U);
  EXPECT_EQ(shape.groups[1].end, 4U);
}

TEST(DomainShape, OfTheTopHasAGroupForNodesInNoHyperNode) {
  Fixture f({});
  const HyperNodeTree& tree = f.cluster.state.tree();
  const DomainShape shape(tree, tree.top());
  EXPECT_EQ(shape.groups.size(), 5U);
  const std::size_t outside = f.GroupOf(shape, std::string(kTopHyperNodeName));
  EXPECT_EQ(f.NameAt(shape, shape.groups[outside].begin), "lone");
}

TEST(DomainIndex, KnowsTheBestNodeOfEachLeafAndTheLowerNameAmongEquals) {
  Fixture f({{"node1", 5}, {"node2", 3}, {"node3", 3}});
  ClassView view(f.cluster.state, f.points, f.Class());
  const DomainShape shape(f.cluster.state.tree(), f.cluster.FindHyperNode("s4"));
  const DomainIndex index(shape, view);
  EXPECT_EQ(f.NameAt(shape, index.BestOf(0)), "node1");
  EXPECT_EQ(f.NameAt(shape, index.BestOf(1)), "node2");
  EXPECT_EQ(index.ScoreAt(index.BestOf(0)), 5);
  EXPECT_EQ(index.Feasible(0), 2U);
}

TEST(DomainIndex, FollowsANodeThatFillsUpAndEmpties) {
  //   s0: node0 (0 points) and node1 (5); two tasks fill node1
  Fixture f({{"node1", 5}});
  ClassView view(f.cluster.state, f.points, f.Class());
  const DomainShape shape(f.cluster.state.tree(), f.cluster.FindHyperNode("s0"));
  DomainIndex index(shape, view);
  const std::size_t at = index.BestOf(0);
  for (const char* task : {"train-w-0", "train-w-1"}) {
    f.cluster.state.journal().Allocate(f.cluster.FindTask(task), f.cluster.FindNode("node1"));
    index.Refresh(shape, at);
  }
  EXPECT_EQ(index.Feasible(0), 1U);
  EXPECT_EQ(f.NameAt(shape, index.BestOf(0)), "node0");

  f.cluster.state.journal().RollbackTo(0);
  index.Refresh(shape, at);
  EXPECT_EQ(index.Feasible(0), 2U);
  EXPECT_EQ(f.NameAt(shape, index.BestOf(0)), "node1");
  EXPECT_EQ(index.ScoreAt(at), 5);
}

TEST(DomainIndex, HasNoFeasibleNodeInALeafThatIsFull) {
  Fixture f({});
  f.cluster.Occupy("node0", {.cpu = 2}).Occupy("node1", {.cpu = 2});
  ClassView view(f.cluster.state, f.points, f.Class());
  const DomainShape shape(f.cluster.state.tree(), f.cluster.FindHyperNode("s4"));
  const DomainIndex index(shape, view);
  EXPECT_EQ(index.Feasible(0), 0U);
  EXPECT_EQ(index.Feasible(1), 2U);
}

TEST(ClassView, CountsHowManyTasksANodeStillTakes) {
  Fixture f({});
  ClassView view(f.cluster.state, f.points, f.Class());
  const NodeId node = f.cluster.FindNode("node0");
  EXPECT_EQ(view.Slots(node), 2U);
  f.cluster.Occupy("node0", {.cpu = 1});
  EXPECT_EQ(view.Slots(node), 1U);
}

TEST(ClassView, LeavesAloneWhatAnotherTaskWaitsForOnTheNode) {
  //   node0: 1 core idle, 1 being released, and a task of 2 cores that waits for both
  Fixture f({});
  f.cluster.Occupy("node0", {.cpu = 1}, TaskStatus::kReleasing);
  f.cluster.Job("waits", {.tasks = 1, .task = {.cpu = 2}});
  ClassView view(f.cluster.state, f.points, f.Class());
  const NodeId node = f.cluster.FindNode("node0");
  EXPECT_EQ(view.Slots(node), 1U);
  f.cluster.state.journal().Pipeline(f.cluster.FindTask("waits-w-0"), node);
  EXPECT_EQ(view.Slots(node), 0U);
  EXPECT_EQ(view.WhyNot(node).reason, "Insufficient cpu");
}

}  // namespace
}  // namespace strata
