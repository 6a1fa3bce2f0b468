#include "sched/domain_kinds.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/cluster_builder.h"

namespace strata {
namespace {

using testing::ClusterBuilder;

//   a: a0 (a0x a0y) a1 (a1x a1y)      b: b0 (b0x b0y) b1 (b1x b1y)      tiers 2, 1 and nodes
class TwoZones : public ::testing::Test {
 protected:
  TwoZones() {
    for (const std::string zone : {"a", "b"}) {
      for (const std::string& rack : {zone + "0", zone + "1"}) {
        cluster_.Node(rack + "x").Node(rack + "y");
        cluster_.Leaf(rack, 1, {rack + "x", rack + "y"});
      }
      cluster_.Above(zone, 2, {zone + "0", zone + "1"});
    }
    cluster_.Job("train", {.tasks = 1});
  }
  DomainKinds& Kinds() {
    if (!kinds_) {
      views_.emplace(cluster_.state, no_points_);
      const TaskId task = cluster_.JobNamed("train").sub_jobs[0].tasks.front();
      kinds_.emplace(cluster_.state,
                     *views_,
                     std::vector<ClassId>{cluster_.state.workload().task(task).class_id});
    }
    return *kinds_;
  }
  [[nodiscard]] bool AreAlike(const std::string& left, const std::string& right) {
    const auto a = Kinds().LikenessOf(cluster_.FindHyperNode(left));
    const auto b = Kinds().LikenessOf(cluster_.FindHyperNode(right));
    return a && b && *a == *b;
  }

  ClusterBuilder cluster_;
  NodePoints no_points_;
  std::optional<ClassViewCache> views_;
  std::optional<DomainKinds> kinds_;
};

TEST_F(TwoZones, EqualHyperNodesHaveOneKindAtEveryTier) {
  EXPECT_TRUE(AreAlike("a", "b"));
  EXPECT_TRUE(AreAlike("a0", "b1"));
  EXPECT_FALSE(AreAlike("a", "a0"));
}

TEST_F(TwoZones, APodChangesTheKindUntilTheOthersHaveOneAtTheSamePosition) {
  ASSERT_TRUE(AreAlike("a", "b"));
  cluster_.Occupy("a1x", {.cpu = 2});
  EXPECT_FALSE(AreAlike("a", "b"));
  EXPECT_TRUE(AreAlike("a0", "b1"));
  cluster_.Occupy("b0x", {.cpu = 2});
  EXPECT_TRUE(AreAlike("a1", "b0"));
  EXPECT_FALSE(AreAlike("a", "b"));  // the racks come in another order
  cluster_.Occupy("a0x", {.cpu = 2}).Occupy("b1x", {.cpu = 2});
  EXPECT_TRUE(AreAlike("a", "b"));
}

TEST_F(TwoZones, ASmallerNodeChangesTheKind) {
  ASSERT_TRUE(AreAlike("a", "b"));
  cluster_.Node("b1y", {.cpu = 4});
  EXPECT_FALSE(AreAlike("a", "b"));
}

TEST_F(TwoZones, AnotherOrderOfNamesChangesTheKind) {
  // The second rack of c has the lower name of a node.
  cluster_.Node("c0x").Node("c0y").Node("az").Node("ba");
  cluster_.Leaf("c0", 1, {"c0x", "c0y"}).Leaf("c1", 1, {"az", "ba"}).Above("c", 2, {"c0", "c1"});
  EXPECT_TRUE(AreAlike("a", "b"));
  EXPECT_FALSE(AreAlike("a", "c"));
  EXPECT_TRUE(AreAlike("a0", "c1"));
}

TEST_F(TwoZones, SumsAboveMatterForHyperNodesWithChildren) {
  cluster_.Above("left", 3, {"a"}).Above("right", 3, {"b"});
  EXPECT_TRUE(AreAlike("a", "b"));
  cluster_.Node("more").Leaf("far", 2, {"more"}).Above("right", 3, {"b", "far"});
  EXPECT_FALSE(AreAlike("a", "b"));
  EXPECT_TRUE(AreAlike("a0", "b0"));
}

TEST_F(TwoZones, AHyperNodeWithANodeInTwoLeavesOrNoneHasNoKind) {
  cluster_.Leaf("ring", 1, {"a0x", "b0x"});
  EXPECT_FALSE(Kinds().LikenessOf(cluster_.FindHyperNode("a")));
  EXPECT_FALSE(Kinds().LikenessOf(cluster_.FindHyperNode("b")));
}

}  // namespace
}  // namespace strata
