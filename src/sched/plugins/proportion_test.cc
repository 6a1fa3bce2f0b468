#include "sched/plugins/proportion.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sched/plugins/test_cluster.h"

namespace strata {
namespace {

constexpr auto kShare = QuotaPoint::Limit::kShare;

struct ProportionCluster : TestCluster {
  ProportionCluster() { AddNode("n0", {.cpu = 8, .memory = 80, .gpu = 8}); }

  JobId AddJobWith(const std::string& name,
                   const std::string& queue,
                   const Shape& min_resources,
                   JobPhase phase = JobPhase::kPending) {
    JobSpec spec;
    spec.name = name;
    spec.queue = queue;
    spec.min_available = 1;
    spec.min_resources = Amounts(min_resources);
    spec.phase = phase;
    return state.workload().UpsertJob(std::move(spec));
  }
  [[nodiscard]] Ballot Enqueue(const TestPlugin& plugin, JobId job) const {
    return plugin.As<JobGatePoint>().Enqueueable(state.workload().job(job));
  }
  void Close(const std::string& name) {
    QueueSpec spec = state.workload().queue(*state.workload().FindQueue(name)).spec;
    spec.open = false;
    state.workload().UpsertQueue(std::move(spec));
  }
};

TEST(Proportion, QueuesComeByPriorityThenByTheSmallerShare) {
  //   both deserve 4 cores; a has 2, b has 1; c is more important
  ProportionCluster c;
  const QueueId a = c.AddQueue("a");
  const QueueId b = c.AddQueue("b");
  QueueSpec urgent;
  urgent.name = "c";
  urgent.priority = 5;
  const QueueId important = c.state.workload().UpsertQueue(std::move(urgent));
  const JobId in_a = c.AddJob("ns/a", "a");
  const JobId in_b = c.AddJob("ns/b", "b");
  c.AddTask(in_a, {.cpu = 2}, "n0");
  c.AddTask(in_b, {.cpu = 1}, "n0");
  c.AddWaiting(in_a, 100);
  const TaskId next = c.AddTask(in_b, {.cpu = 2});
  c.AddWaiting(in_b, 100);
  const TestPlugin plugin = OpenPlugin(c, "proportion");
  const auto compare = [&](QueueId x, QueueId y) {
    return plugin.As<OrderPoint>().CompareQueues(c.state.workload().queue(x),
                                                 c.state.workload().queue(y));
  };
  EXPECT_GT(compare(a, b), 0);
  EXPECT_LT(compare(b, a), 0);
  EXPECT_EQ(compare(a, a), 0);
  EXPECT_LT(compare(important, b), 0);
  c.state.journal().Allocate(next, *c.state.nodes().Find("n0"));  // b has 3 of 4 now
  EXPECT_LT(compare(a, b), 0);
}

TEST(Proportion, AQueueIsOverusedOnceItHasAllItDeserves) {
  ProportionCluster c;
  const QueueId a = c.AddQueue("a");
  const JobId job = c.AddJob("ns/a", "a");
  const TaskId task = c.AddTask(job, {.cpu = 4});
  const TestPlugin plugin = OpenPlugin(c, "proportion");
  EXPECT_FALSE(plugin.As<QuotaPoint>().Overused(a));
  c.state.journal().Allocate(task, *c.state.nodes().Find("n0"));
  EXPECT_TRUE(plugin.As<QuotaPoint>().Overused(a));
}

TEST(Proportion, MoreIsRefusedBeyondTheShareInAResourceThatIsAskedFor) {
  //   a and b ask for all 8 GPUs each and deserve 4; a has 3
  ProportionCluster c;
  const QueueId a = c.AddQueue("a");
  c.AddQueue("b");
  const JobId in_a = c.AddJob("ns/a", "a");
  c.AddTask(in_a, {.gpu = 3}, "n0");
  c.AddTask(in_a, {.gpu = 5});
  c.AddTask(c.AddJob("ns/b", "b"), {.gpu = 8});
  const TestPlugin plugin = OpenPlugin(c, "proportion");
  const auto& quota = plugin.As<QuotaPoint>();
  EXPECT_EQ(quota.Exhausted(a, c.Amounts({.gpu = 1}, 1), kShare), std::nullopt);
  EXPECT_EQ(quota.Exhausted(a, c.Amounts({.gpu = 2}, 1), kShare),
            (Refusal{"QueueShareExceeded",
                     "queue a: 2 nvidia.com/gpu requested, 3 in use, its share is 4"}));
  EXPECT_EQ(quota.Exhausted(a, c.Amounts({}, 100), kShare), std::nullopt);  // pods do not count
}

TEST(Proportion, BeyondTheShareThereIsALimitThatOtherQueuesDoNotMove) {
  //   of the 8 GPUs a deserves 4 and has 3; without b it would have all 8
  ProportionCluster c;
  const QueueId a = c.AddQueue("a");
  c.AddQueue("b");
  const JobId in_a = c.AddJob("ns/a", "a");
  c.AddTask(in_a, {.gpu = 3}, "n0");
  c.AddTask(in_a, {.gpu = 5});
  c.AddTask(c.AddJob("ns/b", "b"), {.gpu = 8});
  const TestPlugin plugin = OpenPlugin(c, "proportion");
  const auto& quota = plugin.As<QuotaPoint>();
  EXPECT_EQ(quota.Exhausted(a, c.Amounts({.gpu = 5}, 1), QuotaPoint::Limit::kMax), std::nullopt);
  EXPECT_EQ(
      quota.Exhausted(a, c.Amounts({.gpu = 6}, 1), QuotaPoint::Limit::kMax),
      (Refusal{"ClusterFull", "queue a: 6 nvidia.com/gpu requested, 3 in use, the cluster has 8"}));
}

TEST(Proportion, ThirdsOfAClusterAreGivenOut) {
  //   8 cores by three: 2666.67 milli-cores each; 2667 fit within one unit, 2668 do not
  ProportionCluster c;
  QueueId last;
  for (const char* name : {"a", "b", "c"}) {
    last = c.AddQueue(name);
    c.AddWaiting(c.AddJob(std::string("ns/") + name, name), 100);
  }
  const TestPlugin plugin = OpenPlugin(c, "proportion");
  const auto& quota = plugin.As<QuotaPoint>();
  EXPECT_EQ(quota.Exhausted(last, c.Amounts({.cpu = 2.667}), kShare), std::nullopt);
  EXPECT_NE(quota.Exhausted(last, c.Amounts({.cpu = 2.668}), kShare), std::nullopt);
}

TEST(Proportion, AClosedQueueAdmitsAndGetsNothing) {
  ProportionCluster c;
  const QueueId a = c.AddQueue("a");
  const JobId job = c.AddJobWith("ns/a", "a", {.cpu = 1});
  c.AddTask(job, {.cpu = 1});
  c.Close("a");
  const TestPlugin plugin = OpenPlugin(c, "proportion");
  const Refusal closed{"QueueClosed", "queue a is not open"};
  EXPECT_EQ(plugin.As<QuotaPoint>().Exhausted(a, c.Amounts({.cpu = 1}), kShare), closed);
  EXPECT_EQ(c.Enqueue(plugin, job).vote, Vote::kReject);
  EXPECT_EQ(c.Enqueue(plugin, job).refusal, closed);
}

TEST(Proportion, JobsEnterUntilTheirMinimumsFillTheQueue) {
  ProportionCluster c;
  c.AddQueue("a");
  const JobId first = c.AddJobWith("ns/a", "a", {.gpu = 5});
  const JobId second = c.AddJobWith("ns/b", "a", {.gpu = 4});
  TestPlugin plugin = OpenPlugin(c, "proportion");
  EXPECT_EQ(c.Enqueue(plugin, first).vote, Vote::kPermit);
  EXPECT_EQ(c.Enqueue(plugin, second).vote, Vote::kPermit);
  plugin.As<JobGatePoint>().OnEnqueued(c.state.workload().job(first));
  EXPECT_EQ(c.Enqueue(plugin, second).vote, Vote::kReject);
  EXPECT_EQ(
      c.Enqueue(plugin, second).refusal,
      (Refusal{"ClusterFull",
               "queue a: 4 nvidia.com/gpu requested, 5 in use or promised, the cluster has 8"}));
}

TEST(Proportion, AJobWithoutMinResourcesEntersAnOpenQueue) {
  ProportionCluster c;
  c.AddQueue("a");
  const JobId job = c.AddJob("ns/a", "a");
  c.AddWaiting(job, 1000);
  EXPECT_EQ(c.Enqueue(OpenPlugin(c, "proportion"), job).vote, Vote::kPermit);
}

TEST(Proportion, PromisesAreWhatEnteredJobsDoNotHaveYetLessTheirGatedPods) {
  //   inqueue: 6 GPUs promised, of which 2 are held and 1 is of a gated pod: 3 + 2 held = 5 of 8
  ProportionCluster c;
  c.AddQueue("a");
  const JobId entered = c.AddJobWith("ns/in", "a", {.gpu = 6}, JobPhase::kInqueue);
  c.AddTask(entered, {.gpu = 2}, "n0");
  TaskSpec gated;
  gated.constraints = c.ClassOf({.gpu = 1});
  gated.gated = true;
  c.AddTask(entered, std::move(gated));
  const JobId three = c.AddJobWith("ns/three", "a", {.gpu = 3});
  const JobId four = c.AddJobWith("ns/four", "a", {.gpu = 4});
  const TestPlugin plugin = OpenPlugin(c, "proportion");
  EXPECT_EQ(c.Enqueue(plugin, three).vote, Vote::kPermit);
  EXPECT_EQ(c.Enqueue(plugin, four).vote, Vote::kReject);
}

TEST(Proportion, WhatElasticJobsHoldBeyondTheirMinimumDoesNotCount) {
  //   ns/in holds 6 GPUs, its minimum is 2
  ProportionCluster c;
  c.AddQueue("a");
  const JobId elastic = c.AddJobWith("ns/in", "a", {.gpu = 2}, JobPhase::kRunning);
  for (int i = 0; i < 3; ++i) c.AddTask(elastic, {.gpu = 2}, "n0");
  const JobId six = c.AddJobWith("ns/six", "a", {.gpu = 6});
  const JobId seven = c.AddJobWith("ns/seven", "a", {.gpu = 7});
  const TestPlugin plugin = OpenPlugin(c, "proportion");
  EXPECT_EQ(c.Enqueue(plugin, six).vote, Vote::kPermit);
  EXPECT_EQ(c.Enqueue(plugin, seven).vote, Vote::kReject);
}

TEST(Proportion, ACapabilityLimitsAdmission) {
  ProportionCluster c;
  QueueSpec spec;
  spec.name = "a";
  spec.capability[kMemory] = 10 * kGiga;
  c.state.workload().UpsertQueue(std::move(spec));
  const JobId ten = c.AddJobWith("ns/ten", "a", {.cpu = 8, .memory = 10});
  const JobId more = c.AddJobWith("ns/more", "a", {.memory = 11});
  const TestPlugin plugin = OpenPlugin(c, "proportion");
  EXPECT_EQ(c.Enqueue(plugin, ten).vote, Vote::kPermit);
  EXPECT_EQ(c.Enqueue(plugin, more).vote, Vote::kReject);
}

TEST(Proportion, HasNoOpinionOnAJobWhoseQueueDoesNotExist) {
  ProportionCluster c;
  const JobId job = c.AddJob("ns/a", "nowhere");
  EXPECT_EQ(c.Enqueue(OpenPlugin(c, "proportion"), job).vote, Vote::kAbstain);
}

}  // namespace
}  // namespace strata
