#include "sched/scheduler.h"

#include <string>

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
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::kWholeNode;
using ::testing::Pair;
using testing::RunCycle;
using ::testing::SizeIs;
using testing::TraceLog;

// ---- configuration

SchedulerConfig WithPlugin(const std::string& name) {
  SchedulerConfig config = DefaultSchedulerConfig();
  config.tiers[0].push_back(PluginConfig{.name = name, .switches = {}, .arguments = {}});
  return config;
}

TEST(SchedulerMake, RefusesAnUnknownPluginAndListsTheKnownOnes) {
  ClusterState state;
  const auto made = Scheduler::Make(WithPlugin("gagn"), state);
  ASSERT_FALSE(made.has_value());
  EXPECT_THAT(made.error().message, HasSubstr("gagn"));
  EXPECT_THAT(made.error().message, HasSubstr("network-topology-aware"));
}

TEST(SchedulerMake, WarnsOfAnUnsupportedVolcanoPlugin) {
  ClusterState state;
  const auto made = Scheduler::Make(WithPlugin("tdm"), state);
  ASSERT_TRUE(made.has_value());
  EXPECT_THAT(made->warnings, ElementsAre(HasSubstr("tdm")));
}

TEST(SchedulerMake, WarnsOfAnActionForWhichNoPluginDecidesWhoMayBeEvicted) {
  ClusterState state;
  SchedulerConfig config = DefaultSchedulerConfig();
  config.actions.push_back({.name = "preempt", .arguments = {}});
  config.actions.push_back({.name = "reclaim", .arguments = {}});
  EXPECT_THAT(Scheduler::Make(config, state)->warnings, IsEmpty());
  for (auto& tier : config.tiers) {
    std::erase_if(tier, [](const PluginConfig& plugin) { return plugin.name == "proportion"; });
  }
  EXPECT_THAT(Scheduler::Make(config, state)->warnings,
              ElementsAre(HasSubstr("reclaim: evicts no pods")));
}

TEST(SchedulerMake, DependsOnTimeWhenAPluginDoes) {
  ClusterState state;
  const auto depends = [&](const SchedulerConfig& config) {
    return Scheduler::Make(config, state).value().scheduler->DependsOnTime();
  };
  EXPECT_TRUE(depends(WithPlugin("sla")));
  EXPECT_FALSE(depends(DefaultSchedulerConfig()));
}

TEST(SchedulerMake, RefusesAnUnknownActionAndListsTheKnownOnes) {
  ClusterState state;
  SchedulerConfig config = DefaultSchedulerConfig();
  config.actions.push_back({.name = "alocate", .arguments = {}});
  const auto made = Scheduler::Make(config, state);
  ASSERT_FALSE(made.has_value());
  EXPECT_THAT(made.error().message, HasSubstr("allocate, backfill, enqueue"));
}

TEST(SchedulerMake, NamesTheArgumentThatHasTheWrongType) {
  ClusterState state;
  SchedulerConfig config = DefaultSchedulerConfig();
  for (PluginConfig& plugin : config.tiers[1]) {
    if (plugin.name == "binpack") plugin.arguments.Set("binpack.cpu", "many");
  }
  const auto made = Scheduler::Make(config, state);
  ASSERT_FALSE(made.has_value());
  EXPECT_THAT(made.error().message, HasSubstr("binpack.cpu"));
}

// ---- cycles

TEST(Scheduler, BindsAJobAndCallsItRunningOnceItsPodsRun) {
  ClusterBuilder cluster;
  cluster.Node("node0").Job("j", {.tasks = 1});
  Cycles cycles(cluster.state);
  EXPECT_THAT(cycles.Run().binds, ElementsAre(Pair("j-w-0", "node0")));
  EXPECT_EQ(cluster.JobNamed("j").phase, JobPhase::kInqueue);
  Advance(cluster.state);
  EXPECT_THAT(cycles.Run().binds, IsEmpty());
  EXPECT_EQ(cluster.JobNamed("j").phase, JobPhase::kRunning);
}

