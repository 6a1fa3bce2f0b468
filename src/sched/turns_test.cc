#include "sched/turns.h"

#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/cluster_builder.h"
#include "tests/support/cycle.h"

namespace strata {
namespace {

using Left = CycleResult::Left;
using testing::Advance;
using testing::ClusterBuilder;
using testing::Cycles;
using testing::Decisions;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::kWholeNode;
using testing::TaskArgs;
using testing::TraceLog;

// One full node, and cycles that may look at one node: each queue has one turn per cycle.
class TurnsTest : public ::testing::Test {
 protected:
  TurnsTest() { cluster_.Node("node0").Occupy("node0", kWholeNode); }

  Decisions Run() {
    Advance(cluster_.state);
    if (!cycles_) {
      cycles_.emplace(cluster_.state);
      cycles_->LimitWork(1);
    }
    TraceLog trace;
    const Decisions decisions = cycles_->Run(&trace);
    tried_.clear();
    for (const NearestMissRecord& miss : trace.Of<NearestMissRecord>()) tried_.insert(miss.job);
    return decisions;
  }
  void FreeNode() {
    const auto tasks = cluster_.state.nodes().TasksOn(cluster_.FindNode("node0"));
    cluster_.state.workload().RemoveTask(tasks.front());
  }

  ClusterBuilder cluster_;
  std::optional<Cycles> cycles_;
  std::set<std::string> tried_;  // without success, by the last cycle
};

TEST_F(TurnsTest, GoesOnWhereTheCycleBeforeStoppedInOrder) {
  cluster_.Job("a", {}).Job("b", {.priority = 1}).Job("c", {});
  EXPECT_EQ(Run().Reason("c"), "WaitingForTurn");
  EXPECT_THAT(tried_, ElementsAre("b"));
  EXPECT_EQ(cycles_->left(), Left::kForNow);
  Run();
  EXPECT_THAT(tried_, ElementsAre("a"));
  const Decisions last = Run();
  EXPECT_THAT(tried_, ElementsAre("c"));
  EXPECT_EQ(cycles_->left(), Left::kNone);
  for (const char* job : {"a", "b", "c"}) EXPECT_EQ(last.Reason(job), "NotEnoughResources") << job;
  EXPECT_EQ(Run(), last);
  EXPECT_THAT(tried_, IsEmpty());
}

TEST_F(TurnsTest, AJobThatWasNotTriedSaysSo) {
  cluster_.Job("a", {}).Job("b", {});
  EXPECT_EQ(Run().Message("b"),
            "not tried yet: more jobs wait in queue \"default\" than one cycle can try");
}

TEST_F(TurnsTest, AQueueDoesNotWaitForTheTurnsOfAnother) {
  for (int i = 0; i < 10; ++i) {
    cluster_.Job("busy" + std::to_string(i), {.task = kWholeNode, .priority = 9});
  }
  cluster_.Queue("other").Node("node1", {.cpu = 1}).Job("pod", {.queue = "other"});
  const Decisions decisions = Run();
  EXPECT_THAT(decisions.NodesOf("pod"), ElementsAre("node1"));
  EXPECT_EQ(decisions.Reason("busy9"), "WaitingForTurn");
}

TEST_F(TurnsTest, ANewJobOfHigherPriorityComesFirst) {
  cluster_.Job("a", {}).Job("b", {}).Job("c", {});
  Run();
  cluster_.Job("new", {.priority = 1});
  Run();
  EXPECT_THAT(tried_, ElementsAre("new"));
  Run();
  EXPECT_THAT(tried_, ElementsAre("b"));
}

TEST_F(TurnsTest, TheLastJobGetsItsTurnHoweverOftenTheFirstOneMayFindAPlace) {
  // "a" is lucky perhaps whenever a pod goes: its two pods differ.
  cluster_.Job("a", {.tasks = 1, .task = kWholeNode, .min_available = 2, .priority = 1});
  cluster_.Task("a", {.cpu = 7});
  cluster_.Job("b", {.task = kWholeNode}).Job("c", {.task = kWholeNode});
  std::set<std::string> tried;
  for (int i = 0; i < 3; ++i) {
    Run();
    tried.merge(tried_);
    FreeNode();
    cluster_.Occupy("node0", {.cpu = 1});
  }
  EXPECT_THAT(tried, ElementsAre("a", "b", "c"));
}

TEST_F(TurnsTest, AJobThatIsToBeTriedAgainKeepsItsVerdictUntilItsTurn) {
  cluster_.Job("a", {.task = kWholeNode}).Job("b", {.task = kWholeNode});
  while (Run().Reason("b") == "WaitingForTurn") continue;
  FreeNode();
  const Decisions decisions = Run();
  EXPECT_EQ(decisions.binds.count("a-w-0"), 1U);
  EXPECT_EQ(decisions.Reason("b"), "NotEnoughResources");
  EXPECT_EQ(cycles_->left(), Left::kForNow);
}

TEST_F(TurnsTest, AnIncompleteGangGetsItsTurnWhateverTheBudget) {
  cluster_.Nodes(4, {.cpu = 1, .memory = 2, .pods = 1});
  for (const char* gang : {"g0", "g1"}) cluster_.Job(gang, {.tasks = 1, .min_available = 2});
  cluster_.Running("g0", {"node1"}).Running("g1", {"node2"});
  for (int i = 0; i < 10; ++i) cluster_.Job("busy" + std::to_string(i), {.priority = 9});
  const Decisions decisions = Run();
  EXPECT_EQ(decisions.binds.count("g0-w-0"), 1U);
  EXPECT_EQ(decisions.Reason("g1"), "NotEnoughResources");
}

TEST_F(TurnsTest, BestEffortPodsShareTheBudget) {
  TaskArgs pod = testing::BestEffort();
  pod.selector = {{"disk", "ssd"}};
  for (const char* job : {"a", "b", "c"}) cluster_.Job(job, {.task = pod});
  Decisions decisions = Run();
  EXPECT_EQ(decisions.Reason("a"), "NoMatchingNode");
  EXPECT_EQ(decisions.Reason("c"), "WaitingForTurn");
  for (int i = 0; i < 2; ++i) decisions = Run();
  EXPECT_EQ(decisions.Reason("c"), "NoMatchingNode");
  EXPECT_EQ(cycles_->left(), Left::kNone);
}

}  // namespace
}  // namespace strata
