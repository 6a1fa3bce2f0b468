#include "defrag/plan.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "defrag/test_cluster.h"

namespace strata {
namespace {

using testing::ClusterWith;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::JobText;
using testing::MustPlan;

const JobText kWaits = {
    .name = "big", .nodes = {"", "", "", ""}, .topology = "mode: hard, highestTierAllowed: 1"};

// One pod on each of these nodes.
std::vector<JobText> Singles(const std::vector<std::string>& nodes) {
  std::vector<JobText> jobs;
  for (const std::string& node : nodes) jobs.push_back({.name = "on-" + node, .nodes = {node}});
  return jobs;
}

std::vector<JobText> With(std::vector<JobText> jobs, const std::vector<JobText>& more) {
  jobs.insert(jobs.end(), more.begin(), more.end());
  return jobs;
}

std::vector<std::string> GroupsOf(const DefragPlan& plan) {
  std::vector<std::string> groups;
  for (const DefragPlan::Move& move : plan.moves) groups.push_back(move.group);
  return groups;
}

std::string Node(int number) {
  return "node" + std::to_string(number);
}

// Each HyperNode of tier 1 has four CPUs, of which the single pods take one, at least.
TEST(PlanDefrag, MovesTheFewestPodsThatMakeRoomForAGang) {
  const auto jobs =
      With(Singles({Node(0), Node(1), Node(2), Node(4), Node(5), Node(6), Node(7)}), {kWaits});
  const DefragPlan plan = MustPlan(ClusterWith(jobs), RoomForJob{"default/big"});
  ASSERT_TRUE(plan.possible) << plan.reason;
  EXPECT_THAT(plan.target, ElementsAre(DefragPlan::Place{"s1", 1}));
  EXPECT_THAT(GroupsOf(plan), ElementsAre("default/on-node2"));
  EXPECT_THAT(plan.nodes, ElementsAre("node2", "node3"));
  ASSERT_EQ(plan.moves.front().pods.size(), 1U);
  EXPECT_EQ(plan.moves.front().pods.front().from, "node2");
  EXPECT_NE(plan.moves.front().to.hypernode, "s1");
}

TEST(PlanDefrag, MovesNobodyForAJobThatStartsAsThingsAre) {
  const DefragPlan plan =
      MustPlan(ClusterWith(With(Singles({Node(0)}), {kWaits})), RoomForJob{"default/big"});
  EXPECT_TRUE(plan.possible);
  EXPECT_THAT(plan.moves, IsEmpty());
  EXPECT_THAT(plan.nodes, IsEmpty());
  ASSERT_EQ(plan.target.size(), 1U);
  EXPECT_EQ(plan.target.front().tier, 1);
}

// 14 of 16 CPUs are taken: four pods find no room beside them, wherever the others go.
TEST(PlanDefrag, SaysThatNoMovesHelpWhereTheClusterIsFull) {
  std::vector<JobText> jobs = {kWaits};
  for (int node = 0; node < 7; ++node) {
    jobs.push_back({.name = "on-" + Node(node), .nodes = {Node(node), Node(node)}});
  }
  const DefragPlan plan = MustPlan(ClusterWith(jobs), RoomForJob{"default/big"});
  EXPECT_FALSE(plan.possible);
  EXPECT_EQ(plan.reason, "no moves make room for it");
  EXPECT_THAT(plan.moves, IsEmpty());
}

TEST(PlanDefrag, LeavesPodsThatMayNotBeEvictedWhereTheyAre) {
  auto jobs =
      With(Singles({Node(0), Node(1), Node(2), Node(4), Node(5), Node(6), Node(7)}), {kWaits});
  jobs[2].pod_meta = "labels: {volcano.sh/preemptable: \"false\"}";
  const DefragPlan plan = MustPlan(ClusterWith(jobs), RoomForJob{"default/big"});
  ASSERT_TRUE(plan.possible) << plan.reason;
  EXPECT_NE(plan.target.front().hypernode, "s1");
  EXPECT_EQ(plan.PodCount(), 2);
  for (JobText& job : jobs) {
    if (job.name != "big") job.pod_meta = jobs[2].pod_meta;
  }
  const DefragPlan none = MustPlan(ClusterWith(jobs), RoomForJob{"default/big"});
  EXPECT_FALSE(none.possible);
  EXPECT_EQ(none.reason,
            "no moves make room for it; 7 jobs have to stay, such as default/on-node0 (pods not "
            "preemptable)");
}

TEST(PlanDefrag, KeepsWhatADisruptionBudgetSelects) {
  CompletedObjects objects = ClusterWith(
      With(Singles({Node(0), Node(1), Node(2), Node(4), Node(5), Node(6), Node(7)}), {kWaits}));
  objects::PodDisruptionBudget& budget = objects.objects.disruption_budgets.emplace_back();
  budget.meta.ns = "default";
  budget.meta.name = "all";
  budget.selector = LabelSelector{};
  budget.max_unavailable = 0;
  const DefragPlan plan = MustPlan(objects, RoomForJob{"default/big"});
  EXPECT_FALSE(plan.possible);
  EXPECT_THAT(plan.reason, HasSubstr("pods that a disruption budget protects"));
}

// Only "pair" may move, out of s1, and the two CPUs that are left elsewhere are in different
// leaves.
TEST(PlanDefrag, PutsAGangNoFurtherApartUnlessThatIsAllowed) {
  auto jobs = With(Singles({Node(0), Node(0), Node(1), Node(4), Node(4), Node(5)}),
                   {{.name = "pair", .nodes = {Node(2), Node(3)}, .topology = "mode: soft"},
                    {.name = "six", .nodes = {Node(6), Node(6), Node(7), Node(7)}},
                    kWaits});
  for (std::size_t i = 0; i < 8; ++i) {
    if (jobs[i].name == "pair") continue;
    jobs[i].name += "-" + std::to_string(i);
    jobs[i].pod_meta = "labels: {volcano.sh/preemptable: \"false\"}";
  }
  EXPECT_FALSE(MustPlan(ClusterWith(jobs), RoomForJob{"default/big"}).possible);
  const DefragPlan plan =
      MustPlan(ClusterWith(jobs), RoomForJob{"default/big"}, {.allow_higher_tier = true});
  ASSERT_TRUE(plan.possible) << plan.reason;
  EXPECT_THAT(GroupsOf(plan), ElementsAre("default/pair"));
  EXPECT_EQ(plan.moves.front().from, (DefragPlan::Place{"s1", 1}));
  EXPECT_EQ(plan.moves.front().to, (DefragPlan::Place{"s6", 3}));
  EXPECT_EQ(plan.GangCount(), 1);
}

// The job needs two of its pods: the one that is in the way goes alone.
TEST(PlanDefrag, MovesPodsThatAGangCanSpareWithoutTheOthers) {
  const auto jobs =
      With(Singles({Node(0), Node(1), Node(4), Node(5), Node(6), Node(7)}),
           {{.name = "elastic", .nodes = {Node(2), Node(4), Node(6)}, .min = 2}, kWaits});
  const DefragPlan plan = MustPlan(ClusterWith(jobs), RoomForJob{"default/big"});
  ASSERT_TRUE(plan.possible) << plan.reason;
  ASSERT_THAT(GroupsOf(plan), ElementsAre("default/elastic"));
  EXPECT_FALSE(plan.moves.front().whole_gang);
  EXPECT_EQ(plan.PodCount(), 1);
  EXPECT_EQ(plan.GangCount(), 0);
}

TEST(PlanDefrag, FindsNoPlanBeyondTheLimits) {
  const auto jobs =
      With(Singles({Node(0), Node(1), Node(2), Node(4), Node(5), Node(6), Node(7)}), {kWaits});
  const DefragPlan plan = MustPlan(ClusterWith(jobs), RoomForJob{"default/big"}, {.max_pods = 0});
  EXPECT_FALSE(plan.possible);
  EXPECT_EQ(plan.reason,
            "the cheapest moves are of 1 whole gang and 1 pod, more than the limits allow");
}

TEST(PlanDefrag, MakesRoomForAGangThatDoesNotExistYet) {
  const auto jobs = Singles({Node(0), Node(1), Node(2), Node(4), Node(5), Node(6), Node(7)});
  RoomForPods room{.pod = {}, .count = 4};
  room.pod.meta.ns = "default";
  room.pod.meta.annotations["volcano.sh/network-topology-mode"] = "hard";
  room.pod.meta.annotations["volcano.sh/network-topology-highest-tier"] = "1";
  room.pod.spec.scheduler_name = "volcano";
  room.pod.spec.containers.emplace_back().requests = {{"cpu", Quantity::Parse("1").value()}};
  const DefragPlan plan = MustPlan(ClusterWith(jobs), room);
  ASSERT_TRUE(plan.possible) << plan.reason;
  EXPECT_THAT(GroupsOf(plan), ElementsAre("default/on-node2"));
}

// 0: s0 has two pods, s1 one, s2 and s3 none.
TEST(PlanDefrag, FreesTheHyperNodesThatCostLeast) {
  const CompletedObjects objects = ClusterWith(Singles({Node(0), Node(1), Node(2)}));
  EXPECT_THAT(MustPlan(objects, FreeHyperNodes{.tier = 1, .count = 2}).moves, IsEmpty());
  const DefragPlan plan = MustPlan(objects, FreeHyperNodes{.tier = 1, .count = 3});
  ASSERT_TRUE(plan.possible) << plan.reason;
  EXPECT_THAT(
      plan.target,
      ElementsAre(
          DefragPlan::Place{"s2", 1}, DefragPlan::Place{"s3", 1}, DefragPlan::Place{"s1", 1}));
  ASSERT_THAT(GroupsOf(plan), ElementsAre("default/on-node2"));
  EXPECT_EQ(plan.moves.front().to.hypernode, "s0");
  const DefragPlan all = MustPlan(objects, FreeHyperNodes{.tier = 1, .count = 4});
  EXPECT_FALSE(all.possible);
  EXPECT_THAT(all.reason, HasSubstr("3 HyperNodes of tier 1 can be free at the same time, not 4"));
}

TEST(PlanDefrag, CountsTheLargestGangBeforeAndAfter) {
  const DefragPlan plan = MustPlan(ClusterWith(Singles({Node(0), Node(2), Node(4), Node(6)})),
                                   FreeHyperNodes{.tier = 2, .count = 1});
  ASSERT_TRUE(plan.possible) << plan.reason;
  ASSERT_EQ(plan.largest.size(), 4U);
  EXPECT_EQ(plan.largest[1].tier, 2);
  EXPECT_LT(plan.largest[1].before, plan.largest[1].after);
}

TEST(PlanDefrag, NamesTheTiersWhereThereIsNoSuchOne) {
  const auto plan = PlanDefrag(
      ClusterWith({}), DefaultSchedulerConfig(), {.goal = FreeHyperNodes{.tier = 9}, .limits = {}});
  ASSERT_FALSE(plan.has_value());
  EXPECT_EQ(plan.error().message, "no HyperNode of tier 9: there are tiers 1, 2, 3");
}

}  // namespace
}  // namespace strata
