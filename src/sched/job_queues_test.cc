#include "sched/job_queues.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/cluster_builder.h"
#include "tests/support/cycle.h"

namespace strata {
namespace {

using testing::ClusterBuilder;
using testing::Decisions;
using ::testing::ElementsAre;
using testing::kWholeNode;
using ::testing::Pair;
using testing::RunCycle;
using testing::TaskArgs;

// Four nodes of 8 cores; the gang needs all of them and runs on two, as after a restart of the
// scheduler in the middle of its binds.
class IncompleteGang : public ::testing::Test {
 protected:
  IncompleteGang() {
    cluster_.Nodes(4, {.memory = 32, .pods = 1}).Queue("small", {.cpu_capability = 24});
  }
  void AddGang(const testing::JobArgs& args) {
    cluster_.Job("gang", args).Running("gang", {"node0", "node1"}, args.task);
  }
  void ExpectGangCompletedBy(const Decisions& decisions) {
    EXPECT_THAT(decisions.binds, ElementsAre(Pair("gang-w-0", "node2"), Pair("gang-w-1", "node3")));
  }

  ClusterBuilder cluster_;
};

TEST_F(IncompleteGang, ComesBeforeAJobOfHigherPriority) {
  AddGang({.tasks = 2, .task = kWholeNode, .min_available = 4});
  cluster_.Job("rival", {.tasks = 2, .task = kWholeNode, .priority = 1000});
  ExpectGangCompletedBy(RunCycle(cluster_.state));
}

TEST_F(IncompleteGang, ComesBeforeTheJobsOfABetterQueue) {
  AddGang({.tasks = 2, .task = kWholeNode, .min_available = 4});
  cluster_.Queue("other", {.weight = 4});  // it has nothing yet, so it comes before "default"
  cluster_.Job("rival", {.tasks = 2, .task = {.cpu = 1}, .queue = "other"});
  ExpectGangCompletedBy(RunCycle(cluster_.state));
}

TEST_F(IncompleteGang, MayUseMoreThanTheShareOfItsQueue) {
  //   each queue deserves two nodes; "default" has them, also of memory and pods: it is overused
  const TaskArgs all{.cpu = 8, .memory = 32};
  AddGang({.tasks = 2, .task = all, .min_available = 4});
  cluster_.Queue("other").Job("rival", {.tasks = 2, .task = all, .queue = "other"});
  ExpectGangCompletedBy(RunCycle(cluster_.state));
}

TEST_F(IncompleteGang, KeepsTheCapabilityOfItsQueue) {
  AddGang({.tasks = 2, .task = kWholeNode, .min_available = 4, .queue = "small"});
  cluster_.Job("rival", {.tasks = 2, .task = kWholeNode});
  const Decisions decisions = RunCycle(cluster_.state);
  EXPECT_EQ(decisions.Message("gang"),
            "2/4 tasks in gang unschedulable: queue small: 8 cpu requested, 24 in use, its limit "
            "is 24");
  EXPECT_EQ(decisions.NodesOf("rival").size(), 2U);
}

TEST_F(IncompleteGang, IsAdmittedWithoutAVote) {
  //   two nodes are used and the gang asks for four: more than 1.2 times the cluster
  Resources least;
  least.Set(kCpu, testing::Cores(32));
  AddGang({.tasks = 2, .task = kWholeNode, .min_available = 4, .min_resources = least});
  ASSERT_EQ(cluster_.JobNamed("gang").phase, JobPhase::kPending);
  ExpectGangCompletedBy(RunCycle(cluster_.state));
}

TEST_F(IncompleteGang, IsAnOrdinaryJobOnceItHasItsMinimum) {
  //   the gang needs three nodes; its fourth pod has a turn after the rival
  AddGang({.tasks = 2, .task = kWholeNode, .min_available = 3});
  cluster_.Job("rival", {.tasks = 1, .task = kWholeNode, .priority = 1000});
  EXPECT_THAT(RunCycle(cluster_.state).binds,
              ElementsAre(Pair("gang-w-0", "node2"), Pair("rival-w-0", "node3")));
}

TEST_F(IncompleteGang, DoesNotKeepRoomThatIsTooSmallForIt) {
  AddGang({.tasks = 3, .task = kWholeNode, .min_available = 5});
  cluster_.Job("rival", {.tasks = 2, .task = kWholeNode});
  EXPECT_EQ(RunCycle(cluster_.state).NodesOf("rival").size(), 2U);
}

}  // namespace
}  // namespace strata
