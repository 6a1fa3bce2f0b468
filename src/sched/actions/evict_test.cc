// Decisions of the four actions that evict. The first cases are those of Volcano's own acceptance
// tests (test/e2e/gangevict) under their names there: GP-1, T1 and so on.
#include <chrono>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/cluster_builder.h"
#include "tests/support/cycle.h"

namespace strata {
namespace {

using testing::Advance;
using testing::ClusterBuilder;
using testing::Cycles;
using testing::Decisions;
using ::testing::ElementsAre;
using testing::Hard;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::JobArgs;
using testing::kWholeNode;
using testing::QueueArgs;
using ::testing::SizeIs;
using testing::Soft;
using testing::TaskArgs;

using ActionArguments = std::vector<std::pair<std::string, ArgumentValue>>;

// The default configuration with this action after allocate.
SchedulerConfig Evicting(const std::string& action, const ActionArguments& arguments = {}) {
  SchedulerConfig config = DefaultSchedulerConfig();
  ActionConfig added{.name = action, .arguments = {}};
  for (const auto& [key, value] : arguments) added.arguments.Set(key, value);
  config.actions.insert(config.actions.begin() + 2, added);
  return config;
}

// The same with capacity instead of proportion.
SchedulerConfig EvictingByCapacity(const std::string& action) {
  SchedulerConfig config = Evicting(action);
  for (auto& tier : config.tiers) {
    for (PluginConfig& plugin : tier) {
      if (plugin.name == "proportion") plugin.name = "capacity";
    }
  }
  return config;
}

SchedulerConfig WithSwitch(SchedulerConfig config,
                           const std::string& plugin,
                           const std::string& name,
                           bool value) {
  for (auto& tier : config.tiers) {
    for (PluginConfig& one : tier) {
      if (one.name == plugin) one.switches[name] = value;
    }
  }
  return config;
}

// node0 and node1 in rack s0, node2 and node3 in s1, both below spine s2. A pod of kWholeNode fills
// a node.
class EvictTest : public ::testing::Test {
 protected:
  EvictTest() {
    cluster_.Nodes(4)
        .Leaf("s0", 1, {"node0", "node1"})
        .Leaf("s1", 1, {"node2", "node3"})
        .Above("s2", 2, {"s0", "s1"});
  }

  // A job whose pods run on these nodes, and need this many of them; all by default.
  void Runs(const std::string& name,
            std::initializer_list<std::string> nodes,
            JobArgs args = {},
            const TaskArgs& pod = kWholeNode) {
    args.tasks = 0;
    args.min_available = args.min_available.value_or(static_cast<std::int32_t>(nodes.size()));
    cluster_.Job(name, args).Running(name, nodes, pod);
    cluster_.state.workload().SetJobPhase(cluster_.FindJob(name), JobPhase::kRunning);
  }
  // A gang of priority 10 that waits for so many nodes.
  void Waits(const std::string& name, int pods, JobArgs args = {}) {
    args.tasks = pods;
    args.task = kWholeNode;
    if (args.priority == 0) args.priority = 10;
    cluster_.Job(name, args);
  }
  Decisions Run(const SchedulerConfig& config) { return Cycles(cluster_.state, config).Run(); }
  Decisions Run(const std::string& action) { return Run(Evicting(action)); }

