#include "sched/plugins/fragmentation.h"

#include <array>
#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/fragmentation.h"
#include "sched/config.h"
#include "sched/cycle_result.h"
#include "sched/plugins/test_cluster.h"
#include "sched/scheduler.h"

namespace strata {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Nodes of GPUs that are counted by number.
struct CountedGpus : TestCluster {
  CountedGpus() {
    AddQueue("q");
    AddNode("a", {.cpu = 64, .memory = 512, .gpu = 8});
    AddNode("b", {.cpu = 64, .memory = 512, .gpu = 8});
  }
  void Run(const std::string& node, double gpus) {
    AddTask(AddJob("ns/runs-on-" + node, "q"), {.cpu = 1, .memory = 1, .gpu = gpus}, node);
  }
  // Pods of another scheduler that wait.
  void AddOthers(int count, double gpus, int created) {
    for (int i = 0; i < count; ++i) {
      TaskSpec spec;
      spec.constraints = ClassOf({.cpu = 1, .memory = 1, .gpu = gpus});
      spec.created = Time{std::chrono::seconds(created)};
      AddTask(JobId{}, std::move(spec));
    }
  }
  // Where a waiting pod goes.
  std::string Place(Scheduler& scheduler, const Shape& shape) {
    JobSpec spec;
    spec.name = "ns/job-" + std::to_string(++jobs);
    spec.queue = "q";
    spec.min_available = 1;
    spec.phase = JobPhase::kInqueue;
    const TaskId task = AddTask(state.workload().UpsertJob(std::move(spec)), shape);
    scheduler.Open(Time{}, nullptr);
    scheduler.RunActions();
    static_cast<void>(scheduler.Close());
    const NodeId node = state.workload().task(task).node;
    return node.valid() ? state.nodes().spec(node).name : "";
  }
  int jobs = 0;
};

std::unique_ptr<Scheduler> MakeScheduler(TestCluster& cluster, const TestArguments& arguments) {
  PluginConfig gang{.name = "gang", .switches = {}, .arguments = {}};
  PluginConfig fragmentation{.name = "fragmentation", .switches = {}, .arguments = {}};
  for (const auto& [key, value] : arguments) fragmentation.arguments.Set(key, value);
  SchedulerConfig config;
  config.actions = {{.name = "allocate", .arguments = {}}};
  config.tiers = {{gang, fragmentation}};
  auto made = Scheduler::Make(config, cluster.state);
  CHECK(made.has_value());
  return std::move(made->scheduler);
}

std::vector<double> ScoresOf(CountedGpus& c, const TestPlugin& plugin, const Shape& shape) {
  const ClassSpec spec = c.ClassOf(shape);
  const std::array<NodeId, 2> nodes = {*c.state.nodes().Find("a"), *c.state.nodes().Find("b")};
  std::array<Score, 2> out{};
  plugin.As<NodeScorePoint>().ScoreNodes(c.state, spec, nodes, out);
  return {ToDouble(out[0]), ToDouble(out[1])};
}

TEST(Fragmentation, ScoresWhatItsTypicalPodsGain) {
  //   a: 8 idle     b: 4 idle
  CountedGpus c;
  c.Run("b", 4);
  const TestPlugin plugin =
      OpenPlugin(c, "fragmentation", {{"fragmentation.typicalPods", "gpus=8"}});
  EXPECT_THAT(plugin.warnings, IsEmpty());
  // On a, 7 GPUs become useless; on b one useless GPU fewer is idle.
  const auto whole = [](std::int64_t gained) {
    return static_cast<double>(10 * WholeFgdScore(gained * 1000, 1));
  };
  EXPECT_THAT(ScoresOf(c, plugin, {.cpu = 1, .memory = 1, .gpu = 1}),
              ElementsAre(whole(-7), whole(1)));
  // A pod that takes all of what is idle leaves nothing.
  EXPECT_THAT(ScoresOf(c, plugin, {.cpu = 1, .memory = 1, .gpu = 8}), ElementsAre(whole(0), 0));
}

TEST(Fragmentation, KeepsCpusForThePodsThatNeedThem) {
  //   a: 8 GPUs idle     b: none
  CountedGpus c;
  c.Run("b", 8);
  const auto scheduler =
      MakeScheduler(c, {{"fragmentation.typicalPods", "gpus=1,cpu=8,weight=9; cpu=8"}});
  EXPECT_EQ(c.Place(*scheduler, {.cpu = 60, .memory = 1}), "b");
}

TEST(Fragmentation, LearnsFromTheLastPodsAndForgetsTheScoresOfOthers) {
  //   a: 8 idle     b: 4 idle     c: 2 idle
  CountedGpus c;
  c.AddNode("c", {.cpu = 64, .memory = 512, .gpu = 8});
  c.Run("b", 4);
  c.Run("c", 6);
  const auto scheduler = MakeScheduler(c, {{"fragmentation.lastPods", std::int64_t{20}}});
  const Shape pair = {.cpu = 1, .memory = 1, .gpu = 2};
  // Pods of six GPUs have no use for what is idle on b and c.
  c.AddOthers(20, 6, 1);
  EXPECT_EQ(c.Place(*scheduler, pair), "b");
  // Pairs have: all nodes are as good, also c, which has not changed since.
  c.AddOthers(20, 2, 2);
  EXPECT_EQ(c.Place(*scheduler, pair), "a");
}

TEST(Fragmentation, RefusesTypicalPodsThatItCannotRead) {
  CountedGpus c;
  const auto made = TryPlugin(
      "fragmentation", {{"fragmentation.typicalPods", "gpus=x"}}, c.state.resource_names());
  EXPECT_EQ(made.error().message,
            "fragmentation: fragmentation.typicalPods: \"gpus=x\": want a number of GPUs, as in "
            "gpus=8");
  EXPECT_THAT(
      OpenPlugin(c, "fragmentation", {{"fragmentation.lastPods", std::int64_t{0}}}).warnings,
      ElementsAre("fragmentation: fragmentation.lastPods: not within 1 to 1000000; 1000 "
                  "applies"));
}

}  // namespace
}  // namespace strata
