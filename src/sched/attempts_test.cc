#include "sched/attempts.h"

#include <functional>
#include <limits>
#include <set>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/cluster_builder.h"
#include "tests/support/cycle.h"

namespace strata {
namespace {

using testing::Advance;
using testing::BestEffort;
using testing::ClusterBuilder;
using testing::Cores;
using testing::Cycles;
using testing::Decisions;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::kWholeNode;
using testing::NodeArgs;
using testing::Pods;
using testing::TaskArgs;
using testing::TraceLog;

// The jobs that a search was made for.
std::set<std::string> JobsTriedBy(const TraceLog& trace) {
  std::set<std::string> jobs;
  for (const TraceRecord& record : trace.records()) {
    std::visit(
        [&](const auto& one) {
          if constexpr (!std::is_same_v<std::decay_t<decltype(one)>, StepRecord>) {
            jobs.insert(one.job);
          } else if (!one.job.empty()) {
            jobs.insert(one.job);
          }
        },
        record);
  }
  return jobs;
}

// Two full nodes of 8 cores, and cycles whose budget is never used up.
class AttemptsTest : public ::testing::Test {
 protected:
  AttemptsTest() {
    cluster_.Nodes(2, {.labels = {{"zone", "a"}}});
    cluster_.Occupy("node0", kWholeNode).Occupy("node1", kWholeNode);
  }

  Decisions Run() {
    Advance(cluster_.state);
    if (!cycles_) {
      cycles_.emplace(cluster_.state, config_);
      cycles_->LimitWork(std::numeric_limits<std::uint64_t>::max());
    }
    TraceLog trace;
    const Decisions decisions = cycles_->Run(&trace);
    tried_ = JobsTriedBy(trace);
    return decisions;
  }
  // Cycles until nothing is tried any more.
  Decisions RunToRest() {
    Decisions decisions = Run();
    for (int i = 0; i < 5 && !tried_.empty(); ++i) decisions = Run();
    EXPECT_THAT(tried_, IsEmpty());
    return decisions;
  }
  void RemovePodOn(const std::string& node) {
    const auto tasks = cluster_.state.nodes().TasksOn(cluster_.FindNode(node));
    ASSERT_FALSE(tasks.empty());
    cluster_.state.workload().RemoveTask(tasks.front());
  }
  void ChangeJob(const std::string& name, const std::function<void(JobSpec&)>& change) {
    JobSpec spec = cluster_.JobNamed(name).spec;
    spec.phase = cluster_.JobNamed(name).phase;
    change(spec);
    cluster_.state.workload().UpsertJob(std::move(spec));
  }