  ClusterBuilder cluster_;
};

// ---- gangpreempt

TEST_F(EvictTest, Gp1TakesSurplusAndTheVictimKeepsItsMinimum) {
  Runs("wide", {"node0", "node1", "node2", "node3"}, {.min_available = 2});
  Waits("high", 2);
  const Decisions decided = Run("gangpreempt");
  EXPECT_THAT(decided.plans, ElementsAre("gangpreempt for high: surplus wide x2"));
  EXPECT_THAT(decided.evicted, ElementsAre("wide-w-2", "wide-w-3")) << "the last ones first";
  EXPECT_THAT(decided.pipelined, SizeIs(2));
  EXPECT_EQ(decided.Reason("high"), "WaitingForRelease");
}

TEST_F(EvictTest, TheGangStartsInTheNextCycle) {
  Runs("wide", {"node0", "node1", "node2", "node3"}, {.min_available = 2});
  Waits("high", 2);
  Cycles cycles(cluster_.state, Evicting("gangpreempt"));
  cycles.Run();
  Advance(cluster_.state);
  const Decisions next = cycles.Run();
  EXPECT_THAT(next.binds, SizeIs(2));
  EXPECT_THAT(next.plans, IsEmpty());
}

TEST_F(EvictTest, Gp2TakesTheSurplusOfTwoGangsAndBreaksNone) {
  Runs("a", {"node0", "node1"}, {.min_available = 1});
  Runs("b", {"node2", "node3"}, {.min_available = 1});
  Waits("high", 2);
  EXPECT_THAT(Run("gangpreempt").plans,
              ElementsAre("gangpreempt for high: surplus a x1, surplus b x1"));
}

TEST_F(EvictTest, Gp3BreaksExactlyOneOfTwoGangs) {
  Runs("a", {"node0", "node1"});
  Runs("b", {"node2", "node3"});
  Waits("high", 2);
  EXPECT_THAT(Run("gangpreempt").plans, ElementsAre("gangpreempt for high: gang a"));
}

TEST_F(EvictTest, Gp4BreaksBothWhereBothAreNeeded) {
  Runs("a", {"node0", "node1"});
  Runs("b", {"node2", "node3"});
  Waits("high", 3);
  EXPECT_THAT(Run("gangpreempt").plans, ElementsAre("gangpreempt for high: gang a, gang b"));
}

TEST_F(EvictTest, Gp6DoesNotTakeFromOtherQueues) {
  cluster_.Queue("other");
  Runs("a", {"node0", "node1", "node2", "node3"}, {.queue = "other"});
  Waits("high", 1);
  const Decisions decided = Run("gangpreempt");
  EXPECT_THAT(decided.evicted, IsEmpty());
  EXPECT_EQ(decided.Reason("high"), "NothingToEvict");
  EXPECT_THAT(decided.Message("high"), HasSubstr("; gangpreempt: no pod is in its reach"));
}

TEST_F(EvictTest, Gp7DoesNotTakeFromEqualPriority) {
  Runs("a", {"node0", "node1", "node2", "node3"}, {.priority = 10});
  Waits("high", 1);
  const Decisions decided = Run("gangpreempt");
  EXPECT_THAT(decided.evicted, IsEmpty());
  EXPECT_THAT(decided.Message("high"),
              HasSubstr("it may evict nobody: 4 pods of jobs without lower priority"));
}

TEST_F(EvictTest, Gp8EvictsNobodyWhereAllOfThemAreNotEnough) {
  Runs("a", {"node0", "node1"});
  Runs("equal", {"node2", "node3"}, {.priority = 10});
  Waits("high", 4);
  const Decisions decided = Run("gangpreempt");
  EXPECT_THAT(decided.evicted, IsEmpty());
  EXPECT_EQ(decided.Reason("high"), "NothingToEvict");
  EXPECT_THAT(decided.Message("high"),
              HasSubstr("even without the 2 pods that it may evict the gang would not fit"));
}

TEST_F(EvictTest, R1KeepsTheMinimumOfEachRole) {
  JobArgs args{.min_available = 2, .min_task_member = {{"ps", 1}, {"w", 1}}};
  Runs("roles", {"node0", "node1", "node2"}, args);
  TaskArgs ps = kWholeNode;
  ps.role = "ps";
  cluster_.Running("roles", {"node3"}, ps);
  Waits("high", 2);
  const Decisions decided = Run("gangpreempt");
  EXPECT_THAT(decided.evicted, ElementsAre("roles-w-1", "roles-w-2"))
      << "of four pods two are surplus, and neither is the only ps";
}

TEST_F(EvictTest, S1KeepsTheMinimumOfSubGroups) {
  const SubGroupPolicy pairs{.name = "pair",
                             .selector = {},
                             .match_label_keys = {"pair"},
                             .size = 2,
                             .min_sub_groups = 1,
                             .topology = {}};
  cluster_.Job("pairs", {.tasks = 0, .min_available = 2, .sub_groups = {pairs}});
  cluster_.state.workload().SetJobPhase(cluster_.FindJob("pairs"), JobPhase::kRunning);
  TaskArgs pod = kWholeNode;
  pod.sub_group = SubGroupKey{.policy = 0, .values = {"0"}};
  cluster_.Running("pairs", {"node0", "node2"}, pod);
  pod.sub_group = SubGroupKey{.policy = 0, .values = {"1"}};
  cluster_.Running("pairs", {"node1", "node3"}, pod);
  Waits("high", 2);
  const Decisions decided = Run("gangpreempt");
  EXPECT_THAT(decided.evicted, ElementsAre("pairs-w-2", "pairs-w-3"))
      << "one pair goes, not half of each";
}

TEST_F(EvictTest, T1ClearsOneRackForAHardGang) {
  Runs("a", {"node0"});
  Runs("b", {"node1"}, {.priority = 5});
  Runs("c", {"node2"}, {.priority = 1});
  Runs("d", {"node3"}, {.priority = 1});
  Waits("high", 2, {.topology = Hard(1)});
  EXPECT_THAT(Run("gangpreempt").plans, ElementsAre("gangpreempt for high in s1: gang c, gang d"))
      << "the rack whose most important victim is less important";
}

TEST_F(EvictTest, T2EvictsNobodyForAGangThatNoRackCouldHold) {
  Runs("a", {"node0", "node1"});
  Runs("b", {"node2", "node3"});
  Waits("high", 3, {.topology = Hard(1)});
  const Decisions decided = Run("gangpreempt");
  EXPECT_THAT(decided.evicted, IsEmpty());
  EXPECT_EQ(decided.Reason("high"), "NothingToEvict");
}

TEST_F(EvictTest, T4TakesARackThoughTheLimitAllowsTheSpine) {
  Runs("a", {"node0", "node1"});
  Runs("b", {"node2", "node3"});
  Waits("high", 2, {.topology = Hard(2)});
  EXPECT_THAT(Run("gangpreempt").plans, ElementsAre("gangpreempt for high in s0: gang a"));
}

// ---- units and their order

TEST_F(EvictTest, AGangGoesWhereverItRuns) {
  Runs("a", {"node0", "node2"});
  Runs("b", {"node1", "node3"}, {.priority = 10});
  Waits("high", 1, {.topology = Hard(1)});
  EXPECT_THAT(Run("gangpreempt").evicted, ElementsAre("a-w-0", "a-w-1"))
      << "half a gang would hold its room in vain";
}

TEST_F(EvictTest, ASmallerNumberOfGangsIsBrokenByDefault) {
  Runs("a", {"node0"});
  Runs("b", {"node1"});
  Runs("pair", {"node2", "node3"}, {.priority = 5});
  Waits("high", 2);
  EXPECT_THAT(Run("gangpreempt").plans, ElementsAre("gangpreempt for high: gang pair"));
}

TEST_F(EvictTest, PriorityFirstSparesTheMoreImportantJobAltogether) {
  Runs("a", {"node0"});
  Runs("b", {"node1"});
  Runs("wide", {"node2", "node3"}, {.min_available = 0, .priority = 5});
  Waits("high", 2);
  EXPECT_THAT(Run(Evicting("gangpreempt", {{"victimOrderPolicy", "priority-first"}})).plans,
              ElementsAre("gangpreempt for high: gang a, gang b"));
}

TEST_F(EvictTest, SafeFirstTakesTheSurplusOfTheMoreImportantJob) {
  Runs("a", {"node0"});
  Runs("b", {"node1"});
  Runs("wide", {"node2", "node3"}, {.min_available = 0, .priority = 5});
  Waits("high", 2);
  EXPECT_THAT(Run("gangpreempt").plans, ElementsAre("gangpreempt for high: surplus wide x2"));
}

TEST_F(EvictTest, AmongEqualsTheOneThatLosesLessWorkGoes) {
  const auto since = [](int seconds) {
    TaskArgs pod = kWholeNode;
    pod.disruption.runs_since = ToMoment(Time(std::chrono::seconds(seconds)));
    return pod;
  };
  Runs("old", {"node0", "node1"}, {}, since(1000));
  Runs("young", {"node2", "node3"}, {}, since(5000));
  Waits("high", 2);
  Cycles cycles(cluster_.state, Evicting("gangpreempt"));
  cycles.SetNow(Time(std::chrono::seconds(9000)));
  EXPECT_THAT(cycles.Run().plans, ElementsAre("gangpreempt for high: gang young"));
}

TEST_F(EvictTest, WorkThatIsSavedIsNotLost) {
  TaskArgs pod = kWholeNode;
  pod.disruption.runs_since = ToMoment(Time(std::chrono::seconds(1000)));
  TaskArgs saved = pod;
  saved.disruption.saved_at = ToMoment(Time(std::chrono::seconds(8000)));
  Runs("a", {"node0", "node1"}, {}, pod);
  Runs("b", {"node2", "node3"}, {}, saved);
  Waits("high", 2);
  Cycles cycles(cluster_.state, Evicting("gangpreempt"));
  cycles.SetNow(Time(std::chrono::seconds(9000)));
  EXPECT_THAT(cycles.Run().plans, ElementsAre("gangpreempt for high: gang b"));
}

TEST_F(EvictTest, ARackWithIdleNodesIsCheaperToClear) {
  Runs("a", {"node0"});
  Runs("b", {"node1"});
  Runs("c", {"node2"}, {.priority = 2});
  Waits("high", 2, {.topology = Hard(1)});
  EXPECT_THAT(Run("gangpreempt").plans, ElementsAre("gangpreempt for high in s1: gang c"))
      << "one gang instead of two, though it is more important";
}

TEST_F(EvictTest, OnlyTheMinimumOfTheGangIsMadeRoomFor) {
  Runs("wide", {"node0", "node1", "node2", "node3"}, {.min_available = 0});
  Waits("high", 4, {.min_available = 1});
  EXPECT_THAT(Run("gangpreempt").evicted, ElementsAre("wide-w-3"));
}

TEST_F(EvictTest, ASoftGangStaysCloseThoughThatCostsMorePods) {
  // s0: one gang of two nodes with a pod elsewhere. s1 and s0 together: two lone pods.
  cluster_.Node("node4");
  Runs("three", {"node0", "node1", "node4"});
  Runs("surplus", {"node2"}, {.min_available = 0, .priority = 10});
  Runs("other", {"node3"}, {.priority = 10});
  Waits("high", 2, {.topology = Soft()});
  EXPECT_THAT(Run("gangpreempt").plans, ElementsAre("gangpreempt for high in s0: gang three"));
}

TEST_F(EvictTest, APodThatFiltersKeepOffTheNodesEvictsNobody) {
  Runs("a", {"node0", "node1", "node2", "node3"});
  JobArgs args{.priority = 10};
  args.task = kWholeNode;
  args.task.selector = {{"disk", "ssd"}};
  cluster_.Job("high", args);
  const Decisions decided = Run("gangpreempt");
  EXPECT_THAT(decided.evicted, IsEmpty());
  EXPECT_EQ(decided.Reason("high"), "NothingToEvict");
}

// ---- preempt

TEST_F(EvictTest, PreemptTakesSurplusButBreaksNoGang) {
  Runs("tight", {"node0", "node1"});
  Runs("wide", {"node2", "node3"}, {.min_available = 1});
  Waits("one", 1);
  EXPECT_THAT(Run("preempt").plans, ElementsAre("preempt for one: surplus wide x1"));
}

TEST_F(EvictTest, PreemptBreaksGangsWhereTheGangPluginDoesNotVote) {
  Runs("tight", {"node0", "node1", "node2", "node3"});
  Waits("one", 1);
  const Decisions refused = Run("preempt");
  EXPECT_THAT(refused.evicted, IsEmpty());
  EXPECT_THAT(refused.Message("one"),
              HasSubstr("preempt: it may evict nobody: 4 pods that their gangs need"));
  const SchedulerConfig config =
      WithSwitch(Evicting("preempt"), "gang", "enablePreemptable", false);
  Waits("two", 1);
  EXPECT_THAT(Run(config).plans, ElementsAre("preempt for one: gang tight"))
      << "and the second one has room then";
}

TEST_F(EvictTest, PreemptKeepsTopology) {
  Runs("wide", {"node0", "node1", "node2", "node3"}, {.min_available = 2});
  Waits("high", 2, {.topology = Hard(1)});
  EXPECT_THAT(Run("preempt").plans, ElementsAre("preempt for high in s0: surplus wide x2"));
}

TEST_F(EvictTest, NobodyEvictsWithoutAPluginThatGrantsIt) {
  Runs("wide", {"node0", "node1", "node2", "node3"}, {.min_available = 0});
  Waits("high", 1);
  EXPECT_THAT(Run(WithSwitch(Evicting("preempt"), "priority", "enablePreemptable", false)).evicted,
              IsEmpty());
}

// ---- protections

TEST_F(EvictTest, PodsAndPodGroupsThatAreNotPreemptableStay) {
  TaskArgs kept = kWholeNode;
  kept.disruption.preemptable = false;
  Runs("pod-says-no", {"node0", "node1"}, {}, kept);
  Runs("group-says-no", {"node2"}, {.preemptable = false});
  Runs("says-nothing", {"node3"});
  Waits("high", 2);
  const Decisions decided = Run("gangpreempt");
  EXPECT_THAT(decided.evicted, IsEmpty());
  Waits("low-need", 1);
  EXPECT_THAT(Run("gangpreempt").evicted, ElementsAre("says-nothing-w-0"));
}

TEST_F(EvictTest, AGangWithOnePodThatMustStayIsNotBroken) {
  TaskArgs kept = kWholeNode;
  kept.disruption.preemptable = false;
  Runs("mixed", {"node0", "node1"}, {.min_available = 3});
  cluster_.Running("mixed", {"node2"}, kept);
  Runs("equal", {"node3"}, {.priority = 10});
  Waits("high", 1);
  EXPECT_THAT(Run("gangpreempt").evicted, IsEmpty());
}

TEST_F(EvictTest, ConformanceProtectsSystemPods) {
  TaskArgs system = kWholeNode;
  system.disruption.critical = true;
  Runs("dns", {"node0", "node1", "node2", "node3"}, {.min_available = 0}, system);
  Waits("high", 1);
  const Decisions decided = Run("gangpreempt");
  EXPECT_THAT(decided.evicted, IsEmpty());
  EXPECT_THAT(decided.Message("high"), HasSubstr("it may evict nobody: 4 pods of the system"));
  EXPECT_THAT(Run(WithSwitch(Evicting("preempt"), "conformance", "enablePreemptable", false)).plans,
              ElementsAre("preempt for high: surplus dns x1"));
}

TEST_F(EvictTest, NobodyIsEvictedInItsFirstMinuteOrInItsCooldown) {
  TaskArgs fresh = kWholeNode;
  fresh.disruption.runs_since = ToMoment(Time(std::chrono::seconds(1000)));
  TaskArgs cooling = fresh;
  cooling.disruption.cooldown_seconds = 600;
  Runs("fresh", {"node0", "node1"}, {}, fresh);
  Runs("cooling", {"node2", "node3"}, {}, cooling);
  Waits("high", 2);
  Cycles cycles(cluster_.state, Evicting("gangpreempt"));
  cycles.SetNow(Time(std::chrono::seconds(1059)));
  const Decisions early = cycles.Run();
  EXPECT_THAT(early.evicted, IsEmpty());
  EXPECT_THAT(
      early.Message("high"),
      HasSubstr(
          "it may evict nobody: 2 pods in their cooldown, 2 pods of jobs in their first 60 s"));
  cycles.SetNow(Time(std::chrono::seconds(1060)));
  EXPECT_THAT(cycles.Run().plans, ElementsAre("gangpreempt for high: gang fresh"));
}

TEST_F(EvictTest, AJobWhosePodIsBeingBoundIsNotBroken) {
  Runs("moving", {"node0", "node1", "node2"}, {.min_available = 3});
  TaskArgs pod = kWholeNode;
  pod.status = TaskStatus::kBinding;
  pod.node = "node3";
  cluster_.Task("moving", pod);
  Waits("high", 1);
  EXPECT_THAT(Run("gangpreempt").evicted, IsEmpty())
      << "three have arrived, so none is surplus; the fourth could be left behind";
}

// ---- claimants

TEST_F(EvictTest, APodThatNeverPreemptsEvictsNobody) {
  Runs("wide", {"node0", "node1", "node2", "node3"}, {.min_available = 0});
  JobArgs args{.priority = 10};
  args.task = kWholeNode;
  args.task.disruption.never_preempts = true;
  cluster_.Job("gentle", args);
  const Decisions decided = Run("gangpreempt");
  EXPECT_THAT(decided.evicted, IsEmpty());
  EXPECT_EQ(decided.Reason("gentle"), "EvictionNotAllowed");
  EXPECT_THAT(decided.Message("gentle"),
              HasSubstr("; gangpreempt: pod gentle-w-0 has preemptionPolicy Never"));
}

TEST_F(EvictTest, NobodyGoesForAGangThatWaitsForWhatIsReleasedAlready) {
  Runs("wide", {"node0", "node1", "node2"}, {.min_available = 0});
  cluster_.Occupy("node3", kWholeNode, TaskStatus::kReleasing);
  Waits("high", 1);
  const Decisions decided = Run("gangpreempt");
  EXPECT_THAT(decided.evicted, IsEmpty());
  EXPECT_EQ(decided.Reason("high"), "WaitingForRelease");
}

TEST_F(EvictTest, AnActionBeforeAllocateEvictsNobodyForAGangThatHasRoom) {
  Runs("wide", {"node0", "node1", "node2"}, {.min_available = 0});
  Waits("high", 1);
  SchedulerConfig config = Evicting("gangpreempt");
  std::swap(config.actions[1], config.actions[2]);
  const Decisions decided = Run(config);
  EXPECT_THAT(decided.evicted, IsEmpty());
  EXPECT_THAT(decided.binds, SizeIs(1));
}

TEST_F(EvictTest, TwoClaimantsDoNotTakeTheSameRoom) {
  Runs("a", {"node0", "node1"});
  Runs("b", {"node2", "node3"});
  Waits("first", 2, {.priority = 20});
  Waits("second", 2, {.priority = 10});
  EXPECT_THAT(Run("gangpreempt").plans,
              ElementsAre("gangpreempt for first: gang a", "gangpreempt for second: gang b"));
}

TEST_F(EvictTest, AJobThatMayEvictEntersAFullQueue) {
  Runs("a", {"node0", "node1", "node2", "node3"});
  Resources needs;
  needs.Set(kCpu, testing::Cores(16));
  Waits("high", 2, {.min_resources = needs});
  EXPECT_EQ(Run(DefaultSchedulerConfig()).Reason("high"), "QueueQuotaExceeded");
  Waits("low", 2, {.priority = -1, .min_resources = needs});
  const Decisions decided = Run("gangpreempt");
  EXPECT_THAT(decided.plans, ElementsAre("gangpreempt for high: gang a"));
  EXPECT_EQ(decided.Reason("low"), "QueueQuotaExceeded") << "it could evict nobody";
}

TEST_F(EvictTest, ADryRunSaysWhatWouldGo) {
  Runs("a", {"node0", "node1", "node2", "node3"});
  Waits("high", 1, {.topology = Hard(1)});
  const Decisions decided = Run(Evicting("gangpreempt", {{"dryRun", true}}));
  EXPECT_THAT(decided.evicted, IsEmpty());
  EXPECT_THAT(decided.pipelined, IsEmpty());
  EXPECT_EQ(decided.Reason("high"), "EvictionDryRun");
  EXPECT_THAT(decided.Message("high"),
              HasSubstr("; gangpreempt: would evict 1 gang, 4 pods for HyperNode s0 (tier 1)"));
}

TEST_F(EvictTest, TheSearchSaysWhenItWasCut) {
  // By amounts two pods fit into each rack, but each keeps off the other's node.
  Runs("a", {"node0", "node1", "node2", "node3"}, {.min_available = 0});
  JobArgs args{.tasks = 2, .topology = Hard(1), .priority = 10};
  args.task = kWholeNode;
  args.task.labels = {{"app", "x"}};
  args.task.rules.anti_affinity = {testing::Pods("app", "x", "zone")};
  for (const char* node : {"node0", "node1", "node2", "node3"}) {
    cluster_.Node(node, {.labels = {{"zone", "z"}}});
  }
  cluster_.Job("high", args);
  const Decisions decided = Run(Evicting("gangpreempt", {{"maxDomains", std::int64_t{1}}}));
  EXPECT_THAT(decided.evicted, IsEmpty());
  EXPECT_EQ(decided.Reason("high"), "EvictionSearchCut");
}

// ---- reclaim

// 32 cores, of which queue `poor` deserves half and has nothing.
class ReclaimTest : public EvictTest {
 protected:
  void Queues(const QueueArgs& rich = {}) {
    QueueArgs poor;
    poor.cpu_deserved = 16;
    cluster_.Queue("poor", poor);
    QueueArgs deserving = rich;
    if (!deserving.cpu_deserved) deserving.cpu_deserved = 16;
    cluster_.Queue("rich", deserving);
  }
  Decisions RunCapacity(const std::string& action) { return Run(EvictingByCapacity(action)); }
};

TEST_F(ReclaimTest, Gr1TakesSurplusOfAQueueAboveWhatItDeserves) {
  Queues();
  Runs("wide", {"node0", "node1", "node2", "node3"}, {.min_available = 1, .queue = "rich"});
  Waits("claimant", 2, {.queue = "poor"});
  EXPECT_THAT(RunCapacity("gangreclaim").plans,
              ElementsAre("gangreclaim for claimant: surplus wide x2"));
}

TEST_F(ReclaimTest, PriorityDoesNotMatterBetweenQueues) {
  Queues();
  Runs("wide",
       {"node0", "node1", "node2", "node3"},
       {.min_available = 1, .queue = "rich", .priority = 100});
  Waits("claimant", 2, {.queue = "poor"});
  EXPECT_THAT(RunCapacity("reclaim").plans, ElementsAre("reclaim for claimant: surplus wide x2"));
}

TEST_F(ReclaimTest, WorksByWeightsToo) {
  cluster_.Queue("poor").Queue("rich");
  Runs("wide", {"node0", "node1", "node2", "node3"}, {.min_available = 1, .queue = "rich"});
  Waits("claimant", 2, {.queue = "poor"});
  EXPECT_THAT(Run("reclaim").plans, ElementsAre("reclaim for claimant: surplus wide x2"));
}

TEST_F(ReclaimTest, Gr3BreaksOneGangOfTheLowerPriority) {
  Queues();
  Runs("a", {"node0", "node1"}, {.queue = "rich", .priority = 5});
  Runs("b", {"node2", "node3"}, {.queue = "rich", .priority = 1});
  Waits("claimant", 2, {.queue = "poor"});
  EXPECT_THAT(RunCapacity("gangreclaim").plans, ElementsAre("gangreclaim for claimant: gang b"));
}

TEST_F(ReclaimTest, ReclaimBreaksNoGang) {
  Queues();
  Runs("a", {"node0", "node1", "node2", "node3"}, {.queue = "rich"});
  Waits("claimant", 2, {.queue = "poor"});
  EXPECT_THAT(RunCapacity("reclaim").evicted, IsEmpty());
}

TEST_F(ReclaimTest, ReclaimKeepsTopology) {
  Queues();
  Runs("wide", {"node0", "node1", "node2", "node3"}, {.min_available = 0, .queue = "rich"});
  Waits("claimant", 2, {.topology = Hard(1), .queue = "poor"});
  EXPECT_THAT(RunCapacity("reclaim").plans,
              ElementsAre("reclaim for claimant in s0: surplus wide x2"));
}

TEST_F(ReclaimTest, Gr4TakesNothingFromAQueueWithinWhatItDeserves) {
  Queues({.cpu_deserved = 32});
  Runs("a", {"node0", "node1", "node2", "node3"}, {.min_available = 0, .queue = "rich"});
  Waits("claimant", 1, {.queue = "poor"});
  const Decisions decided = RunCapacity("gangreclaim");
  EXPECT_THAT(decided.evicted, IsEmpty());
  EXPECT_THAT(decided.Message("claimant"),
              HasSubstr("it may evict nobody: 4 pods of queues within what they deserve"));
}

TEST_F(ReclaimTest, SurplusGoesDownToWhatTheQueueDeservesAndNotFurther) {
  Queues({.cpu_deserved = 20});
  Runs("wide", {"node0", "node1", "node2", "node3"}, {.min_available = 0, .queue = "rich"});
  Waits("claimant", 2, {.queue = "poor"});
  EXPECT_THAT(RunCapacity("reclaim").evicted, IsEmpty()) << "one pod leaves 24, a second one 16";
}

TEST_F(ReclaimTest, AJobWithoutAMinimumIsNotTakenForAGang) {
  Queues({.cpu_deserved = 28});
  Runs("loose", {"node0", "node1", "node2", "node3"}, {.min_available = 0, .queue = "rich"});
  Waits("claimant", 1, {.queue = "poor"});
  EXPECT_THAT(RunCapacity("gangreclaim").evicted, IsEmpty())
      << "one pod would take its queue below what it deserves, and all four even more";
}

TEST_F(ReclaimTest, Gr5TakesNothingFromAQueueThatIsNotReclaimable) {
  Queues({.reclaimable = false});
  Runs("a", {"node0", "node1", "node2", "node3"}, {.min_available = 0, .queue = "rich"});
  Waits("claimant", 1, {.queue = "poor"});
  const Decisions decided = RunCapacity("gangreclaim");
  EXPECT_THAT(decided.evicted, IsEmpty());
  EXPECT_THAT(decided.Message("claimant"), HasSubstr("4 pods of queues that are not reclaimable"));
}

TEST_F(ReclaimTest, Gr6TakesNoQueueBelowItsGuarantee) {
  Queues({.cpu_deserved = 24, .cpu_guarantee = 24});
  Runs("a", {"node0", "node1"}, {.queue = "rich"});
  Runs("b", {"node2", "node3"}, {.queue = "rich"});
  Waits("claimant", 1, {.queue = "poor"});
  EXPECT_THAT(RunCapacity("gangreclaim").evicted, IsEmpty());
}

TEST_F(ReclaimTest, AGangMayTakeItsQueueBelowWhatItDeserves) {
  Queues({.cpu_deserved = 24});
  Runs("a", {"node0", "node1"}, {.queue = "rich"});
  Runs("b", {"node2", "node3"}, {.queue = "rich"});
  Waits("claimant", 1, {.queue = "poor"});
  EXPECT_THAT(RunCapacity("gangreclaim").plans, ElementsAre("gangreclaim for claimant: gang a"));
}

TEST_F(ReclaimTest, Gr7AQueueReclaimsNoMoreThanItDeserves) {
  Queues({.cpu_deserved = 8});
  Runs("own", {"node0"}, {.queue = "poor"});
  Runs("wide", {"node1", "node2", "node3"}, {.min_available = 0, .queue = "rich"});
  Waits("claimant", 2, {.queue = "poor"});
  const Decisions decided = RunCapacity("gangreclaim");
  EXPECT_THAT(decided.evicted, IsEmpty());
  EXPECT_EQ(decided.Reason("claimant"), "EvictionNotAllowed");
  EXPECT_THAT(decided.Message("claimant"),
              HasSubstr("; gangreclaim: queue poor may not reclaim 16 cpu: 8 in use, it deserves "
                        "16"));
}

TEST_F(ReclaimTest, WhatWasReclaimedIsNotReclaimedBack) {
  Queues();
  Runs("wide", {"node0", "node1", "node2", "node3"}, {.min_available = 0, .queue = "rich"});
  Waits("claimant", 2, {.queue = "poor"});
  Cycles cycles(cluster_.state, EvictingByCapacity("gangreclaim"));
  EXPECT_THAT(cycles.Run().evicted, SizeIs(2));
  Advance(cluster_.state);
  EXPECT_THAT(cycles.Run().binds, SizeIs(2));
  Advance(cluster_.state);
  Waits("again", 2, {.queue = "rich"});  // the victims come back
  EXPECT_THAT(cycles.Run().evicted, IsEmpty());
}

// ---- what a plan leaves

TEST_F(EvictTest, TheTraceNamesEachPodThatGoesAndNothingThatWasOnlyTried) {
  Runs("a", {"node0", "node1"});
  Runs("b", {"node2", "node3"});
  Waits("high", 2, {.topology = Hard(1)});
  testing::TraceLog trace;
  const SchedulerConfig config = Evicting("gangpreempt");
  Cycles(cluster_.state, config).Run(&trace);
  std::vector<std::string> evicted;
  for (const StepRecord& step : trace.Of<StepRecord>()) {
    if (step.kind == StepRecord::Kind::kEvict) evicted.push_back(step.job + " " + step.pod);
  }
  EXPECT_THAT(evicted, ElementsAre("a a-w-1", "a a-w-0"));
}

TEST_F(EvictTest, EvictedPodsAreBeingReleased) {
  Runs("a", {"node0", "node1", "node2", "node3"});
  Waits("high", 1);
  Run("gangpreempt");
  EXPECT_EQ(cluster_.JobNamed("a").counts.Of(TaskStatus::kReleasing), 4);
  EXPECT_EQ(cluster_.JobNamed("high").counts.Of(TaskStatus::kPending), 1);
}

}  // namespace
}  // namespace strata