TEST(Scheduler, ServesTheHigherPriorityFirst) {
  ClusterBuilder cluster;
  cluster.Node("node0").Job("a", {.tasks = 1, .task = kWholeNode, .priority = 1});
  cluster.Job("b", {.tasks = 1, .task = kWholeNode, .priority = 2});
  EXPECT_THAT(RunCycle(cluster.state).binds, ElementsAre(Pair("b-w-0", "node0")));
}

TEST(Scheduler, ServesAGangThatWaitsBeforePodsBeyondAMinimum) {
  //   "a" is ready with one pod; its second comes after the gang "b"
  ClusterBuilder cluster;
  cluster.Nodes(2);
  cluster.Job("a", {.tasks = 2, .task = kWholeNode, .min_available = 1});
  cluster.Job("b", {.tasks = 1, .task = kWholeNode});
  const Decisions decisions = RunCycle(cluster.state);
  EXPECT_THAT(decisions.NodesOf("a"), SizeIs(1));
  EXPECT_THAT(decisions.NodesOf("b"), SizeIs(1));
}

TEST(Scheduler, DividesTheClusterBetweenQueuesByWeight) {
  ClusterBuilder cluster;
  cluster.Queue("one", {.weight = 1}).Queue("three", {.weight = 3}).Nodes(4);
  for (const char* queue : {"one", "three"}) {
    cluster.Job(std::string("of-") + queue,
                {.tasks = 4, .task = kWholeNode, .min_available = 1, .queue = queue});
  }
  const Decisions decisions = RunCycle(cluster.state);
  EXPECT_THAT(decisions.NodesOf("of-one"), SizeIs(1));
  EXPECT_THAT(decisions.NodesOf("of-three"), SizeIs(3));
}

TEST(Scheduler, APodThatNoNodeCanHoldTakesNoShareOfTheCluster) {
  //   one of 9 cores waits in queue "a"; the gang in "b" needs all 8 that there are
  ClusterBuilder cluster;
  cluster.Node("node0", {.cpu = 8}).Queue("a").Queue("b");
  cluster.Job("large", {.tasks = 1, .task = {.cpu = 9}, .queue = "a"});
  cluster.Job("gang", {.tasks = 8, .task = {.cpu = 1}, .queue = "b"});
  const Decisions decisions = RunCycle(cluster.state);
  EXPECT_THAT(decisions.binds, SizeIs(8));
  EXPECT_EQ(decisions.Message("large"),
            "1/1 tasks in gang unschedulable: the gang is larger than the whole cluster: 9 cpu "
            "requested, 8 in the cluster");
}

TEST(Scheduler, PodsThatNoNodeCanHoldGetTheirVerdictHoweverLargeTheyAre) {
  //   2^62 bytes each: three of them exceed 64 bits
  ClusterBuilder cluster;
  cluster.Node("node0", {.memory = 32});
  cluster.Job("huge", {.tasks = 3, .task = {.memory = Amount{1} << 32U}});
  cluster.Job("small", {.tasks = 1});
  const Decisions decisions = RunCycle(cluster.state);
  EXPECT_THAT(decisions.binds, ElementsAre(Pair("small-w-0", "node0")));
  EXPECT_EQ(decisions.Message("huge"),
            "3/3 tasks in gang unschedulable: the gang is larger than the whole cluster: 8Ei "
            "requested, 32Gi in the cluster");
}

TEST(Scheduler, SeesWhatHappenedBetweenTwoCycles) {
  //   the cycle keeps what it learnt of nodes; a node that grows, comes or goes must be seen
  ClusterBuilder cluster;
  cluster.Node("node0", {.cpu = 1}).Job("j", {.tasks = 2, .task = kWholeNode, .min_available = 1});
  Cycles cycles(cluster.state);
  EXPECT_THAT(cycles.Run().binds, IsEmpty());
  cluster.Node("node0", {.cpu = 8});
  EXPECT_THAT(cycles.Run().binds, ElementsAre(Pair("j-w-0", "node0")));
  cluster.state.RemoveNode(cluster.FindNode("node0"));
  cluster.Node("node1", {.cpu = 16});  // takes the slot of node0
  EXPECT_THAT(cycles.Run().binds, ElementsAre(Pair("j-w-1", "node1")));
}

