#include "sched/eviction/claims.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sched/actions/test_eviction.h"
#include "tests/support/cluster_builder.h"
#include "tests/support/cycle.h"

namespace strata {
namespace {

using std::chrono::seconds;
using testing::Advance;
using testing::Cycles;
using testing::Decisions;
using ::testing::ElementsAre;
using testing::Evicting;
using testing::EvictTest;
using testing::Hard;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::kWholeNode;
using ::testing::Pair;
using ::testing::SizeIs;
using testing::TaskArgs;

constexpr Time kBegin{std::chrono::hours(1000)};

// "low" runs on node0 and node1, "other" on the rest; "high" waits for two nodes of one rack
// and gets those of "low". Victims go when the test says so.
class ClaimTest : public EvictTest {
 protected:
  ClaimTest() {
    Runs("low", {"node0", "node1"}, {.priority = 1});
    Runs("other", {"node2", "node3"}, {.priority = 10});
    Waits("high", 2, {.topology = Hard(1)});
  }

  Decisions Cycle(Duration later = seconds(1)) {
    if (!cycles_) {
      cycles_.emplace(cluster_.state, Evicting("gangpreempt"));
      cycles_->LimitWork(std::numeric_limits<std::uint64_t>::max());
    }
    now_ += later;
    cycles_->SetNow(now_);
    return cycles_->Run();
  }
  void PlanForHigh() {
    ASSERT_THAT(Cycle().plans, ElementsAre("gangpreempt for high in s0: gang low"));
  }
  void Gone(const std::string& pod) { cluster_.state.workload().RemoveTask(Find(pod)); }
  TaskId Find(const std::string& pod) const {
    for (const TaskId id : cluster_.state.workload().AllTasks()) {
      if (cluster_.state.workload().task(id).name == pod) return id;
    }
    ADD_FAILURE() << pod;
    return {};
  }
  void ExpectEnd(const Decisions& decided, const std::string& end) {
    EXPECT_THAT(decided.ended, ElementsAre(end)) << decided;
    EXPECT_THAT(cycles_->claims().all(), IsEmpty());
  }

