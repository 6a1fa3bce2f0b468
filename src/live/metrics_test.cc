#include "live/metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "whatif/test_support.h"

namespace strata::live {
namespace {

using testing::HasSubstr;
using testing::Not;

::strata::Outcome OneGangOfThree() {
  return Simulate(
      EightNodes("cpu: 8, pods: 9, nvidia.com/gpu: 2") +
      GangOf("train", 3, "cpu: 1, nvidia.com/gpu: 1", "mode: hard, highestTierAllowed: 1"));
}

TEST(SchedulerMetrics, ShowTheGpusOfEveryHyperNode) {
  const ::strata::Outcome run = OneGangOfThree();
  SchedulerMetrics metrics;
  metrics.RecordHyperNodes(*run.cluster.state);
  const std::string text = metrics.Text();
  EXPECT_THAT(text, HasSubstr(R"(strata_hypernode_gpus{hypernode="s0",state="used",tier="1"} 3)"));
  EXPECT_THAT(text, HasSubstr(R"(strata_hypernode_gpus{hypernode="s0",state="free",tier="1"} 1)"));
  EXPECT_THAT(text, HasSubstr(R"(strata_hypernode_gpus{hypernode="s6",state="free",tier="3"} 13)"));
  EXPECT_THAT(text, Not(HasSubstr("cluster-top")));
}

TEST(SchedulerMetrics, ForgetHyperNodesThatAreGone) {
  SchedulerMetrics metrics;
  metrics.RecordHyperNodes(*OneGangOfThree().cluster.state);
  metrics.RecordHyperNodes(*Simulate(EightNodes("cpu: 1")).cluster.state);
  EXPECT_THAT(metrics.Text(), Not(HasSubstr("strata_hypernode_gpus{")));
}

TEST(SchedulerMetrics, ShowHowWhatIsFreeLies) {
  //   s0: 2 nodes, 3 of 4 GPUs in use
  const ::strata::Outcome run = OneGangOfThree();
  SchedulerMetrics metrics;
  metrics.RecordFragmentation(*run.cluster.state, Time{});
  const std::string text = metrics.Text();
  EXPECT_THAT(text, HasSubstr(R"(strata_largest_gang{pod="nvidia.com/gpu=2",tier="1"} 2)"));
  EXPECT_THAT(text, HasSubstr(R"(strata_largest_gang{pod="nvidia.com/gpu=2",tier="cluster"} 6)"));
  EXPECT_THAT(text, HasSubstr(R"(strata_placeable{k="2",tier="1"} 3)"));
  EXPECT_THAT(text, HasSubstr(R"(strata_placeable{k="4",tier="1"} 0)"));
  EXPECT_THAT(text, HasSubstr(R"(strata_rack_loss{k="4",tier="1"} 1)"));
  EXPECT_THAT(text, HasSubstr("strata_gini{tier=\"1\"} 0.25"));
  EXPECT_THAT(text, HasSubstr("strata_stranded 0.07692307692307693"));
  EXPECT_THAT(text, HasSubstr("strata_fgd 0"));
}

TEST(SchedulerMetrics, CountGpuSecondsOfWaitingJobsByWhatTheyLack) {
  const ::strata::Outcome run = Simulate(
      EightNodes("cpu: 8, pods: 9, nvidia.com/gpu: 2") +
      GangOf("train", 5, "cpu: 1, nvidia.com/gpu: 1", "mode: hard, highestTierAllowed: 1"));
  CycleResult result;
  for (const JobId job : run.cluster.state->workload().jobs()) {
    result.verdicts[job] = {"TopologyUnsatisfied", "no room"};
  }
  CycleTimer timer;
  timer.Opened();
  timer.Closed();
  SchedulerMetrics metrics;
  metrics.Record(timer, result, *run.cluster.state, Time{});
  const auto count = [&](int second) {
    metrics.RecordFragmentation(*run.cluster.state, Time{std::chrono::seconds(second)});
    return metrics.Text();
  };
  EXPECT_THAT(count(1), HasSubstr(R"(strata_blocked_gpu_seconds_total{why="topology"} 0)"));
  EXPECT_THAT(count(4), HasSubstr(R"(strata_blocked_gpu_seconds_total{why="topology"} 15)"));
  EXPECT_THAT(count(4), HasSubstr(R"(strata_blocked_gpu_seconds_total{why="capacity"} 0)"));
}

TEST(SchedulerMetrics, CountWaitingJobsByQueueAndReason) {
  const ::strata::Outcome run = OneGangOfThree();
  const WorkloadTable& workload = run.cluster.state->workload();
  CycleResult result;
  for (const JobId job : workload.jobs()) result.verdicts[job] = {"NotEnoughResources", "no room"};
  ASSERT_EQ(result.verdicts.size(), 1U);
  CycleTimer timer;
  timer.Opened();
  timer.Closed();
  SchedulerMetrics metrics;
  metrics.Record(timer, result, *run.cluster.state, Time{});
  EXPECT_THAT(
      metrics.Text(),
      HasSubstr(R"(strata_waiting_jobs{queue_name="default",reason="NotEnoughResources"} 1)"));
  result.verdicts.clear();
  metrics.Record(timer, result, *run.cluster.state, Time{});
  EXPECT_THAT(metrics.Text(), Not(HasSubstr("strata_waiting_jobs{")));
}

}  // namespace
}  // namespace strata::live