TEST(Scheduler, TellsAListenerEveryStepOfATransaction) {
  ClusterBuilder cluster;
  cluster.Node("node0").Job("j", {.tasks = 2, .task = {.cpu = 2}});
  TraceLog trace;
  RunCycle(cluster.state, DefaultSchedulerConfig(), &trace);
  std::vector<StepRecord::Kind> kinds;
  for (const StepRecord& step : trace.Of<StepRecord>()) kinds.push_back(step.kind);
  EXPECT_THAT(
      kinds,
      ElementsAre(
          StepRecord::Kind::kAllocate, StepRecord::Kind::kAllocate, StepRecord::Kind::kCommit));
}

TEST(Scheduler, WithoutTheEnqueueActionJobsEnterByThemselves) {
  ClusterBuilder cluster;
  cluster.Node("node0").Job("j", {.tasks = 1});
  SchedulerConfig config = DefaultSchedulerConfig();
  std::erase_if(config.actions,
                [](const ActionConfig& action) { return action.name == "enqueue"; });
  EXPECT_THAT(RunCycle(cluster.state, config).binds, SizeIs(1));
}

TEST(Scheduler, AJobWithMinResourcesBeyondItsQueueIsNotAdmitted) {
  ClusterBuilder cluster;
  Resources least;
  least.Set(kCpu, testing::Cores(5));
  cluster.Node("node0").Queue("small", {.cpu_capability = 4});
  cluster.Job("j", {.tasks = 1, .queue = "small", .min_resources = least});
  const Decisions decisions = RunCycle(cluster.state);
  EXPECT_EQ(decisions.Reason("j"), "GangLargerThanQueue");
  EXPECT_EQ(cluster.JobNamed("j").phase, JobPhase::kPending);
}

TEST(Scheduler, AGangLargerThanTheClusterIsNotBlamedOnItsQueue) {
  ClusterBuilder cluster;
  Resources least;
  least.Set(kCpu, testing::Cores(99));
  cluster.Node("node0", {.cpu = 8}).Job("at-the-door", {.tasks = 1, .min_resources = least});
  cluster.Job("inside", {.tasks = 9});
  const Decisions decisions = RunCycle(cluster.state);
  EXPECT_EQ(decisions.Reason("at-the-door"), "GangLargerThanCluster");
  EXPECT_EQ(decisions.Message("at-the-door"),
            "the gang is larger than the whole cluster: 99 cpu requested, 8 in the cluster");
  EXPECT_EQ(decisions.Message("inside"),
            "9/9 tasks in gang unschedulable: the gang is larger than the whole cluster: 9 cpu "
            "requested, 8 in the cluster");
}

TEST(Scheduler, ForgetsTheClassesOfPodsThatAreGone) {
  // Every job has labels of its own, so that its pods are a class of their own.
  ClusterBuilder cluster;
  cluster.Nodes(2).Job("stays", {.task = {.labels = {{"job", "stays"}}}});
  Cycles cycles(cluster.state);
  for (int i = 0; i < 1000; ++i) {
    const std::string name = "job" + std::to_string(i);
    cluster.Job(name, {.task = {.labels = {{"job", name}}}});
    ASSERT_TRUE(cycles.Run().binds.contains(name + "-w-0"));
    cluster.state.workload().RemoveJob(cluster.FindJob(name));
  }
  EXPECT_LT(cluster.state.classes().count(), 300U);
  const ClassId class_id = cluster.state.workload().task(cluster.FindTask("stays-w-0")).class_id;
  EXPECT_EQ(cluster.state.classes().spec(class_id).identity.labels.at("job"), "stays");
}

}  // namespace
}  // namespace strata