  std::optional<Cycles> cycles_;
  Time now_ = kBegin;
};

TEST_F(ClaimTest, PodsWaitOnTheirNodesUntilTheVictimsAreGone) {
  PlanForHigh();
  for (int i = 0; i < 3; ++i) {
    const Decisions next = Cycle();
    EXPECT_THAT(next.plans, IsEmpty()) << "a job with a claim does not evict again";
    EXPECT_THAT(next.pipelined, ElementsAre(Pair("high-w-0", "node0"), Pair("high-w-1", "node1")));
    EXPECT_EQ(next.Reason("high"), "WaitingForRelease");
    EXPECT_EQ(next.Message("high"),
              "2/2 tasks wait for resources that terminating pods still hold; gangpreempt evicts 1 "
              "gang, 2 pods for HyperNode s0 (tier 1)");
  }
  Gone("low-w-0");
  EXPECT_THAT(Cycle().binds, IsEmpty()) << "the gang starts as a whole";
  Gone("low-w-1");
  const Decisions last = Cycle();
  EXPECT_THAT(last.binds, ElementsAre(Pair("high-w-0", "node0"), Pair("high-w-1", "node1")));
  ExpectEnd(last, "high: started");
}

TEST_F(ClaimTest, FreedRoomIsNobodyElses) {
  PlanForHigh();
  Gone("low-w-0");
  Waits("second", 1, {.priority = 5});
  const Decisions next = Cycle();
  EXPECT_THAT(next.binds, IsEmpty());
  EXPECT_THAT(next.pipelined, SizeIs(2));
}

TEST_F(ClaimTest, AJobOfHigherPriorityMayHaveTheRoom) {
  PlanForHigh();
  Gone("low-w-0");
  Waits("higher", 1, {.priority = 20});
  const Decisions next = Cycle();
  EXPECT_THAT(next.binds, ElementsAre(Pair("higher-w-0", "node0")));
  ASSERT_THAT(next.ended, SizeIs(1));
  EXPECT_EQ(next.ended[0], "high: taken: a job of higher priority needed the room");
  EXPECT_THAT(next.Message("high"), HasSubstr("given up: a job of higher priority"));
}

TEST_F(ClaimTest, AJobOfHigherPriorityThatFindsNoPlaceChangesNothing) {
  PlanForHigh();
  Waits("higher", 4, {.topology = Hard(1), .priority = 20});
  const Decisions next = Cycle();
  EXPECT_THAT(next.ended, IsEmpty());
  EXPECT_THAT(next.pipelined, SizeIs(2));
}

TEST_F(ClaimTest, TheGangStartsEarlierWhereThereIsRoom) {
  PlanForHigh();
  Gone("other-w-0");
  EXPECT_THAT(Cycle().binds, IsEmpty());
  Gone("other-w-1");
  const Decisions next = Cycle();
  EXPECT_THAT(next.binds, ElementsAre(Pair("high-w-0", "node2"), Pair("high-w-1", "node3")));
  ExpectEnd(next, "high: started");
}

// The victim of "second" is the first to be gone.
TEST_F(EvictTest, AGangThatLooksForRoomElsewhereTakesNoneThatAnotherHasAClaimTo) {
  Runs("a", {"node0"}, {.priority = 1});
  Runs("b", {"node1"}, {.priority = 2});
  Runs("other", {"node2", "node3"}, {.priority = 10});
  Waits("first", 1);
  Waits("second", 1);
  Cycles cycles(cluster_.state, Evicting("gangpreempt"));
  const Decisions decided = cycles.Run();
  ASSERT_THAT(decided.plans, SizeIs(2));
  const std::string node = decided.pipelined.at("second-w-0");
  const auto tasks = cluster_.state.nodes().TasksOn(cluster_.FindNode(node));
  ASSERT_THAT(tasks, SizeIs(1));
  cluster_.state.workload().RemoveTask(tasks.front());
  const Decisions next = cycles.Run();
  EXPECT_THAT(next.binds, ElementsAre(Pair("second-w-0", node)));
  EXPECT_THAT(next.ended, ElementsAre("second: started"));
}

TEST_F(ClaimTest, EndsWhenTheJobIsGone) {
  PlanForHigh();
  cluster_.state.workload().RemoveJob(cluster_.FindJob("high"));
  ExpectEnd(Cycle(), "high: in vain: the job is gone");
}

TEST_F(ClaimTest, EndsWhenANodeIsGone) {
  PlanForHigh();
  Gone("low-w-0");
  cluster_.state.RemoveNode(cluster_.FindNode("node0"));
  const Decisions next = Cycle();
  EXPECT_THAT(next.ended, ElementsAre("high: in vain: node node0 is gone"));
  EXPECT_THAT(next.Message("high"), HasSubstr("was given up: node node0 is gone"));
}

TEST_F(ClaimTest, EndsWhenTheGangChanges) {
  PlanForHigh();
  JobSpec spec = cluster_.state.workload().job(cluster_.FindJob("high")).spec;
  spec.topology = Hard(2);
  cluster_.state.workload().UpsertJob(spec);
  EXPECT_THAT(Cycle().ended, ElementsAre("high: in vain: the gang has changed"));
}

TEST_F(ClaimTest, EndsWhenAPodOfTheGangIsReplaced) {
  PlanForHigh();
  Gone("high-w-1");
  cluster_.Task("high", kWholeNode, "high-w-x");
  EXPECT_THAT(Cycle().ended, ElementsAre("high: in vain: pod high-w-1 does not wait any more"));
}

TEST_F(ClaimTest, EndsWhenHyperNodesMoveTheNodesApart) {
  PlanForHigh();
  cluster_.Leaf("s0", 1, {"node0"});
  EXPECT_THAT(Cycle().ended, ElementsAre("high: in vain: node node1 is no longer in HyperNode s0"));
}

TEST_F(ClaimTest, EndsWhenAVictimDoesNotGo) {
  PlanForHigh();
  Gone("low-w-0");
  EXPECT_EQ(cycles_->again_at(), now_ + seconds(30 + 60));
  EXPECT_THAT(Cycle(seconds(89)).ended, IsEmpty());
  const Decisions late = Cycle(seconds(1));
  ASSERT_THAT(late.ended, SizeIs(1));
  EXPECT_EQ(late.ended[0], "high: in vain: pod low-w-1 is still there 60 s after its grace period");
}

TEST_F(ClaimTest, EndsWhenItsRoomIsGoneForGood) {
  PlanForHigh();
  Gone("low-w-0");
  cluster_.Occupy("node0", kWholeNode);
  EXPECT_THAT(Cycle().ended, ElementsAre("high: in vain: its nodes no longer have the room"));
}

// The first pod wants to be in the zone of the second one.
TEST_F(EvictTest, PodsOfAClaimThatNeedEachOtherStartInAnyOrder) {
  for (const char* node : {"node0", "node1", "node2", "node3"}) {
    cluster_.Node(node, {.labels = {{"zone", "z"}}});
  }
  Runs("low", {"node0", "node1"}, {.priority = 1});
  Runs("other", {"node2", "node3"}, {.priority = 10});
  cluster_.Job("high", {.tasks = 0, .min_available = 2, .priority = 10});
  testing::TaskArgs guest = kWholeNode;
  guest.rules.affinity = {testing::Pods("app", "host", "zone")};
  testing::TaskArgs host = kWholeNode;
  host.labels = {{"app", "host"}};
  cluster_.Task("high", guest).Task("high", host);
  Cycles before(cluster_.state, Evicting("gangpreempt"));
  ASSERT_THAT(before.Run().plans, SizeIs(1));
  Cycles cycles(cluster_.state, Evicting("gangpreempt"));
  GangClaim claim = before.claims().all().at("high");
  for (const std::string first : {"high-w-0", "high-w-1"}) {
    std::sort(claim.pods.begin(), claim.pods.end(), [&](const auto& a, const auto& b) {
      return (a.name == first) > (b.name == first);
    });
    cycles.claims().Add(claim);
    EXPECT_THAT(cycles.Run().ended, IsEmpty()) << first << " first";
  }
  Advance(cluster_.state);
  cycles.claims().Add(claim);
  EXPECT_THAT(cycles.Run().ended, ElementsAre("high: started"));
}

// Pods of "high" keep off the zones of pods that are noisy.
TEST_F(EvictTest, AClaimEndsWhenAPodComesThatItsPodsKeepOff) {
  for (const char* node : {"node0", "node1", "node2", "node3"}) {
    cluster_.Node(node, {.labels = {{"zone", "z"}}});
  }
  Runs("low", {"node0", "node1"}, {.priority = 1});
  Runs("other", {"node2", "node3"}, {.priority = 10});
  cluster_.Job("high", {.tasks = 0, .min_available = 1, .priority = 10});
  testing::TaskArgs quiet = kWholeNode;
  quiet.rules.anti_affinity = {testing::Pods("app", "noisy", "zone")};
  cluster_.Task("high", quiet);
  Cycles cycles(cluster_.state, Evicting("gangpreempt"));
  ASSERT_THAT(cycles.Run().plans, SizeIs(1));
  Advance(cluster_.state);
  testing::TaskArgs noisy{.cpu = 0, .memory = 0};
  noisy.labels = {{"app", "noisy"}};
  cluster_.Occupy("node2", noisy);
  const Decisions next = cycles.Run();
  EXPECT_THAT(next.binds, IsEmpty());
  EXPECT_THAT(next.ended, ElementsAre("high: in vain: its nodes no longer have the room"));
}

TEST_F(ClaimTest, AnotherSchedulerGoesOnWithIt) {
  PlanForHigh();
  const ClaimBook claims = cycles_->claims();
  cycles_.reset();
  EXPECT_THAT(Cycle().ended, IsEmpty());
  cycles_->claims() = claims;
  EXPECT_THAT(Cycle().pipelined, SizeIs(2));
}

TEST_F(ClaimTest, AnOldClaimForWhichNobodyIsKnownToHaveGoneIsVoid) {
  Cycles idle(cluster_.state);
  const Job& job = cluster_.state.workload().job(cluster_.FindJob("high"));
  GangClaim claim{.job = "high",
                  .uid = job.spec.uid,
                  .shape = ShapeOf(job.spec),
                  .hypernode = "",
                  .evicts = "x",
                  .pods = {},
                  .victims = {},
                  .since = kBegin,
                  .recovered = true};
  for (const char* pod : {"high-w-0", "high-w-1"}) {
    const Task& task = cluster_.state.workload().task(Find(pod));
    claim.pods.push_back({task.name, task.uid, pod == std::string("high-w-0") ? "node0" : "node2"});
  }
  idle.claims().Add(claim);
  EXPECT_THAT(idle.Run().ended, ElementsAre("high: void: the places are too far apart now"));
}

TEST_F(ClaimTest, ARefusedPlanIsMadeAgainLater) {
  PlanForHigh();
  for (const char* pod : {"low-w-0", "low-w-1"}) {
    cluster_.state.workload().SetTaskStatus(Find(pod), TaskStatus::kRunning);
  }
  cycles_->claims().Refuse("high",
                           cluster_.state.workload().job(cluster_.FindJob("high")).spec.uid,
                           "the budget of pod low-w-0 refuses",
                           now_ + seconds(30));
  const Decisions next = Cycle();
  EXPECT_THAT(next.plans, IsEmpty());
  EXPECT_EQ(next.Reason("high"), "EvictionNotAllowed");
  EXPECT_THAT(next.Message("high"), HasSubstr("the budget of pod low-w-0 refuses"));
  EXPECT_EQ(cycles_->again_at(), now_ + seconds(29));
  EXPECT_THAT(Cycle(seconds(29)).plans, SizeIs(1));
}

TEST_F(EvictTest, NoMoreGangsPerMinuteGoThanAllowed) {
  Runs("a", {"node0"}, {.priority = 1});
  Runs("b", {"node1"}, {.priority = 1});
  Runs("c", {"node2", "node3"}, {.priority = 10});
  Waits("high", 1);
  Waits("next", 1, {.priority = 9});
  Cycles cycles(cluster_.state,
                Evicting("gangpreempt", {{"maxGangsPerMinute", ArgumentValue(std::int64_t{1})}}));
  cycles.LimitWork(std::numeric_limits<std::uint64_t>::max());
  cycles.SetNow(kBegin);
  const Decisions first = cycles.Run();
  EXPECT_THAT(first.plans, SizeIs(1));
  EXPECT_THAT(first.Message("next"), HasSubstr("not more than 1 gangs per minute"));
  EXPECT_EQ(cycles.again_at(), kBegin + seconds(60));
  cycles.SetNow(kBegin + seconds(59));
  EXPECT_THAT(cycles.Run().plans, IsEmpty());
  cycles.SetNow(kBegin + seconds(60));
  EXPECT_THAT(cycles.Run().plans, SizeIs(1));
}

// ---- what wakes jobs

TEST_F(ClaimTest, AJobThatNobodyGoesForIsAskedAgainWhenAVictimIsOldEnough) {
  for (const char* pod : {"low-w-0", "low-w-1", "other-w-0", "other-w-1"}) {
    Disruption disruption;
    disruption.runs_since = ToMoment(now_);
    cluster_.state.workload().SetDisruption(Find(pod), disruption);
  }
  const Decisions first = Cycle();
  EXPECT_EQ(first.Reason("high"), "NothingToEvict");
  EXPECT_EQ(cycles_->again_at(), kBegin + seconds(60));
  EXPECT_THAT(Cycle(seconds(58)).plans, IsEmpty());
  EXPECT_THAT(Cycle(seconds(1)).plans, SizeIs(1));
}

// The same for a job that was not let into its queue, because it could evict nobody yet.
TEST_F(EvictTest, AJobOutsideAFullQueueIsAskedAgainWhenAVictimIsOldEnough) {
  const auto cores = [](Amount count) {
    Resources resources;
    resources.Set(kCpu, testing::Cores(count));
    return resources;
  };
  TaskArgs young = kWholeNode;
  young.disruption.runs_since = ToMoment(kBegin);
  Runs("low",
       {"node0", "node1", "node2", "node3"},
       {.priority = 1, .min_resources = cores(32)},
       young);
  Waits("high", 2, {.topology = Hard(1), .min_resources = cores(16)});
  Cycles cycles(cluster_.state, Evicting("gangpreempt"));
  cycles.SetNow(kBegin + seconds(1));
  EXPECT_EQ(cycles.Run().Reason("high"), "ClusterFull");
  EXPECT_EQ(cycles.again_at(), kBegin + seconds(60));
  cycles.SetNow(kBegin + seconds(60));
  EXPECT_THAT(cycles.Run().plans, SizeIs(1));
}

// All of "low" goes for a gang that needs two of its three nodes.
TEST_F(EvictTest, RoomThatAnEvictionLeavesOverWakesOthers) {
  Runs("low", {"node0", "node1", "node2"}, {.priority = 1});
  Runs("other", {"node3"}, {.priority = 2});
  Waits("high", 2, {.topology = Hard(1)});
  Waits("least", 1, {.priority = -1});
  Cycles cycles(cluster_.state, Evicting("gangpreempt"));
  cycles.LimitWork(std::numeric_limits<std::uint64_t>::max());
  ASSERT_THAT(cycles.Run().plans, SizeIs(1));
  EXPECT_EQ(cycles.Run().pipelined["least-w-0"], "node2") << "nothing has come from outside";
}

}  // namespace
}  // namespace strata
