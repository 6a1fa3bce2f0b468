// What queues, gates and scores make of shares of GPUs.
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sched/need.h"
#include "sched/plugins/queue_rules.h"
#include "sched/plugins/queue_shares.h"
#include "sched/plugins/resourcequota.h"
#include "sched/plugins/test_cluster.h"

namespace strata {
namespace {

using ::testing::ElementsAre;

// Nodes of eight GPUs, each of which ten containers may share.
struct SharingCluster : TestCluster {
  NodeId AddMachine(const std::string& name, std::int64_t memory_mib) {
    NodeSpec spec;
    spec.name = name;
    spec.allocatable = Amounts({.cpu = 64, .memory = 512, .gpu = 80}, 110);
    spec.gpus.emplace();
    for (int i = 0; i < 8; ++i) {
      Gpu& card = spec.gpus->gpus.emplace_back();
      card.uuid = name + "-" + std::to_string(i);
      card.slots = 10;
      card.memory_mib = memory_mib;
      card.cores = 100;
      card.healthy = true;
    }
    return AddNode(std::move(spec));
  }

  // 0: the whole GPU.
  [[nodiscard]] ClassSpec Share(std::int64_t memory_mib) const {
    ClassSpec spec = ClassOf({.cpu = 1, .memory = 1, .gpu = 1});
    spec.gpus.emplace();
    spec.gpus->containers = {{.container = "main", .count = 1, .memory_mib = memory_mib}};
    if (memory_mib == 0) spec.gpus->containers[0].cores = 100;
    return spec;
  }
  void AddShares(JobId job, int count, std::int64_t memory_mib, const std::string& uuid = "") {
    for (int i = 0; i < count; ++i) {
      TaskSpec spec;
      spec.constraints = Share(memory_mib);
      const std::string node = uuid.substr(0, uuid.find('-'));
      if (!uuid.empty()) spec.gpus.containers = {{{.uuid = uuid, .memory_mib = memory_mib}}};
      AddTask(job, std::move(spec), node);
    }
  }
  JobId AddJobWith(const std::string& name, double gpus, JobPhase phase = JobPhase::kPending) {
    JobSpec spec;
    spec.name = name;
    spec.queue = "q";
    spec.min_available = 1;
    spec.min_resources = Amounts({.gpu = gpus});
    spec.phase = phase;
    return state.workload().UpsertJob(std::move(spec));
  }
  [[nodiscard]] std::vector<double> DeservedGpus() const {
    std::vector<double> deserved;
    for (const QueueShare& share : ComputeProportion(state)) {
      deserved.push_back(share.deserved[gpu.index()]);
    }
    return deserved;
  }
};

TEST(GpuShares, WeightsDivideTheGpusAndNotTheirShares) {
  SharingCluster c;
  c.AddMachine("n0", 80'000);
  c.AddQueue("a", 3);
  c.AddQueue("b", 1);
  c.AddShares(c.AddJob("ns/a", "a"), 20, 0);
  c.AddShares(c.AddJob("ns/b", "b"), 20, 0);
  EXPECT_THAT(c.DeservedGpus(), ElementsAre(6000, 2000));
}

TEST(GpuShares, WeightsDivideByThePartsThatSharesTake) {
  SharingCluster c;
  c.AddMachine("n0", 80'000);
  c.AddQueue("a", 3);
  c.AddQueue("b", 1);
  c.AddShares(c.AddJob("ns/a", "a"), 60, 8'000);  // six GPUs
  c.AddShares(c.AddJob("ns/b", "b"), 60, 8'000);
  EXPECT_THAT(c.DeservedGpus(), ElementsAre(6000, 2000));
}

TEST(GpuShares, AQueueThatMayHaveAllIsLimitedByTheGpusAlone) {
  //   1.2 of one GPU are in use, by memory and by cores; the other seven do not work
  SharingCluster c;
  NodeSpec spec = c.state.nodes().spec(c.AddMachine("n0", 80'000));
  for (int i = 1; i < 8; ++i) spec.gpus->gpus[static_cast<std::size_t>(i)].healthy = false;
  c.AddNode(spec);
  const QueueId a = c.AddQueue("a");
  const JobId job = c.AddJob("ns/a", "a");
  c.AddShares(job, 1, 48'000, "n0-0");
  c.AddShares(job, 1, 48'000, "n0-0");
  c.AddShares(job, 1, 8'000);
  const auto refuses = [&](const char* plugin, QuotaPoint::Limit limit) {
    return OpenPlugin(c, plugin)
        .As<QuotaPoint>()
        .Exhausted(a, c.state.classes().CountedOf(c.Share(8'000)), limit)
        .has_value();
  };
  EXPECT_FALSE(refuses("proportion", QuotaPoint::Limit::kShare));
  EXPECT_FALSE(refuses("proportion", QuotaPoint::Limit::kMax));
  EXPECT_FALSE(refuses("capacity", QuotaPoint::Limit::kMax));
  c.AddQueue("b");
  c.AddShares(c.AddJob("ns/b", "b"), 10, 8'000);  // now others want their part
  EXPECT_TRUE(refuses("proportion", QuotaPoint::Limit::kShare));
}

TEST(GpuShares, AQueueMayHaveWhatItsCapabilitySaysInGpus) {
  SharingCluster c;
  c.AddMachine("n0", 80'000);
  QueueSpec spec;
  spec.name = "q";
  spec.capability[c.gpu] = 1000;
  const QueueId q = c.state.workload().UpsertQueue(spec);
  const JobId job = c.AddJob("ns/job", "q");
  c.AddShares(job, 9, 8'000, "n0-0");
  const TestPlugin plugin = OpenPlugin(c, "capacity");
  const auto refusal = [&](std::int64_t memory_mib) {
    return plugin.As<QuotaPoint>().Exhausted(
        q, c.state.classes().CountedOf(c.Share(memory_mib)), QuotaPoint::Limit::kMax);
  };
  c.AddShares(job, 1, 8'000);
  c.AddShares(job, 1, 16'000);
  EXPECT_EQ(refusal(8'000), std::nullopt);
  EXPECT_EQ(refusal(16'000)->message,
            "queue q: 0.2 nvidia.com/gpu requested, 0.9 in use, its limit is 1");
}

TEST(GpuShares, TheGateCountsTheMinimumInTheProportionOfItsPods) {
  //   8 GPUs x 1.2; ten pods of a tenth each are one GPU, although minResources name ten
  SharingCluster c;
  c.AddMachine("n0", 80'000);
  c.AddQueue("q");
  const JobId shares = c.AddJobWith("ns/shares", 10);
  c.AddShares(shares, 10, 8'000);
  const JobId whole = c.AddJobWith("ns/whole", 10);
  c.AddShares(whole, 10, 0);
  EXPECT_EQ(Minimum(c.state, c.state.workload().job(shares))->Get(c.gpu), 1000);
  EXPECT_EQ(Minimum(c.state, c.state.workload().job(whole))->Get(c.gpu), 10'000);
  const TestPlugin plugin = OpenPlugin(c, "overcommit");
  const auto ask = [&](JobId job) {
    return plugin.As<JobGatePoint>().Enqueueable(c.state.workload().job(job));
  };
  EXPECT_EQ(ask(shares).vote, Vote::kPermit);
  EXPECT_EQ(ask(whole).refusal.message,
            "10 nvidia.com/gpu requested, 0 in use or promised in the cluster, the limit is 9.6 "
            "(1.2 times what its nodes have)");
}

TEST(GpuShares, AMinimumIsCountedLessByWhatItsPodsGot) {
  //   smallest GPU: half of it each; five got a tenth of a large one
  SharingCluster c;
  c.AddMachine("n0", 80'000);
  c.AddMachine("n1", 16'000);
  c.AddQueue("q");
  const JobId job = c.AddJobWith("ns/job", 10, JobPhase::kInqueue);
  c.AddShares(job, 5, 8'000, "n0-0");
  c.AddShares(job, 5, 8'000);
  EXPECT_EQ(Minimum(c.state, c.state.workload().job(job))->Get(c.gpu), 3000);
  EXPECT_EQ(PromisedTo(c.state, c.state.workload().job(job)).Get(c.gpu), 2500);
}

TEST(GpuShares, AMinimumWithoutPodsGoesByItsOwnShares) {
  SharingCluster c;
  c.AddMachine("n0", 80'000);
  c.AddQueue("q");
  const JobId job = c.AddJobWith("ns/job", 10);
  EXPECT_EQ(Minimum(c.state, c.state.workload().job(job))->Get(c.gpu), 10'000);
  JobSpec spec = c.state.workload().job(job).spec;
  spec.min_gpus.emplace();
  spec.min_gpus->containers = {{.container = "", .count = 10, .memory_mib = 8'000}};
  c.state.workload().UpsertJob(spec);
  EXPECT_EQ(Minimum(c.state, c.state.workload().job(job))->Get(c.gpu), 1000);
  c.AddShares(job, 10, 16'000);
  EXPECT_EQ(Minimum(c.state, c.state.workload().job(job))->Get(c.gpu), 2000);
}

TEST(GpuShares, AResourceQuotaKeepsCountingAsKubernetesDoes) {
  SharingCluster c;
  c.AddMachine("n0", 80'000);
  c.AddQueue("q");
  const JobId job = c.AddJobWith("ns/job", 10);
  c.AddShares(job, 10, 8'000);
  EXPECT_EQ(QuotaRequest(c.state.workload().job(job).spec).Get(c.gpu), 10'000);
}

TEST(GpuShares, ANodeIsPackedUntilItsGpusAreFull) {
  //   n0: 7.9 of 8 GPUs in use. A tenth still makes it fuller; a whole GPU would not fit.
  SharingCluster c;
  const NodeId n0 = c.AddMachine("n0", 80'000);
  c.AddQueue("q");
  const JobId job = c.AddJob("ns/job", "q");
  for (int i = 0; i < 7; ++i) c.AddShares(job, 1, 80'000, "n0-" + std::to_string(i));
  c.AddShares(job, 1, 72'000, "n0-7");
  c.AddShares(job, 1, 8'000);
  const TestPlugin plugin =
      OpenPlugin(c,
                 "binpack",
                 {{"binpack.cpu", ArgumentValue(std::int64_t{0})},
                  {"binpack.memory", ArgumentValue(std::int64_t{0})},
                  {"binpack.resources", ArgumentValue(std::string("nvidia.com/gpu"))}});
  const auto score = [&](std::int64_t memory_mib) {
    Score out = 0;
    plugin.As<NodeScorePoint>().ScoreNodes(
        c.state, c.Share(memory_mib), std::span(&n0, 1), std::span(&out, 1));
    return ToDouble(out);
  };
  EXPECT_NEAR(score(8'000), 100, 1e-6);
  EXPECT_NEAR(score(0), 0, 1e-6);
}

TEST(GpuShares, WhatIsFreeIsCountedInGpus) {
  SharingCluster c;
  const NodeId n0 = c.AddMachine("n0", 80'000);
  c.AddQueue("q");
  c.AddShares(c.AddJob("ns/job", "q"), 3, 8'000, "n0-0");
  EXPECT_EQ(FreeOn(c.state, n0)[c.gpu.index()], 7700);
  EXPECT_EQ(FreeBelow(c.state, c.state.tree().top())[c.gpu.index()], 7700);
  EXPECT_EQ(FreeOn(c.state, n0)[kCpu.index()], 61'000);
  EXPECT_EQ(c.state.nodes().Idle(n0)[c.gpu.index()], 77'000);
}

TEST(GpuShares, ANeedHasBothUnits) {
  SharingCluster c;
  c.AddMachine("n0", 80'000);
  c.AddQueue("q");
  const JobId job = c.AddJob("ns/job", "q");
  c.AddShares(job, 3, 8'000);
  c.AddShares(job, 1, 0);
  const std::vector<TaskId>& tasks = c.state.workload().job(job).sub_jobs[0].tasks;
  const Need need = SumOf(c.state, tasks);
  EXPECT_EQ(need.room.Get(c.gpu), 4000);
  EXPECT_EQ(need.counted().Get(c.gpu), 1300);
  EXPECT_EQ(SumOf(c.state, std::span(tasks).last(1)).apart, std::nullopt);
}

}  // namespace
}  // namespace strata
