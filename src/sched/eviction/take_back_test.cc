#include "sched/eviction/take_back.h"

#include <chrono>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sched/actions/test_eviction.h"
#include "tests/support/cluster_builder.h"
#include "tests/support/cycle.h"

namespace strata {
namespace {

using std::chrono::seconds;
using testing::Cycles;
using testing::Decisions;
using ::testing::ElementsAre;
using testing::Evicting;
using testing::EvictTest;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::JobArgs;
using testing::kWholeNode;
using ::testing::SizeIs;
using testing::TaskArgs;

constexpr Time kNoon{std::chrono::hours(1000)};

class TakeBackTest : public EvictTest {
 protected:
  // What a scheduler leaves that is killed between two binds: a gang of four with pods on these
  // nodes, while the others wait.
  void LeavesHalf(const std::string& name,
                  std::initializer_list<std::string> nodes,
                  JobArgs args = {},
                  const TaskArgs& pod = kWholeNode) {
    args.tasks = 4 - static_cast<int>(nodes.size());
    args.task = pod;
    args.min_available = 4;
    args.priority = 5;
    cluster_.Job(name, args).Running(name, nodes, pod);
    cluster_.state.workload().SetJobPhase(cluster_.FindJob(name), JobPhase::kInqueue);
  }
  void RemembersThatItWasWhole(const std::string& name) {
    JobSpec spec = cluster_.JobNamed(name).spec;
    spec.was_whole = true;
    cluster_.state.workload().UpsertJob(std::move(spec));
    cluster_.state.workload().SetJobPhase(cluster_.FindJob(name), JobPhase::kUnknown);
  }
  void HasRunSince(const std::string& pod, Time time) {
    Disruption disruption;
    disruption.runs_since = ToMoment(time);
    cluster_.state.workload().SetDisruption(cluster_.FindTask(pod), disruption);
  }
};

TEST_F(TakeBackTest, TakesBackAGangThatCannotBeCompleted) {
  LeavesHalf("half", {"node0", "node1"});
  Runs("rival", {"node2", "node3"}, {.priority = 10});
  const Decisions decided = Run("gangpreempt");
  EXPECT_THAT(decided.plans, ElementsAre("gangpreempt for half: gang half"));
  EXPECT_THAT(decided.evicted, ElementsAre("half-w-2", "half-w-3"));
  EXPECT_THAT(decided.Message("half"),
              HasSubstr("; gangpreempt: takes back 2 pods of the incomplete gang"));
}

// The node of a pod is gone, say: the others may have work to save.
TEST_F(TakeBackTest, KeepsAGangThatWasWholeOnce) {
  LeavesHalf("half", {"node0", "node1"});
  Runs("rival", {"node2", "node3"}, {.priority = 10});
  RemembersThatItWasWhole("half");
  EXPECT_THAT(Run("gangpreempt").plans, IsEmpty());
}

TEST_F(TakeBackTest, CompletesAGangThatHasRoom) {
  LeavesHalf("half", {"node0", "node1"});
  const Decisions decided = Run("gangpreempt");
  EXPECT_THAT(decided.plans, IsEmpty());
  EXPECT_THAT(decided.binds, SizeIs(2));
}

TEST_F(TakeBackTest, WaitsForPodsThatAreTerminating) {
  LeavesHalf("half", {"node0", "node1"});
  Runs("rival", {"node2", "node3"}, {.priority = 10});
  for (const char* pod : {"rival-w-0", "rival-w-1"}) {
    cluster_.state.workload().SetTaskStatus(cluster_.FindTask(pod), TaskStatus::kReleasing);
  }
  const Decisions decided = Run("gangpreempt");
  EXPECT_THAT(decided.plans, IsEmpty());
  EXPECT_THAT(decided.pipelined, SizeIs(2));
}

TEST_F(TakeBackTest, EvictsOthersWhereTheGangMay) {
  LeavesHalf("half", {"node0", "node1"});
  Runs("rival", {"node2", "node3"}, {.priority = 1});
  EXPECT_THAT(Run("gangpreempt").plans, ElementsAre("gangpreempt for half: gang rival"));
}

TEST_F(TakeBackTest, TakesNothingBackWithoutAnActionThatEvicts) {
  LeavesHalf("half", {"node0", "node1"});
  Runs("rival", {"node2", "node3"}, {.priority = 10});
  EXPECT_THAT(Run(DefaultSchedulerConfig()).plans, IsEmpty());
}

// With two actions the last one does, when neither has made room.
TEST_F(TakeBackTest, IsDoneByTheLastActionThatEvicts) {
  LeavesHalf("half", {"node0", "node1"});
  Runs("rival", {"node2", "node3"}, {.priority = 10});
  SchedulerConfig config = Evicting("gangreclaim");
  config.actions.insert(config.actions.begin() + 2, {.name = "gangpreempt", .arguments = {}});
  EXPECT_THAT(Run(config).plans, ElementsAre("gangreclaim for half: gang half"));
}

// The room of one is what the other lacks.
TEST_F(TakeBackTest, OfTwoTakesBackTheLessImportant) {
  LeavesHalf("less", {"node0", "node1"});
  LeavesHalf("more", {"node2", "node3"});
  JobSpec spec = cluster_.JobNamed("less").spec;
  spec.priority = 4;
  cluster_.state.workload().UpsertJob(std::move(spec));
  // gang spares whole gangs, so "more" does not take the room by itself.
  EXPECT_THAT(Run("preempt").plans, ElementsAre("preempt for less: gang less"));
}

TEST_F(TakeBackTest, KeepsPodsThatMustStay) {
  LeavesHalf("half", {"node0", "node1"}, {.preemptable = false});
  Runs("rival", {"node2", "node3"}, {.priority = 10});
  EXPECT_THAT(Run("gangpreempt").plans, IsEmpty());
}

// A pod that is missing may be created at any moment.
TEST_F(TakeBackTest, KeepsAGangThatLacksPods) {
  LeavesHalf("half", {"node0", "node1"});
  cluster_.state.workload().RemoveTask(cluster_.FindTask("half-w-0"));
  Runs("rival", {"node2", "node3"}, {.priority = 10});
  EXPECT_THAT(Run("gangpreempt").plans, IsEmpty());
}

TEST_F(TakeBackTest, KeepsAGangWhosePodsHaveGates) {
  LeavesHalf("half", {"node0", "node1", "node2"}, {}, kWholeNode);
  TaskArgs gated = kWholeNode;
  gated.gated = true;
  cluster_.Task("half", gated);
  Runs("rival", {"node3"}, {.priority = 10});
  EXPECT_THAT(Run("gangpreempt").plans, IsEmpty());
}

TEST_F(TakeBackTest, WaitsUntilItsPodsHaveRunForAMinute) {
  LeavesHalf("half", {"node0", "node1"});
  Runs("rival", {"node2", "node3"}, {.priority = 10});
  HasRunSince("half-w-2", kNoon);
  HasRunSince("half-w-3", kNoon + seconds(1));
  Cycles cycles(cluster_.state, Evicting("gangpreempt"));
  cycles.LimitWork(std::numeric_limits<std::uint64_t>::max());
  cycles.SetNow(kNoon + seconds(59));
  EXPECT_THAT(cycles.Run().plans, IsEmpty());
  EXPECT_EQ(cycles.again_at(), kNoon + seconds(60));
  cycles.SetNow(kNoon + seconds(60));
  EXPECT_THAT(cycles.Run().plans, SizeIs(1));
  EXPECT_THAT(cycles.claims().all(), IsEmpty()) << "nobody gets the room";
}

TEST_F(TakeBackTest, OnlySaysSoInADryRun) {
  LeavesHalf("half", {"node0", "node1"});
  Runs("rival", {"node2", "node3"}, {.priority = 10});
  const Decisions decided = Run(Evicting("gangpreempt", {{"dryRun", ArgumentValue(true)}}));
  EXPECT_THAT(decided.plans, IsEmpty());
  EXPECT_THAT(decided.Message("half"),
              HasSubstr("gangpreempt: would take back 2 pods of the incomplete gang"));
}

TEST_F(TakeBackTest, CountsAsOneOfTheGangsPerMinute) {
  LeavesHalf("half", {"node0"});
  LeavesHalf("less", {"node1"});
  Runs("rival", {"node2", "node3"}, {.priority = 10});
  Cycles cycles(cluster_.state,
                Evicting("gangpreempt", {{"maxGangsPerMinute", ArgumentValue(std::int64_t{1})}}));
  cycles.SetNow(kNoon);
  EXPECT_THAT(cycles.Run().plans, ElementsAre("gangpreempt for half: gang half"));
  cycles.SetNow(kNoon + seconds(59));
  EXPECT_THAT(cycles.Run().plans, IsEmpty());
  EXPECT_EQ(cycles.again_at(), kNoon + seconds(60));
  cycles.SetNow(kNoon + seconds(60));
  EXPECT_THAT(cycles.Run().plans, ElementsAre("gangpreempt for less: gang less"));
}

// A scheduler that has just begun does not know what the previous one did.
TEST_F(TakeBackTest, NoGangBreaksInTheFirstMinuteOfASchedulerWithALimit) {
  Runs("low", {"node0", "node1"}, {.priority = 1});
  Runs("other", {"node2", "node3"}, {.priority = 10});
  Waits("high", 2);
  Cycles cycles(cluster_.state,
                Evicting("gangpreempt", {{"maxGangsPerMinute", ArgumentValue(std::int64_t{5})}}));
  cycles.LimitWork(std::numeric_limits<std::uint64_t>::max());
  cycles.claims().KnowsNothingBefore(kNoon);
  cycles.SetNow(kNoon + seconds(59));
  const Decisions first = cycles.Run();
  EXPECT_THAT(first.plans, IsEmpty());
  EXPECT_THAT(first.Message("high"), HasSubstr("not more than 5 gangs per minute are evicted"));
  EXPECT_EQ(cycles.again_at(), kNoon + seconds(60));
  cycles.SetNow(kNoon + seconds(60));
  EXPECT_THAT(cycles.Run().plans, SizeIs(1));
}

}  // namespace
}  // namespace strata
