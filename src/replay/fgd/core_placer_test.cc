#include "replay/fgd/core_placer.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "replay/fgd/rules.h"
#include "replay/test_workload.h"
#include "sched/typical_pods.h"

namespace strata::replay::fgd {
namespace {

using ::testing::IsEmpty;

SchedulerConfig ConfigWithFragmentation() {
  const auto plugin = [](const char* name) {
    return PluginConfig{.name = name, .switches = {}, .arguments = {}};
  };
  PluginConfig devices = plugin("deviceshare");
  devices.arguments.Set("deviceshare.ScheduleWeight", std::int64_t{0});
  SchedulerConfig config;
  config.actions = {{.name = "allocate", .arguments = {}}};
  config.tiers = {{plugin("gang"), plugin("predicates"), devices, plugin("fragmentation")}};
  return config;
}

// Pods of shares and of whole GPUs; every fourth wants a T4.
PodList SharesAndWholes(const Fabric& fabric, int pods) {
  Trace trace;
  for (int i = 0; i < pods; ++i) {
    TraceJob job = TestJob("pod-" + std::to_string(1000 + i), 0, 1, 1, i % 7 == 0 ? 4 : 1);
    job.gpu_milli = i % 3 == 0 || i % 7 == 0 ? 1000 : 100 * (1 + i % 9);
    job.cpu_milli = 2000 + 1000 * (i % 5);
    if (i % 4 == 0) job.gpu_model = "T4";
    trace.jobs.push_back(job);
  }
  auto list = MakePodList("test", trace, fabric);
  CHECK(list.has_value());
  return std::move(*list);
}

Fabric TwoModels(int nodes) {
  Fabric fabric;
  for (int i = 0; i < nodes; ++i) {
    fabric.nodes.push_back({.name = "node-" + std::to_string(i),
                            .gpus = i % 2 == 0 ? 8 : 4,
                            .cpu_milli = 64'000,
                            .memory = 0,
                            .gpu_model = i % 2 == 0 ? "V100" : "T4"});
  }
  return fabric;
}

TEST(CorePlacer, PutsTypicalPodsIntoTheConfiguration) {
  const Fabric fabric = TwoModels(4);
  const PodList list = SharesAndWholes(fabric, 200);
  const auto read = strata::ParseTypicalPods(TypicalPodsText(list));
  ASSERT_TRUE(read.has_value());
  ASSERT_EQ(read->pods.size(), list.typical.size());
  EXPECT_EQ(read->Weight(), list.typical_weight);
  EXPECT_EQ(read->pods[0].pod.cpu_milli, list.typical[0].kind.cpu_milli);
}

TEST(CorePlacer, FillsAClusterAsWellAsTheRule) {
  const Fabric fabric = TwoModels(20);
  const PodList list = SharesAndWholes(fabric, 300);
  double core = 0;
  double rule = 0;
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    const FillOptions options{.seed = seed, .target = 1.3, .check = true};
    auto placer = MakeCorePlacer(ConfigWithFragmentation(), list, fabric, seed);
    ASSERT_TRUE(placer.has_value());
    const FillResult result = Fill(list, fabric, **placer, options);
    EXPECT_THAT(result.faults, IsEmpty());
    core += result.points.back().allocated;
    rule += Fill(list, fabric, Rule::kFgd, options).points.back().allocated;
  }
  EXPECT_NEAR(core / 3, rule / 3, 0.02);
}

TEST(CorePlacer, TakesSharesOfWholePerCents) {
  const Fabric fabric = TwoModels(2);
  Trace trace;
  trace.jobs = {TestJob("a", 0, 1, 1, 1)};
  trace.jobs[0].gpu_milli = 125;
  const PodList list = MakePodList("test", trace, fabric).value();
  EXPECT_EQ(MakeCorePlacer(ConfigWithFragmentation(), list, fabric, 1).error().message,
            "a share of 125 thousandths of a GPU: the scheduler takes whole per cents");
}

}  // namespace
}  // namespace strata::replay::fgd
