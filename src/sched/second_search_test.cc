// What the greedy search misses because it never takes a pod back, and what the second one may not
// do.
#include "sched/second_search.h"

#include <cstdint>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sched/gang_search.h"
#include "tests/support/cluster_builder.h"
#include "tests/support/cycle.h"

namespace strata {
namespace {

using testing::ClusterBuilder;
using testing::ConfigWith;
using testing::Decisions;
using ::testing::ElementsAre;
using testing::Hard;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::Pair;
using testing::RunCycle;

SchedulerConfig WithSteps(std::int64_t steps) {
  return ConfigWith("network-topology-aware", kSecondMaxSteps, ArgumentValue(steps));
}

// The first pod goes to the emptier node, where the two others would have room together.
void AddTightGang(ClusterBuilder& cluster) {
  cluster.Node("large", {.cpu = 4}).Node("small", {.cpu = 3});
  cluster.Job("gang", {.tasks = 0, .min_available = 3});
  for (const Amount cpu : {3, 2, 2}) cluster.Task("gang", {.cpu = cpu});
}

SubGroupPolicy SubGroups(std::int32_t size, const TopologySpec& topology) {
  SubGroupPolicy policy;
  policy.name = "part";
  policy.match_label_keys = {"id"};
  policy.size = size;
  policy.topology = topology;
  return policy;
}

TEST(SecondSearch, PlacesMixedPodsThatTookEachOthersRoom) {
  ClusterBuilder greedy;
  AddTightGang(greedy);
  EXPECT_THAT(RunCycle(greedy.state, WithSteps(0)).binds, IsEmpty());
  ClusterBuilder cluster;
  AddTightGang(cluster);
  EXPECT_THAT(
      RunCycle(cluster.state).binds,
      ElementsAre(Pair("gang-w-0", "small"), Pair("gang-w-1", "large"), Pair("gang-w-2", "large")));
}

TEST(SecondSearch, IsOffWhereTheConfigurationDoesNotNameIt) {
  SchedulerConfig config = DefaultSchedulerConfig();
  for (std::vector<PluginConfig>& tier : config.tiers) {
    for (PluginConfig& plugin : tier) plugin.arguments = {};
  }
  ClusterBuilder cluster;
  AddTightGang(cluster);
  EXPECT_THAT(RunCycle(cluster.state, config).binds, IsEmpty());
}

TEST(SecondSearch, SaysWhenItsBudgetWasNotEnough) {
  ClusterBuilder cluster;
  AddTightGang(cluster);
  const Decisions decisions = RunCycle(cluster.state, WithSteps(3));
  EXPECT_THAT(decisions.binds, IsEmpty());
  EXPECT_THAT(decisions.Message("gang"), HasSubstr("did not try everything within 3 steps"));
}

TEST(SecondSearch, SaysNothingWhereItTriedEverything) {
  ClusterBuilder cluster;
  cluster.Node("large", {.cpu = 4}).Node("small", {.cpu = 2});
  cluster.Job("gang", {.tasks = 0, .min_available = 3});
  for (const Amount cpu : {3, 2, 2}) cluster.Task("gang", {.cpu = cpu});
  EXPECT_THAT(RunCycle(cluster.state).Message("gang"), Not(HasSubstr("second search")));
}

TEST(SecondSearch, LetsASubGroupLeaveTheHyperNodeThatAnotherOneNeeds) {
  //   r0: 3 cores, 3 cores     r1: 4 cores     part 0: 3 cores; part 1: 2 and 2 cores, each in a
  //   rack: only r1 holds part 1
  const auto fill = [](ClusterBuilder& cluster) {
    cluster.Node("node0", {.cpu = 3}).Node("node1", {.cpu = 4});
    cluster.Leaf("r0", 1, {"node0"}).Leaf("r1", 1, {"node1"}).Above("spine", 2, {"r0", "r1"});
    cluster.Job("gang",
                {.tasks = 0,
                 .min_available = 3,
                 .topology = Hard(2),
                 .sub_groups = {SubGroups(1, Hard(1))}});
    cluster.Task("gang", {.cpu = 3, .sub_group = SubGroupKey{0, {"0"}}});
    cluster.Task("gang", {.cpu = 2, .sub_group = SubGroupKey{0, {"1"}}});
    cluster.Task("gang", {.cpu = 2, .sub_group = SubGroupKey{0, {"1"}}});
  };
  ClusterBuilder cluster;
  fill(cluster);
  EXPECT_THAT(
      RunCycle(cluster.state).binds,
      ElementsAre(Pair("gang-w-0", "node0"), Pair("gang-w-1", "node1"), Pair("gang-w-2", "node1")));
  EXPECT_EQ(cluster.JobNamed("gang").sub_jobs[1].allocated_hypernode, "r0");
  EXPECT_EQ(cluster.JobNamed("gang").sub_jobs[2].allocated_hypernode, "r1");
}

TEST(SecondSearch, StartsNoSubGroupThatIsSmallerThanItsSize) {
  ClusterBuilder cluster;
  cluster.Nodes(1);
  cluster.Job("gang", {.tasks = 0, .min_available = 1, .sub_groups = {SubGroups(2, {})}});
  cluster.Task("gang", {.sub_group = SubGroupKey{0, {"0"}}});
  EXPECT_THAT(RunCycle(cluster.state).binds, IsEmpty());
}

TEST(SecondSearch, TellsOfTheQuotaThatForbidsWhatItFound) {
  //   the second pod finds no node once the first has the large one, before the quota is asked
  //   about both
  ClusterBuilder cluster;
  cluster.Queue("tight", {.cpu_capability = 6});
  cluster.Node("large", {.cpu = 4}).Node("small", {.cpu = 3});
  cluster.Job("gang", {.tasks = 0, .min_available = 2, .queue = "tight"});
  for (const Amount cpu : {3, 4}) cluster.Task("gang", {.cpu = cpu});
  const Decisions decisions = RunCycle(cluster.state);
  EXPECT_THAT(decisions.binds, IsEmpty());
  EXPECT_THAT(decisions.Message("gang"), HasSubstr("queue tight: "));
}

// Ids of classes follow the order in which pods came; decisions do not depend on them.
TEST(SecondSearch, DecidesTheSameWhateverCameFirst) {
  const auto decide = [](const std::vector<Amount>& seen_before) {
    ClusterBuilder cluster;
    cluster.Node("node0", {.cpu = 6}).Node("node1", {.cpu = 6});
    cluster.Job("other", {.tasks = 0, .min_available = 9});
    for (const Amount cpu : seen_before) cluster.Task("other", {.cpu = cpu});
    cluster.Job("gang", {.tasks = 0, .min_available = 5});
    for (const Amount cpu : {2, 2, 2, 3, 3}) cluster.Task("gang", {.cpu = cpu});
    return RunCycle(cluster.state).binds;
  };
  EXPECT_THAT(decide({2, 3}),
              ElementsAre(Pair("gang-w-0", "node0"),
                          Pair("gang-w-1", "node0"),
                          Pair("gang-w-2", "node0"),
                          Pair("gang-w-3", "node1"),
                          Pair("gang-w-4", "node1")));
  EXPECT_EQ(decide({3, 2}), decide({2, 3}));
}

}  // namespace
}  // namespace strata