  ClusterBuilder cluster_;
  SchedulerConfig config_ = DefaultSchedulerConfig();
  std::optional<Cycles> cycles_;
  std::set<std::string> tried_;  // by the last cycle
};

TEST_F(AttemptsTest, AJobThatFoundNoPlaceIsTriedOnceAndKeepsItsVerdict) {
  cluster_.Job("gang", {.tasks = 2});
  const Decisions first = Run();
  EXPECT_THAT(tried_, ElementsAre("gang"));
  EXPECT_EQ(first.Reason("gang"), "NotEnoughResources");
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(Run(), first);
    EXPECT_THAT(tried_, IsEmpty());
  }
}

TEST_F(AttemptsTest, WithoutABudgetEveryCycleTriesEveryJob) {
  cluster_.Job("gang", {.tasks = 2});
  Cycles cycles(cluster_.state);
  for (int i = 0; i < 3; ++i) {
    TraceLog trace;
    cycles.Run(&trace);
    EXPECT_THAT(JobsTriedBy(trace), ElementsAre("gang"));
  }
}

// ---- what comes from outside

TEST_F(AttemptsTest, APodThatIsGoneWakesTheJobsThatHaveRoomOnItsNode) {
  cluster_.Job("large", {.task = {.cpu = 9}}).Job("small", {.task = {.cpu = 2}});
  RunToRest();
  RemovePodOn("node1");
  cluster_.Occupy("node1", {.cpu = 7});
  cluster_.Job("tiny", {.task = {.cpu = 1}});
  EXPECT_THAT(Run().NodesOf("tiny"), ElementsAre("node1"));
  EXPECT_EQ(tried_.count("small"), 0U);
  RemovePodOn("node1");
  EXPECT_THAT(Run().NodesOf("small"), ElementsAre("node1"));
  EXPECT_EQ(tried_.count("large"), 0U);
}

TEST_F(AttemptsTest, APodThatBeginsToTerminateWakesAJob) {
  cluster_.Job("gang", {});
  RunToRest();
  const TaskId pod = cluster_.state.nodes().TasksOn(cluster_.FindNode("node0")).front();
  cluster_.state.workload().SetTaskStatus(pod, TaskStatus::kReleasing);
  TraceLog trace;
  EXPECT_EQ(cycles_->Run(&trace).pipelined.count("gang-w-0"), 1U);
}

TEST_F(AttemptsTest, ANewNodeWakesAJob) {
  cluster_.Job("gang", {});
  RunToRest();
  cluster_.Node("node2");
  EXPECT_THAT(Run().NodesOf("gang"), ElementsAre("node2"));
}

TEST_F(AttemptsTest, AChangedNodeWakesAJob) {
  const NodeArgs bad{.taints = {{.key = "k", .value = "v", .effect = TaintEffect::kNoSchedule}},
                     .unschedulable = true};
  cluster_.Node("node2", bad).Job("gang", {.task = {.cpu = 9, .selector = {{"disk", "ssd"}}}});
  RunToRest();
  NodeSpec spec = cluster_.SpecOf("node2", bad);
  const auto change = [&](const std::function<void(NodeSpec&)>& what) {
    what(spec);
    ASSERT_TRUE(cluster_.state.UpsertNode(spec).has_value());
    Run();
    EXPECT_THAT(tried_, ElementsAre("gang"));
  };
  change([](NodeSpec& node) { node.unschedulable = false; });
  change([](NodeSpec& node) { node.taints.clear(); });
  change([](NodeSpec& node) { node.labels = {{"disk", "ssd"}}; });
  change([](NodeSpec& node) { node.allocatable.Set(kCpu, Cores(16)); });
  EXPECT_EQ(cluster_.JobNamed("gang").counts.Of(TaskStatus::kBinding), 1);
}

TEST_F(AttemptsTest, AHyperNodeWakesAJob) {
  cluster_.Node("node2").Node("node3").Leaf("s0", 1, {"node2"}).Leaf("s1", 1, {"node3"});
  cluster_.Job("gang", {.tasks = 2, .task = kWholeNode, .topology = testing::Hard(1)});
  RunToRest();
  cluster_.Leaf("s0", 1, {"node2", "node3"}).Leaf("s1", 1, {"node1"});
  EXPECT_THAT(Run().NodesOf("gang"), ElementsAre("node2", "node3"));
}

TEST_F(AttemptsTest, AChangeOfTheJobItselfWakesIt) {
  cluster_.Node("node2").Job("gang", {.tasks = 2, .task = kWholeNode});
  RunToRest();
  ChangeJob("gang", [](JobSpec& spec) { spec.min_available = 1; });
  EXPECT_THAT(Run().NodesOf("gang"), ElementsAre("node2"));
}

TEST_F(AttemptsTest, ANewPodOfTheJobWakesIt) {
  cluster_.Node("node2").Job("gang", {.tasks = 1, .task = {.cpu = 9}, .min_available = 1});
  RunToRest();
  cluster_.Task("gang", {.cpu = 1});
  EXPECT_THAT(Run().NodesOf("gang"), ElementsAre("node2"));
}

TEST_F(AttemptsTest, AHigherLimitOfTheQueueWakesAJob) {
  cluster_.Queue("tight", {.cpu_capability = 4}).Node("node2");
  cluster_.Job("gang", {.task = kWholeNode, .queue = "tight"});
  EXPECT_EQ(RunToRest().Reason("gang"), "QueueQuotaExceeded");
  cluster_.Queue("tight", {.cpu_capability = 8});
  EXPECT_THAT(Run().NodesOf("gang"), ElementsAre("node2"));
}

TEST_F(AttemptsTest, AJobThatLeavesWakesTheOthersThatTheQuotaRefused) {
  cluster_.Queue("tight", {.cpu_capability = 8}).Node("node2").Node("node3");
  cluster_.Job("runs", {.tasks = 0, .queue = "tight"}).Running("runs", {"node3"}, {.cpu = 4});
  cluster_.Job("gang", {.task = kWholeNode, .queue = "tight"});
  EXPECT_EQ(RunToRest().Reason("gang"), "QueueQuotaExceeded");
  cluster_.state.workload().RemoveJob(cluster_.FindJob("runs"));
  EXPECT_EQ(Run().binds.count("gang-w-0"), 1U);
}

TEST_F(AttemptsTest, TimeWakesAJobWhereDecisionsDependOnIt) {
  config_.tiers[0].push_back(PluginConfig{.name = "sla", .switches = {}, .arguments = {}});
  cluster_.Job("gang", {});
  const auto made = Scheduler::Make(config_, cluster_.state);
  ASSERT_TRUE(made.has_value());
  Scheduler& scheduler = *made->scheduler;
  scheduler.LimitWork(1'000'000);
  const auto tries = [&](Duration time) {
    TraceLog trace;
    scheduler.Open(Time{} + time, &trace);
    scheduler.RunActions();
    static_cast<void>(scheduler.Close());
    return !JobsTriedBy(trace).empty();
  };
  EXPECT_TRUE(tries(std::chrono::seconds(0)));
  EXPECT_FALSE(tries(std::chrono::milliseconds(900)));
  EXPECT_TRUE(tries(std::chrono::milliseconds(1000)));
}

// ---- pods that have rules about other pods

const TaskArgs kDatabase{.labels = {{"app", "db"}}};

TaskArgs Near(const std::string& app) {
  return {.rules = {.affinity = {Pods("app", app, "zone")}}};
}

TEST_F(AttemptsTest, APodThatAJobWantsToBeNearToWakesItInTheSameCycle) {
  cluster_.Node("node2", {.labels = {{"zone", "b"}}}).Job("web", {.task = Near("db")});
  RunToRest();
  cluster_.Job("db", {.task = kDatabase, .priority = 5});
  EXPECT_THAT(Run().NodesOf("web"), ElementsAre("node2"));
}

TEST_F(AttemptsTest, OrInTheNextCycleWhenItsTurnComesFirst) {
  cluster_.Node("node2", {.labels = {{"zone", "b"}}});
  cluster_.Job("web", {.task = Near("db"), .priority = 5});
  RunToRest();
  cluster_.Job("db", {.task = kDatabase});
  EXPECT_THAT(Run().NodesOf("web"), IsEmpty());
  EXPECT_THAT(Run().NodesOf("web"), ElementsAre("node2"));
}

TEST_F(AttemptsTest, APodOfAnotherSchedulerThatAJobWantsToBeNearToWakesIt) {
  cluster_.Node("node2", {.labels = {{"zone", "b"}}}).Job("web", {.task = Near("db")});
  RunToRest();
  cluster_.Occupy("node2", kDatabase);
  EXPECT_THAT(Run().NodesOf("web"), ElementsAre("node2"));
}

TEST_F(AttemptsTest, APodThatGoesWakesAJobThatHadToKeepAwayFromIt) {
  cluster_.Node("node2", {.labels = {{"zone", "a"}}})
      .Occupy("node0", {.cpu = 0, .labels = {{"app", "noisy"}}});
  cluster_.Job("quiet", {.task = {.rules = {.anti_affinity = {Pods("app", "noisy", "zone")}}}});
  RunToRest();
  for (const TaskId id : cluster_.state.workload().AllTasks()) {
    const ClassId class_id = cluster_.state.workload().task(id).class_id;
    if (!cluster_.state.classes().spec(class_id).identity.labels.empty()) {
      cluster_.state.workload().RemoveTask(id);
      break;
    }
  }
  EXPECT_THAT(Run().NodesOf("quiet"), ElementsAre("node2"));
}

TEST_F(AttemptsTest, WhatMayOnlyBeLuckyIsTriedAgainAfterAnotherPodWasPlaced) {
  cluster_.Node("node2", {.cpu = 2});
  cluster_.Job("mixed", {.tasks = 1, .task = {.cpu = 4}, .min_available = 2});
  cluster_.Task("mixed", {.cpu = 5});
  cluster_.Job("equal", {.tasks = 2, .task = {.cpu = 4}});
  RunToRest();
  cluster_.Job("pod", {});
  Run();
  EXPECT_THAT(tried_, ElementsAre("pod"));
  Run();
  EXPECT_THAT(tried_, ElementsAre("mixed"));
  Run();
  EXPECT_THAT(tried_, IsEmpty());
}

// ---- what is held for others in a cycle

// A pod of node0 terminates; "first" holds the room, and "second" finds none.
class HeldRoom : public AttemptsTest {
 protected:
  HeldRoom() {
    pod_ = cluster_.state.nodes().TasksOn(cluster_.FindNode("node0")).front();
    cluster_.state.workload().SetTaskStatus(pod_, TaskStatus::kReleasing);
    cluster_.Job("first", {.task = kWholeNode, .priority = 5}).Job("second", {.task = kWholeNode});
  }
  // Without the end of what terminates.
  Decisions Stay() {
    if (!cycles_) {
      cycles_.emplace(cluster_.state);
      cycles_->LimitWork(std::numeric_limits<std::uint64_t>::max());
    }
    TraceLog trace;
    const Decisions decisions = cycles_->Run(&trace);
    tried_ = JobsTriedBy(trace);
    return decisions;
  }

