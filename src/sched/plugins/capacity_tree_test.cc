#include "sched/plugins/capacity_tree.h"

#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sched/plugins/test_cluster.h"

namespace strata {
namespace {

constexpr double kUnlimited = std::numeric_limits<double>::infinity();

struct QueueTerms {
  Shape deserved;
  Shape guarantee;
  Shape capability;
};

struct TreeCluster : TestCluster {
  TreeCluster() { AddNode("n0", {.cpu = 20, .memory = 200}); }

  QueueId Add(const std::string& name, const std::string& parent, const QueueTerms& terms = {}) {
    QueueSpec spec;
    spec.name = name;
    spec.parent = parent;
    spec.guarantee = Amounts(terms.guarantee);
    spec.deserved = Limits(terms.deserved);
    spec.capability = Limits(terms.capability);
    return state.workload().UpsertQueue(std::move(spec));
  }
  [[nodiscard]] ResourceLimits Limits(const Shape& shape) const {
    ResourceLimits limits;
    const Resources amounts = Amounts(shape);
    for (const ResourceId id : {kCpu, kMemory, gpu}) {
      if (amounts.Get(id) > 0) limits[id] = amounts.Get(id);
    }
    return limits;
  }
};

const CapacityQueue& Named(const CapacityTree& tree, const std::string& name) {
  for (const CapacityQueue& queue : tree.queues()) {
    if (queue.name == name) return queue;
  }
  ADD_FAILURE() << name;
  return tree.at(0);
}

double Cpu(const Amounts& amounts) {
  return amounts[kCpu.index()];
}

TEST(CapacityTree, FlatQueuesMayHaveTheClusterLessWhatOthersAreGuaranteed) {
  //   20 cores, a is guaranteed 4, b 2
  TreeCluster c;
  c.Add("a", "", {.deserved = {.cpu = 6}, .guarantee = {.cpu = 4}, .capability = {}});
  c.Add("b", "", {.deserved = {.cpu = 19}, .guarantee = {.cpu = 2}, .capability = {.cpu = 12}});
  c.Add("c", "");
  const CapacityTree tree(c.state, CapacityTree::Shape::kFlat);
  EXPECT_NEAR(Cpu(Named(tree, "a").real_capability), 18000, 1e-6);
  EXPECT_NEAR(Cpu(Named(tree, "b").real_capability), 12000, 1e-6);
  EXPECT_NEAR(Cpu(Named(tree, "c").real_capability), 14000, 1e-6);
  EXPECT_NEAR(Cpu(Named(tree, "a").deserved), 6000, 1e-6);
  EXPECT_NEAR(Cpu(Named(tree, "b").deserved), 12000, 1e-6);  // no more than it may have
  EXPECT_FALSE(Named(tree, "c").Deserves());
}

TEST(CapacityTree, AFlatQueueDeservesAtLeastItsGuarantee) {
  TreeCluster c;
  c.Add("a", "", {.deserved = {}, .guarantee = {.cpu = 3}, .capability = {}});
  const CapacityTree tree(c.state, CapacityTree::Shape::kFlat);
  EXPECT_NEAR(Cpu(Named(tree, "a").deserved), 3000, 1e-6);
}

TEST(CapacityTree, CapabilitiesAreInheritedAndGuaranteesTakenOffLevelByLevel) {
  //   root (20 cores) ─ a (capability 12, guarantee 5) ─ a1 (guarantee 3), a2
  //                   └ b
  TreeCluster c;
  c.Add("a", "root", {.deserved = {}, .guarantee = {.cpu = 5}, .capability = {.cpu = 12}});
  c.Add("a1", "a", {.deserved = {.cpu = 4}, .guarantee = {.cpu = 3}, .capability = {.memory = 50}});
  c.Add("a2", "a");
  c.Add("b", "root", {.deserved = {.cpu = 7}, .guarantee = {}, .capability = {}});
  const CapacityTree tree(c.state, CapacityTree::Shape::kHierarchical);
  EXPECT_NEAR(Cpu(Named(tree, "root").real_capability), 20000, 1e-6);
  EXPECT_NEAR(Cpu(Named(tree, "root").guarantee), 5000, 1e-6);
  EXPECT_NEAR(Cpu(Named(tree, "root").deserved), 12000, 1e-6);  // a 5, b 7
  EXPECT_NEAR(Cpu(Named(tree, "a").real_capability), 12000, 1e-6);
  EXPECT_NEAR(Cpu(Named(tree, "a1").real_capability), 12000, 1e-6);  // 12 - 3 + 3
  EXPECT_NEAR(Cpu(Named(tree, "a2").real_capability), 9000, 1e-6);
  EXPECT_NEAR(Cpu(Named(tree, "b").real_capability), 15000, 1e-6);
  EXPECT_NEAR(Cpu(Named(tree, "a2").capability), 12000, 1e-6);
  const double memory = Named(tree, "a1").real_capability[kMemory.index()];
  EXPECT_NEAR(memory, 50.0 * static_cast<double>(kGiga), 1e-6);
  EXPECT_EQ(Named(tree, "b").real_capability[kMemory.index()], kUnlimited);
}

TEST(CapacityTree, AParentIsGuaranteedWhatItsChildrenAre) {
  TreeCluster c;
  c.Add("a", "root");
  c.Add("a1", "a", {.deserved = {}, .guarantee = {.cpu = 3}, .capability = {}});
  c.Add("b", "root");
  const CapacityTree tree(c.state, CapacityTree::Shape::kHierarchical);
  EXPECT_NEAR(Cpu(Named(tree, "a").guarantee), 3000, 1e-6);
  EXPECT_NEAR(Cpu(Named(tree, "b").real_capability), 17000, 1e-6);
}

TEST(CapacityTree, TheShareIsTheLargestPartOfWhatIsDeserved) {
  //   a deserves 4 cores and 100 GB; has 3 cores, 20 GB and a GPU it does not deserve
  TreeCluster c;
  c.Add("a", "root", {.deserved = {.cpu = 4, .memory = 100}, .guarantee = {}, .capability = {}});
  c.Add("a1", "a");
  c.AddTask(c.AddJob("ns/j", "a1"), {.cpu = 3, .memory = 20, .gpu = 1}, "n0");
  const CapacityTree tree(c.state, CapacityTree::Shape::kHierarchical);
  EXPECT_NEAR(tree.ShareOf(c.state, *tree.Find(*c.state.workload().FindQueue("a"))), 0.75, 1e-6);
  EXPECT_EQ(tree.ShareOf(c.state, *tree.Find(*c.state.workload().FindQueue("a1"))),
            1);  // deserves nothing
}

TEST(CapacityTree, OnlyQueuesWithAnInvalidHierarchyAreInvalid) {
  //   good; lost's parent is nowhere, lower is below it; x and y are each other's parent, z below
  TreeCluster c;
  c.Add("good", "root");
  c.Add("lost", "nowhere");
  c.Add("lower", "lost");
  c.Add("x", "y");
  c.Add("y", "x");
  c.Add("z", "y");
  const CapacityTree tree(c.state, CapacityTree::Shape::kHierarchical);
  EXPECT_EQ(Named(tree, "good").fault, std::nullopt);
  EXPECT_EQ(Named(tree, "lost").fault,
            (Refusal{"QueueParentMissing", "the parent of queue lost does not exist"}));
  EXPECT_EQ(Named(tree, "lower").fault,
            (Refusal{"QueueParentMissing",
                     "queue lower is below queue lost, whose parent does not exist"}));
  EXPECT_EQ(Named(tree, "x").fault, (Refusal{"QueueCycle", "queue x is its own ancestor"}));
  EXPECT_EQ(Named(tree, "z").fault,
            (Refusal{"QueueCycle", "queue z is below queue y, which is its own ancestor"}));
  EXPECT_EQ(Named(tree, "root").fault,
            (Refusal{"QueueNotLeaf", "queue root has child queues (good), so it takes no jobs"}));
}

}  // namespace
}  // namespace strata
