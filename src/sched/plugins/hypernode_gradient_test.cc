#include "sched/plugins/hypernode_gradient.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sched/plugins/test_cluster.h"

namespace strata {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

//   top (4)
//   s0 (3)
//   s1 (2)        s2 (2)
//   s3 (1) s4     s5     s6        one node each; GPUs: 8, 16, 8, 8
struct Fabric : TestCluster {
  Fabric() {
    AddQueue("default");
    AddNode("n3", {.cpu = 96, .memory = 100, .gpu = 8});
    AddNode("n4", {.cpu = 96, .memory = 100, .gpu = 16});
    AddNode("n5", {.cpu = 96, .memory = 100, .gpu = 8});
    AddNode("n6", {.cpu = 96, .memory = 100, .gpu = 8});
    AddLeaf("s3", 1, {"n3"});
    AddLeaf("s4", 1, {"n4"});
    AddLeaf("s5", 1, {"n5"});
    AddLeaf("s6", 1, {"n6"});
    AddParent("s1", 2, {"s3", "s4"});
    AddParent("s2", 2, {"s5", "s6"});
    AddParent("s0", 3, {"s1", "s2"});
  }

  struct Where {
    const char* within = "<cluster-top-hypernode>";
    const char* allocated = "";
    std::int32_t limit = 4;
    bool explain = false;
  };
  [[nodiscard]] Gradient Find(const Shape& need, const Where& where) const {
    const Resources resources = Amounts(need);
    GradientQuery query;
    query.within = HyperNode(where.within);
    if (*where.allocated != '\0') query.allocated = HyperNode(where.allocated);
    query.limit = where.limit;
    query.need = &resources;
    query.explain = where.explain;
    return FindGradient(state, query);
  }
  [[nodiscard]] std::string NameOf(HyperNodeId id) const {
    return id.valid() ? state.tree().at(id).name : "none";
  }
  // (tier, eligible names) of each tier.
  [[nodiscard]] std::vector<std::pair<int, std::vector<std::string>>> Eligible(
      const Gradient& gradient) const {
    std::vector<std::pair<int, std::vector<std::string>>> tiers;
    for (const Gradient::Tier& tier : gradient.tiers) {
      tiers.emplace_back(tier.tier, std::vector<std::string>());
      for (const HyperNodeId id : tier.eligible) tiers.back().second.push_back(NameOf(id));
    }
    return tiers;
  }
  [[nodiscard]] std::vector<std::pair<std::string, std::string>> Rejected(
      const Gradient::Tier& tier) const {
    std::vector<std::pair<std::string, std::string>> rejected;
    for (const auto& [id, reason] : tier.rejected) rejected.emplace_back(NameOf(id), reason);
    return rejected;
  }
};

TEST(FindGradient, ListsWhatHoldsTheGangByTierThenName) {
  const Fabric fabric;
  const Gradient gradient = fabric.Find({.gpu = 16}, {});
  EXPECT_EQ(fabric.NameOf(gradient.root), "<cluster-top-hypernode>");
  EXPECT_THAT(fabric.Eligible(gradient),
              ElementsAre(Pair(1, ElementsAre("s4")),
                          Pair(2, ElementsAre("s1", "s2")),
                          Pair(3, ElementsAre("s0")),
                          Pair(4, ElementsAre("<cluster-top-hypernode>"))));
}

TEST(FindGradient, StopsAtTheLimit) {
  const Fabric fabric;
  EXPECT_THAT(fabric.Eligible(fabric.Find({.gpu = 20}, {.limit = 2})),
              ElementsAre(Pair(1, IsEmpty()), Pair(2, ElementsAre("s1"))));
}

TEST(FindGradient, SearchesOnlyBelowTheGivenHyperNode) {
  const Fabric fabric;
  EXPECT_THAT(fabric.Eligible(fabric.Find({.gpu = 1}, {.within = "s2"})),
              ElementsAre(Pair(1, ElementsAre("s5", "s6")), Pair(2, ElementsAre("s2"))));
}

TEST(FindGradient, AGangThatRunsStaysBelowItsHighestAllowedAncestor) {
  const Fabric fabric;
  const Gradient gradient = fabric.Find({.gpu = 1}, {.allocated = "s5", .limit = 2});
  EXPECT_EQ(fabric.NameOf(gradient.root), "s2");
  EXPECT_THAT(fabric.Eligible(gradient),
              ElementsAre(Pair(1, ElementsAre("s5", "s6")), Pair(2, ElementsAre("s2"))));
}

TEST(FindGradient, TheRootIsTheLowerOfTheGivenHyperNodeAndTheHighestAncestor) {
  const Fabric fabric;
  const Gradient gradient =
      fabric.Find({.gpu = 1}, {.within = "s6", .allocated = "s5", .limit = 2});
  EXPECT_EQ(fabric.NameOf(gradient.root), "s6");
}

TEST(FindGradient, ThereIsNoRootWhenTheGangRunsAboveTheLimit) {
  const Fabric fabric;
  const Gradient gradient = fabric.Find({.gpu = 1}, {.allocated = "s1", .limit = 1});
  EXPECT_FALSE(gradient.root.valid());
  EXPECT_EQ(gradient.error, "it already runs in s1 of tier 2, above the highest tier allowed (1)");
  EXPECT_THAT(gradient.tiers, IsEmpty());
}

TEST(FindGradient, ThereIsNoRootWhenTheGivenHyperNodeIsElsewhere) {
  const Fabric fabric;
  const Gradient gradient =
      fabric.Find({.gpu = 1}, {.within = "s1", .allocated = "s5", .limit = 2});
  EXPECT_FALSE(gradient.root.valid());
  EXPECT_EQ(gradient.error, "it already runs in s5, and must stay in s2, which is not in s1");
}

TEST(FindGradient, CountsWhatIsIdleNow) {
  Fabric fabric;
  const JobId job = fabric.AddJob("ns/other", "default");
  const TaskId task = fabric.AddTask(job, {.gpu = 1});
  EXPECT_THAT(fabric.Eligible(fabric.Find({.gpu = 8}, {.limit = 1})),
              ElementsAre(Pair(1, ElementsAre("s3", "s4", "s5", "s6"))));
  fabric.state.journal().Allocate(task, *fabric.state.nodes().Find("n3"));
  EXPECT_THAT(fabric.Eligible(fabric.Find({.gpu = 8}, {.limit = 1})),
              ElementsAre(Pair(1, ElementsAre("s4", "s5", "s6"))));
}

TEST(FindGradient, WhatIsBeingReleasedCountsToo) {
  Fabric fabric;
  const JobId job = fabric.AddJob("ns/other", "default");
  const TaskId task = fabric.AddTask(job, {.gpu = 16}, "n4");
  EXPECT_THAT(fabric.Eligible(fabric.Find({.gpu = 16}, {.limit = 1})),
              ElementsAre(Pair(1, IsEmpty())));
  fabric.state.workload().SetTaskStatus(task, TaskStatus::kReleasing);
  EXPECT_THAT(fabric.Eligible(fabric.Find({.gpu = 16}, {.limit = 1})),
              ElementsAre(Pair(1, ElementsAre("s4"))));
}

TEST(FindGradient, ExplainsWhatIsShortAndWhichTiersAreNotAllowed) {
  Fabric fabric;
  const JobId job = fabric.AddJob("ns/other", "default");
  fabric.state.workload().SetTaskStatus(fabric.AddTask(job, {.gpu = 4}, "n3"),
                                        TaskStatus::kReleasing);
  const Gradient gradient =
      fabric.Find({.cpu = 100, .gpu = 20}, {.within = "s0", .limit = 2, .explain = true});
  ASSERT_EQ(gradient.tiers.size(), 4U);
  EXPECT_THAT(fabric.Rejected(gradient.tiers[0]),
              ElementsAre(Pair("s3",
                               "cpu: needs 100, 96 idle; nvidia.com/gpu: needs 20, 4 idle (8 after "
                               "releases)"),
                          Pair("s4", "cpu: needs 100, 96 idle; nvidia.com/gpu: needs 20, 16 idle"),
                          Pair("s5", "cpu: needs 100, 96 idle; nvidia.com/gpu: needs 20, 8 idle"),
                          Pair("s6", "cpu: needs 100, 96 idle; nvidia.com/gpu: needs 20, 8 idle")));
  EXPECT_THAT(fabric.Rejected(gradient.tiers[1]),
              ElementsAre(Pair("s2", "nvidia.com/gpu: needs 20, 16 idle")));
  EXPECT_THAT(fabric.Rejected(gradient.tiers[2]),
              ElementsAre(Pair("s0", "tier 3 is above the highest tier allowed (2)")));
}

TEST(FindGradient, ExplainsEveryTierAboveTheLimitWhereverTheSearchBegins) {
  const Fabric fabric;
  const Gradient gradient =
      fabric.Find({.gpu = 1}, {.allocated = "s3", .limit = 1, .explain = true});
  EXPECT_EQ(fabric.NameOf(gradient.root), "s3");
  EXPECT_THAT(
      fabric.Eligible(gradient),
      ElementsAre(
          Pair(1, ElementsAre("s3")), Pair(2, IsEmpty()), Pair(3, IsEmpty()), Pair(4, IsEmpty())));
  EXPECT_THAT(fabric.Rejected(gradient.tiers[1]),
              ElementsAre(Pair("s1", "tier 2 is above the highest tier allowed (1)")));
  EXPECT_THAT(fabric.Rejected(gradient.tiers[2]),
              ElementsAre(Pair("s0", "tier 3 is above the highest tier allowed (1)")));
  EXPECT_THAT(
      fabric.Rejected(gradient.tiers[3]),
      ElementsAre(Pair("<cluster-top-hypernode>", "tier 4 is above the highest tier allowed (1)")));
}

TEST(FindGradient, ExplainingChangesNoAnswer) {
  const Fabric fabric;
  const Gradient plain = fabric.Find({.gpu = 16}, {.limit = 2});
  const Gradient explained = fabric.Find({.gpu = 16}, {.limit = 2, .explain = true});
  ASSERT_GE(explained.tiers.size(), plain.tiers.size());
  for (std::size_t i = 0; i < explained.tiers.size(); ++i) {
    if (i < plain.tiers.size()) {
      EXPECT_EQ(explained.tiers[i].eligible, plain.tiers[i].eligible);
    } else {
      EXPECT_THAT(explained.tiers[i].eligible, IsEmpty());
    }
  }
}

TEST(FindGradient, ASmallPartOfALargeTreeIsSortedLikeTheWhole) {
  //   spine-0 to spine-9 (tier 2), each with racks r<spine>-c, -b, -a (tier 1)
  TestCluster cluster;
  for (int i = 0; i < 10; ++i) {
    const std::string at = "r" + std::to_string(i);
    cluster.AddNode(at + "-n", {.cpu = 8, .memory = 8});
    for (const char* rack : {"-c", "-b", "-a"}) {
      cluster.AddLeaf(at + rack, 1, {(at + "-n").c_str()});
    }
    cluster.AddParent("spine-" + std::to_string(i),
                      2,
                      {(at + "-c").c_str(), (at + "-a").c_str(), (at + "-b").c_str()});
  }
  const Resources need = cluster.Amounts({.cpu = 8});
  GradientQuery query;
  query.within = cluster.HyperNode("spine-3");
  query.limit = 9;
  query.need = &need;
  const Gradient gradient = FindGradient(cluster.state, query);
  ASSERT_EQ(gradient.tiers.size(), 2U);
  EXPECT_THAT(
      gradient.tiers[0].eligible,
      ElementsAre(cluster.HyperNode("r3-a"), cluster.HyperNode("r3-b"), cluster.HyperNode("r3-c")));
  EXPECT_THAT(gradient.tiers[1].eligible, ElementsAre(query.within));
}

TEST(FindGradient, WithoutHyperNodesThereIsOnlyTheTop) {
  TestCluster cluster;
  cluster.AddNode("n0", {.cpu = 8, .memory = 8});
  const Resources need = cluster.Amounts({.cpu = 8});
  GradientQuery query;
  query.within = cluster.state.tree().top();
  query.limit = 1;
  query.need = &need;
  const Gradient gradient = FindGradient(cluster.state, query);
  ASSERT_EQ(gradient.tiers.size(), 1U);
  EXPECT_THAT(gradient.tiers[0].eligible, ElementsAre(cluster.state.tree().top()));
}

}  // namespace
}  // namespace strata