  TaskId pod_;
};

TEST_F(HeldRoom, AJobSleepsWhileTheSameIsHeld) {
  EXPECT_EQ(Stay().pipelined.count("first-w-0"), 1U);
  for (int i = 0; i < 2; ++i) {
    const Decisions decisions = Stay();
    EXPECT_EQ(decisions.pipelined.count("first-w-0"), 1U);
    EXPECT_EQ(decisions.Reason("second"), "NotEnoughResources");
    EXPECT_THAT(tried_, ElementsAre("first"));
  }
}

TEST_F(HeldRoom, AJobIsTriedWhenTheHolderIsGone) {
  Stay();
  cluster_.state.workload().RemoveJob(cluster_.FindJob("first"));
  EXPECT_EQ(Stay().pipelined.count("second-w-0"), 1U);
}

TEST_F(HeldRoom, AJobIsTriedWhenItComesBeforeTheHolder) {
  Stay();
  ChangeJob("first", [](JobSpec& spec) { spec.priority = -5; });
  EXPECT_EQ(Stay().pipelined.count("second-w-0"), 1U);
}

// ---- BestEffort pods

TEST_F(AttemptsTest, ABestEffortPodSleepsUntilANodeTakesIt) {
  TaskArgs pod = BestEffort();
  pod.rules.affinity = {Pods("app", "db", "zone")};
  cluster_.Job("helper", {.task = pod});
  const Decisions first = RunToRest();
  EXPECT_EQ(first.Reason("helper"), "NoMatchingNode");
  cluster_.Occupy("node0", {.cpu = 0, .memory = 0, .labels = {{"app", "db"}}});
  EXPECT_EQ(Run().binds.count("helper-w-0"), 1U);
}

}  // namespace
}  // namespace strata
