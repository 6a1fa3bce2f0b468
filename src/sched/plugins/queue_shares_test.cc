#include "sched/plugins/queue_shares.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sched/plugins/test_cluster.h"

namespace strata {
namespace {

using ::testing::IsEmpty;

// A cluster whose queues ask for cores only; one node.
struct Queues : TestCluster {
  explicit Queues(double cpu) { AddNode("n0", {.cpu = cpu, .memory = 100, .gpu = 8}); }

  // A queue with one job: a running pod of `has` cores and a pending one of `asks` more.
  QueueId Add(QueueSpec spec, double has, double asks) {
    const std::string name = spec.name;
    const QueueId queue = state.workload().UpsertQueue(std::move(spec));
    const JobId job = AddJob("ns/" + name, name);
    if (has > 0) AddTask(job, {.cpu = has}, "n0");
    AddWaiting(job, asks);
    return queue;
  }
  static QueueSpec Named(const std::string& name, std::int32_t weight = 1) {
    QueueSpec spec;
    spec.name = name;
    spec.weight = weight;
    return spec;
  }
  [[nodiscard]] QueueShare Of(QueueId queue) const {
    for (QueueShare& share : ComputeProportion(state)) {
      if (share.queue == queue) return share;
    }
    return {};
  }
  [[nodiscard]] double DeservedCores(QueueId queue) const {
    return Of(queue).deserved[kCpu.index()] / 1000;
  }
  [[nodiscard]] double RealCores(QueueId queue) const {
    return Of(queue).real_capability[kCpu.index()] / 1000;
  }
};

TEST(ComputeProportion, DividesByWeightWhenAllAskForMore) {
  Queues c(8);
  const QueueId a = c.Add(Queues::Named("a", 1), 0, 100);
  const QueueId b = c.Add(Queues::Named("b", 3), 0, 100);
  EXPECT_NEAR(c.DeservedCores(a), 2, 1e-6);
  EXPECT_NEAR(c.DeservedCores(b), 6, 1e-6);
}

TEST(ComputeProportion, WhatOneQueueDoesNotRequestGoesToTheOthers) {
  //   round 1: a 1 (all it asks for), b 4; 3 are left; round 2: b 7
  Queues c(8);
  const QueueId a = c.Add(Queues::Named("a"), 0, 1);
  const QueueId b = c.Add(Queues::Named("b"), 0, 100);
  EXPECT_NEAR(c.DeservedCores(a), 1, 1e-6);
  EXPECT_NEAR(c.DeservedCores(b), 7, 1e-6);
}

TEST(ComputeProportion, ACapabilityIsALimit) {
  //   rounds: a 4, b 3; a 4.5, b 3 (unchanged, done); a 5
  Queues c(8);
  const QueueId a = c.Add(Queues::Named("a"), 0, 100);
  QueueSpec limited = Queues::Named("b");
  limited.capability[kCpu] = 3000;
  const QueueId b = c.Add(std::move(limited), 0, 100);
  EXPECT_NEAR(c.DeservedCores(a), 5, 1e-6);
  EXPECT_NEAR(c.DeservedCores(b), 3, 1e-6);
}

TEST(ComputeProportion, ACpuCapabilityOfZeroMeansUnlimitedButOneOfGpusIsALimit) {
  Queues c(8);
  QueueSpec spec = Queues::Named("a");
  spec.capability[kCpu] = 0;
  spec.capability[c.gpu] = 0;
  const QueueId a = c.Add(std::move(spec), 0, 8);
  EXPECT_NEAR(c.RealCores(a), 8, 1e-6);
  EXPECT_EQ(c.Of(a).real_capability[c.gpu.index()], 0);
  EXPECT_NEAR(c.Of(a).real_capability[kMemory.index()], 100e9, 1);
}

TEST(ComputeProportion, GuaranteesOfOthersAreKeptFreeEvenWithoutJobs) {
  Queues c(8);
  QueueSpec idle = Queues::Named("idle");
  idle.guarantee = c.Amounts({.cpu = 6});
  c.state.workload().UpsertQueue(std::move(idle));
  const QueueId a = c.Add(Queues::Named("a"), 0, 100);
  EXPECT_NEAR(c.RealCores(a), 2, 1e-6);
  EXPECT_NEAR(c.DeservedCores(a), 2, 1e-6);
}

TEST(ComputeProportion, AQueueDeservesAtLeastItsGuarantee) {
  Queues c(8);
  QueueSpec spec = Queues::Named("a");
  spec.guarantee = c.Amounts({.cpu = 6});
  const QueueId a = c.Add(std::move(spec), 0, 1);
  const QueueId b = c.Add(Queues::Named("b"), 0, 100);
  EXPECT_NEAR(c.DeservedCores(a), 6, 1e-6);
  EXPECT_NEAR(c.RealCores(a), 8, 1e-6);
  EXPECT_NEAR(c.DeservedCores(b), 2, 1e-6);
}

TEST(ComputeProportion, AQueueDeservesNoMoreThanItRequests) {
  Queues c(8);
  const QueueId a = c.Add(Queues::Named("a"), 2, 1);
  const QueueShare share = c.Of(a);
  EXPECT_NEAR(share.deserved[kCpu.index()], 3000, 1e-6);
  EXPECT_NEAR(share.deserved[kPods.index()], 2, 1e-6);
  EXPECT_EQ(share.deserved[kMemory.index()], 0);
}

TEST(ComputeProportion, TheShareIsTheLargestPartOfWhatIsDeserved) {
  Queues c(8);
  const QueueId a = c.Add(Queues::Named("a"), 1, 3);  // 1 of 4 cores, 1 of 2 pods
  EXPECT_NEAR(c.Of(a).share, 0.5, 1e-9);
}

TEST(ComputeProportion, QueuesWithoutJobsTakeNoPart) {
  Queues c(8);
  c.state.workload().UpsertQueue(Queues::Named("empty", 100));
  const QueueId a = c.Add(Queues::Named("a"), 0, 100);
  EXPECT_EQ(ComputeProportion(c.state).size(), 1U);
  EXPECT_NEAR(c.DeservedCores(a), 8, 1e-6);
}

TEST(ComputeProportion, AnEmptyClusterHasNothingToDivide) {
  EXPECT_THAT(ComputeProportion(ClusterState()), IsEmpty());
  TestCluster c;
  c.AddQueue("a");
  c.AddTask(c.AddJob("ns/a", "a"), {.cpu = 1});
  ASSERT_EQ(ComputeProportion(c.state).size(), 1U);
  EXPECT_EQ(ComputeProportion(c.state)[0].deserved[kCpu.index()], 0);
}

TEST(ShareOf, ZeroOfZeroIsZeroAndAnythingOfZeroIsOne) {
  TestCluster c;
  EXPECT_EQ(ShareOf({}, {0, 0, 0}), 0);
  EXPECT_EQ(ShareOf(c.Amounts({.cpu = 1}), {0, 0, 0}), 1);
  EXPECT_EQ(ShareOf(c.Amounts({.cpu = 3}), {1500, 1e9, 0}), 2);
}

}  // namespace
}  // namespace strata
