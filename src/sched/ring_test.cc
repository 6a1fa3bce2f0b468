#include "sched/ring.h"

#include <map>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sched/test_session.h"
#include "sched/worksheet.h"

namespace strata {
namespace {

using testing::ClusterBuilder;
using ::testing::ElementsAre;
using testing::Hard;
using testing::kWholeNode;
using testing::OpenedSession;

// Two racks of three nodes: r0 has node0 to node2, r1 node3 to node5.
class TwoRacks : public ::testing::Test {
 protected:
  TwoRacks() {
    cluster_.Nodes(6);
    cluster_.Leaf("r0", 1, {"node0", "node1", "node2"}).Leaf("r1", 1, {"node3", "node4", "node5"});
    cluster_.Above("spine", 2, {"r0", "r1"});
    cluster_.Job("gang", {.tasks = 0, .min_available = 1, .topology = Hard(2)});
  }

  // Places the tasks on these nodes by rank, lets them follow the tree, and returns their nodes.
  std::vector<std::string> Follow(const std::vector<std::string>& nodes) {
    OpenedSession opened(cluster_);
    ClusterState& state = cluster_.state;
    const JobId job = cluster_.FindJob("gang");
    const Worksheet worksheet(*opened, job);
    const auto task = [&](std::size_t i) {
      return cluster_.FindTask("gang-w-" + std::to_string(i));
    };
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      state.journal().Allocate(task(i), cluster_.FindNode(nodes[i]));
    }
    state.journal().SetDomain(job, "spine");
    FollowRanks(*opened, job, *worksheet.ranks(), 0);
    std::vector<std::string> now;
    now.reserve(nodes.size());
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      now.push_back(state.nodes().spec(state.workload().task(task(i)).node).name);
    }
    return now;
  }

  ClusterBuilder cluster_;
};

TEST_F(TwoRacks, RanksThatAlternateBetweenRacksFollowTheTree) {
  for (int i = 0; i < 4; ++i) cluster_.Task("gang", kWholeNode);
  EXPECT_THAT(Follow({"node0", "node3", "node1", "node4"}),
              ElementsAre("node0", "node1", "node3", "node4"));
  EXPECT_EQ(cluster_.JobNamed("gang").allocated_hypernode, "spine");
}

TEST_F(TwoRacks, WhatCrossesAsOftenAsItMustStays) {
  for (int i = 0; i < 4; ++i) cluster_.Task("gang", kWholeNode);
  // Ranks 3 and 0 are neighbours, too.
  EXPECT_THAT(Follow({"node4", "node1", "node0", "node3"}),
              ElementsAre("node4", "node1", "node0", "node3"));
}

TEST_F(TwoRacks, PodsOfDifferentKindsKeepTheirNodes) {
  for (const Amount cpu : {8, 4, 6, 5}) cluster_.Task("gang", {.cpu = cpu});
  EXPECT_THAT(Follow({"node0", "node3", "node1", "node4"}),
              ElementsAre("node0", "node3", "node1", "node4"));
}

}  // namespace
}  // namespace strata
