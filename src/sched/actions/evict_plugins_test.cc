// What drf, pdb, cdp and the hierarchy of capacity say about victims.
#include <chrono>
#include <optional>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sched/actions/test_eviction.h"
#include "tests/support/cluster_builder.h"
#include "tests/support/cycle.h"

namespace strata {
namespace {

using testing::Cycles;
using testing::Decisions;
using ::testing::ElementsAre;
using testing::Evicting;
using testing::EvictingByCapacity;
using testing::EvictTest;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::kWholeNode;
using ::testing::Not;
using testing::QueueArgs;
using ::testing::SizeIs;
using testing::TaskArgs;
using testing::WithSwitch;

// The configuration with one more plugin in the last tier.
SchedulerConfig WithPlugin(SchedulerConfig config, const std::string& name) {
  PluginConfig plugin;
  plugin.name = name;
  config.tiers.back().push_back(std::move(plugin));
  return config;
}

// ---- drf

TEST_F(EvictTest, DrfTakesFromAJobOfEqualPriorityThatHasMore) {
  Runs("rich", {"node0", "node1", "node2"}, {.min_available = 0, .priority = 10});
  Runs("other", {"node3"}, {.priority = 10});
  Waits("poor", 1);
  EXPECT_THAT(Run("gangpreempt").plans, IsEmpty());
  EXPECT_THAT(Run(WithPlugin(Evicting("gangpreempt"), "drf")).plans,
              ElementsAre("gangpreempt for poor: surplus rich x1"));
}

TEST_F(EvictTest, DrfLeavesTheVictimMoreThanTheClaimantHas) {
  Runs("rich", {"node0", "node1"}, {.min_available = 0, .priority = 10});
  Runs("other", {"node2", "node3"}, {.min_available = 0, .priority = 10});
  Waits("poor", 1);
  EXPECT_THAT(Run(WithPlugin(Evicting("preempt"), "drf")).plans, IsEmpty())
      << "both would have one node: the victim could take it back";
}

TEST_F(EvictTest, DrfMeasuresTheWholePlan) {
  Runs("rich", {"node0", "node1", "node2", "node3"}, {.min_available = 0, .priority = 10});
  Waits("poor", 2);
  EXPECT_THAT(Run(WithPlugin(Evicting("preempt"), "drf")).plans, IsEmpty())
      << "one node alone could be taken, but two are needed";
}

TEST_F(EvictTest, DrfTakesNothingFromHigherPriority) {
  Runs("rich", {"node0", "node1", "node2", "node3"}, {.min_available = 0, .priority = 11});
  Waits("poor", 1);
  EXPECT_THAT(Run(WithPlugin(Evicting("preempt"), "drf")).plans, IsEmpty());
}

TEST_F(EvictTest, DrfCanBeSwitchedOff) {
  Runs("rich", {"node0", "node1", "node2", "node3"}, {.min_available = 0, .priority = 10});
  Waits("poor", 1);
  const SchedulerConfig config = WithPlugin(Evicting("gangpreempt"), "drf");
  EXPECT_THAT(Run(config).plans, SizeIs(1));
  EXPECT_THAT(Run(WithSwitch(config, "drf", "enablePreemptable", false)).plans, IsEmpty());
}

TEST_F(EvictTest, HierarchicalDrfReclaimsForTheBranchThatHasLess) {
  cluster_.Queue("poor").Queue("rich");
  Runs("wide", {"node0", "node1", "node2", "node3"}, {.min_available = 1, .queue = "rich"});
  Waits("claimant", 1, {.queue = "poor"});
  SchedulerConfig config = WithPlugin(Evicting("reclaim"), "drf");
  for (auto& tier : config.tiers) {
    std::erase_if(tier, [](const PluginConfig& one) { return one.name == "proportion"; });
  }
  EXPECT_THAT(Run(config).plans, IsEmpty()) << "without a hierarchy drf says nothing about queues";
  EXPECT_THAT(Run(WithSwitch(config, "drf", "enableHierarchy", true)).plans,
              ElementsAre("reclaim for claimant: surplus wide x1"));
}

TEST_F(EvictTest, HierarchicalDrfMeasuresWhatTheClaimantGets) {
  cluster_.Queue("poor").Queue("rich");
  Runs("wide", {"node0", "node1", "node2", "node3"}, {.min_available = 1, .queue = "rich"});
  Waits("claimant", 3, {.queue = "poor"});
  SchedulerConfig config =
      WithSwitch(WithPlugin(Evicting("reclaim"), "drf"), "drf", "enableHierarchy", true);
  for (auto& tier : config.tiers) {
    std::erase_if(tier, [](const PluginConfig& one) { return one.name == "proportion"; });
  }
  EXPECT_THAT(Run(config).plans, IsEmpty()) << "its queue would have three of four nodes";
}

// ---- cdp

TEST_F(EvictTest, CdpProtectsAPodThatCameLaterThanItsJob) {
  TaskArgs old = kWholeNode;
  old.disruption.runs_since = ToMoment(Time(std::chrono::seconds(1000)));
  TaskArgs young = old;
  young.disruption.runs_since = ToMoment(Time(std::chrono::seconds(8900)));
  young.disruption.cooldown_seconds = 600;
  Runs("wide", {"node0", "node1", "node2"}, {.min_available = 0, .priority = 20}, old);
  TaskArgs kept = old;
  kept.cpu = 0;
  kept.disruption.preemptable = false;
  Runs("mixed", {"node3"}, {.min_available = 0}, kept);
  cluster_.Running("mixed", {"node3"}, young);
  Waits("high", 1);
  Cycles cycles(cluster_.state, WithPlugin(Evicting("preempt"), "cdp"));
  cycles.SetNow(Time(std::chrono::seconds(9000)));
  const Decisions decided = cycles.Run();
  EXPECT_THAT(decided.evicted, IsEmpty());
  EXPECT_THAT(decided.Message("high"), HasSubstr("1 pod in their cooldown"));
  Cycles without(cluster_.state, Evicting("preempt"));
  without.SetNow(Time(std::chrono::seconds(9000)));
  EXPECT_THAT(without.Run().plans, ElementsAre("preempt for high: surplus mixed x1"));
}

// ---- pdb

class BudgetTest : public EvictTest {
 protected:
  // A budget for all pods of the namespace.
  void Budget(std::optional<std::int32_t> allowed,
              std::optional<BudgetSpec::Amount> min_available = {}) {
    BudgetSpec spec;
    spec.name = "ns/budget";
    spec.selector = LabelSelector{};
    spec.allowed = allowed;
    spec.min_available = min_available;
    cluster_.state.budgets().Upsert(std::move(spec));
  }
  TaskArgs Selected() {
    TaskArgs pod = kWholeNode;
    pod.disruption.budgets = cluster_.state.budgets().GroupOf("ns", {});
    return pod;
  }
  static Resources Cpus(Amount cores) {
    Resources cpus;
    cpus.Set(kCpu, testing::Cores(cores));
    return cpus;
  }
  static SchedulerConfig WithPdb(const std::string& action) {
    return WithPlugin(Evicting(action), "pdb");
  }
};

TEST_F(BudgetTest, TakesNoMoreThanTheBudgetAllows) {
  Budget(1);
  Runs("wide", {"node0", "node1", "node2", "node3"}, {.min_available = 0}, Selected());
  Waits("high", 2);
  EXPECT_THAT(Run(WithPdb("preempt")).evicted, IsEmpty());
  EXPECT_THAT(Run("preempt").evicted, SizeIs(2)) << "without the plugin nobody asks the budget";
}

TEST_F(BudgetTest, TakesPodsThatNoBudgetSelects) {
  Budget(0);
  Runs("kept", {"node0", "node1", "node2"}, {.min_available = 0}, Selected());
  Runs("free", {"node3"}, {.min_available = 0, .priority = 5});
  Waits("high", 1);
  EXPECT_THAT(Run(WithPdb("preempt")).plans, ElementsAre("preempt for high: surplus free x1"));
}

TEST_F(BudgetTest, SaysThatABudgetIsInTheWay) {
  Budget(0);
  Runs("kept", {"node0", "node1", "node2", "node3"}, {.min_available = 0}, Selected());
  Waits("high", 1);
  EXPECT_THAT(Run(WithPdb("gangpreempt")).Message("high"),
              HasSubstr("it may evict nobody: 4 pods that a disruption budget protects"));
}

TEST_F(BudgetTest, AJobOutsideAFullQueueIsToldWhichPodsABudgetProtects) {
  Budget(0);
  Runs("kept", {"node0", "node1", "node2", "node3"}, {.min_resources = Cpus(32)}, Selected());
  Waits("high", 1, {.min_resources = Cpus(8)});
  const Decisions decided = Run(WithPdb("gangpreempt"));
  EXPECT_EQ(decided.Reason("high"), "ClusterFull");
  EXPECT_THAT(decided.Message("high"),
              HasSubstr("; gangpreempt: it may evict nobody: 4 pods that a disruption budget "
                        "protects"));
}

TEST_F(BudgetTest, AJobOutsideAFullQueueIsToldNothingOfPodsThatNoRuleProtects) {
  Runs("equal", {"node0", "node1", "node2", "node3"}, {.priority = 10, .min_resources = Cpus(32)});
  Waits("high", 1, {.min_resources = Cpus(8)});
  const Decisions decided = Run(WithPdb("gangpreempt"));
  EXPECT_EQ(decided.Reason("high"), "ClusterFull");
  EXPECT_THAT(decided.Message("high"), Not(HasSubstr("evict")));
}

TEST_F(BudgetTest, AGangGoesAsAWholeOrNotAtAll) {
  Budget(1);
  Runs("gang", {"node0", "node1"}, {}, Selected());
  Runs("single", {"node2"}, {.priority = 5}, Selected());
  Runs("equal", {"node3"}, {.priority = 10});
  Waits("high", 1);
  EXPECT_THAT(Run(WithPdb("gangpreempt")).plans, ElementsAre("gangpreempt for high: gang single"));
}

TEST_F(BudgetTest, OneBudgetServesAllPlansOfACycle) {
  Budget(1);
  Runs("wide", {"node0", "node1", "node2", "node3"}, {.min_available = 0}, Selected());
  Waits("first", 1, {.priority = 20});
  Waits("second", 1);
  EXPECT_THAT(Run(WithPdb("preempt")).plans, ElementsAre("preempt for first: surplus wide x1"));
}

TEST_F(BudgetTest, APlanCountsUntilTheStatusHasCaughtUp) {
  Budget(1);
  Runs("wide", {"node0", "node1", "node2", "node3"}, {.min_available = 0}, Selected());
  Waits("first", 1);
  Cycles cycles(cluster_.state, WithPdb("preempt"));
  EXPECT_THAT(cycles.Run().evicted, SizeIs(1));
  testing::Advance(cluster_.state);
  cycles.Run();
  testing::Advance(cluster_.state);
  Waits("second", 1);
  EXPECT_THAT(cycles.Run().evicted, IsEmpty()) << "the status is the one of before";
  Budget(2);
  EXPECT_THAT(cycles.Run().evicted, SizeIs(1));
}

TEST_F(BudgetTest, ABudgetThatAllowsMoreWakesWhoWaitedForIt) {
  Budget(0);
  Runs("wide", {"node0", "node1", "node2", "node3"}, {.min_available = 0}, Selected());
  Waits("high", 1);
  Cycles cycles(cluster_.state, WithPdb("preempt"));
  cycles.LimitWork(1000);
  for (int i = 0; i < 3; ++i) EXPECT_THAT(cycles.Run().evicted, IsEmpty());
  Budget(1);
  EXPECT_THAT(cycles.Run().evicted, SizeIs(1));
}

TEST_F(BudgetTest, WithoutAStatusItIsCountedFromThePods) {
  Budget(std::nullopt, BudgetSpec::Amount{.number = 3});
  Runs("wide", {"node0", "node1", "node2", "node3"}, {.min_available = 0}, Selected());
  Waits("first", 1, {.priority = 20});
  Waits("second", 1);
  EXPECT_THAT(Run(WithPdb("preempt")).plans, ElementsAre("preempt for first: surplus wide x1"))
      << "three of four have to run";
}

TEST_F(BudgetTest, PlansSayWhichPodsABudgetSelects) {
  Budget(1);
  Runs("kept", {"node0"}, {.min_available = 0}, Selected());
  Runs("free", {"node1", "node2", "node3"}, {.min_available = 0, .priority = 10});
  Waits("high", 1);
  auto made = Scheduler::Make(WithPdb("preempt"), cluster_.state);
  made->scheduler->Open(Time{}, nullptr);
  made->scheduler->RunActions();
  const CycleResult result = made->scheduler->Close();
  ASSERT_THAT(result.evictions, SizeIs(1));
  EXPECT_TRUE(result.evictions[0].victims[0].has_budget);
}

// ---- capacity: ancestorReclaimLevel

class BranchTest : public EvictTest {
 protected:
  // Branches a and b deserve half each; a1 and a2 are below a, b1 below b.
  void Branches(std::int64_t a1_deserves, std::int64_t b_deserves) {
    Add("root", "", 32);
    Add("a", "root", 16);
    Add("b", "root", b_deserves);
    Add("a1", "a", a1_deserves);
    Add("a2", "a", 16 - a1_deserves);
    Add("b1", "b", 8);
  }
  void Add(const std::string& name, const std::string& parent, std::int64_t deserved) {
    QueueArgs args;
    args.cpu_deserved = deserved;
    args.parent = parent;
    cluster_.Queue(name, args);
  }
  static SchedulerConfig Config(const std::string& action, std::int64_t level) {
    SchedulerConfig config =
        WithSwitch(EvictingByCapacity(action), "capacity", "enableHierarchy", true);
    for (auto& tier : config.tiers) {
      for (PluginConfig& plugin : tier) {
        if (plugin.name == "capacity") plugin.arguments.Set("ancestorReclaimLevel", level);
      }
    }
    return config;
  }
};

TEST_F(BranchTest, ByDefaultAQueueCountsAlone) {
  Branches(16, 32);
  Runs("wide", {"node0", "node1", "node2", "node3"}, {.min_available = 0, .queue = "b1"});
  Waits("claimant", 1, {.queue = "a1"});
  EXPECT_THAT(Run(Config("gangreclaim", 0)).evicted, SizeIs(1)) << "b1 has too much";
}

TEST_F(BranchTest, ABranchWithinWhatItDeservesLosesNothing) {
  Branches(16, 32);
  Runs("wide", {"node0", "node1", "node2", "node3"}, {.min_available = 0, .queue = "b1"});
  Waits("claimant", 1, {.queue = "a1"});
  for (const char* action : {"reclaim", "gangreclaim"}) {
    EXPECT_THAT(Run(Config(action, 1)).evicted, IsEmpty()) << action << ": b has what it deserves";
  }
}

TEST_F(BranchTest, ABranchReclaimsForAQueueThatDeservesNothingItself) {
  Branches(0, 16);
  Runs("wide", {"node0", "node1", "node2", "node3"}, {.min_available = 0, .queue = "b1"});
  Waits("claimant", 1, {.queue = "a1"});
  EXPECT_THAT(Run(Config("reclaim", 0)).evicted, IsEmpty());
  EXPECT_THAT(Run(Config("reclaim", 1)).evicted, SizeIs(1));
}

TEST_F(BranchTest, ABranchTakesNothingFromItselfByWhatItDeserves) {
  Branches(0, 16);
  Runs("own", {"node0", "node1", "node2", "node3"}, {.min_available = 0, .queue = "a2"});
  Waits("claimant", 1, {.queue = "a1"});
  EXPECT_THAT(Run(Config("reclaim", 1)).evicted, IsEmpty());
}

}  // namespace
}  // namespace strata
