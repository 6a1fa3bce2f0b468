#include "sched/node_fragmentation.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sched/plugins/test_cluster.h"

namespace strata {
namespace {

using ::testing::ElementsAre;

struct Machines : TestCluster {
  // GPUs of `type` with 100 units of memory and of cores.
  NodeId AddMachine(const std::string& name, int gpus, const std::string& type = "T4") {
    NodeSpec spec;
    spec.name = name;
    spec.allocatable = Amounts({.cpu = 64, .memory = 512, .gpu = gpus * 10.0}, 110);
    spec.gpus.emplace();
    for (int i = 0; i < gpus; ++i) {
      Gpu& card = spec.gpus->gpus.emplace_back();
      card.uuid = name + "-" + std::to_string(i);
      card.index = i;
      card.slots = 10;
      card.memory_mib = 100;
      card.cores = 100;
      card.type = type;
      card.healthy = true;
    }
    return AddNode(std::move(spec));
  }
  [[nodiscard]] ClassSpec Share(std::int32_t percent) const {
    ClassSpec spec = ClassOf({.cpu = 1, .memory = 1, .gpu = 1});
    spec.gpus.emplace();
    spec.gpus->policy.order = {GpuOrder::kBinpack};
    spec.gpus->containers = {
        {.container = "main", .count = 1, .memory_percent = percent, .cores = percent}};
    return spec;
  }
  void Run(const std::string& node, const std::string& uuid, std::int32_t percent) {
    TaskSpec spec;
    spec.constraints = Share(percent);
    spec.gpus.containers = {{{.uuid = uuid, .memory_mib = percent, .cores = percent}}};
    AddTask(AddJob("ns/" + uuid, "q"), std::move(spec), node);
  }
};

TEST(IdleGpus, AreWhatIsLeftOfRegisteredOnes) {
  Machines c;
  const NodeId node = c.AddMachine("a", 3);
  c.Run("a", "a-1", 30);
  c.Run("a", "a-2", 100);
  const IdleGpus idle = IdleGpusOf(c.state, node);
  EXPECT_THAT(idle.gpus, ElementsAre(1000, 700, 0));
  EXPECT_EQ(idle.cpu_milli, 62'000);
  // Its policy gives the next share what is fullest.
  const auto after = IdleGpusAfter(c.state, node, c.Share(40));
  ASSERT_TRUE(after.has_value());
  EXPECT_THAT(after->gpus, ElementsAre(1000, 300, 0));
  EXPECT_FALSE(IdleGpusAfter(c.state,
                             node,
                             [&] {
                               ClassSpec two = c.Share(100);
                               two.gpus->containers[0].count = 2;
                               return two;
                             }())
                   .has_value());
}

TEST(IdleGpus, AreNotThoseOutOfOrder) {
  Machines c;
  NodeSpec spec = c.state.nodes().spec(c.AddMachine("a", 2));
  spec.gpus->gpus[0].healthy = false;
  EXPECT_THAT(IdleGpusOf(c.state, c.AddNode(spec)).gpus, ElementsAre(0, 1000));
}

TEST(IdleGpus, AreCountedWhereTheNodeRegistersNone) {
  TestCluster c;
  const NodeId node = c.AddNode("a", {.cpu = 8, .memory = 8, .gpu = 4});
  EXPECT_THAT(IdleGpusOf(c.state, node).gpus, ElementsAre(1000, 1000, 1000, 1000));
  const auto after = IdleGpusAfter(c.state, node, c.ClassOf({.cpu = 2, .memory = 1, .gpu = 3}));
  ASSERT_TRUE(after.has_value());
  EXPECT_THAT(after->gpus, ElementsAre(1000));
  EXPECT_EQ(after->cpu_milli, 6000);
  EXPECT_FALSE(
      IdleGpusAfter(c.state, node, c.ClassOf({.cpu = 1, .memory = 1, .gpu = 5})).has_value());
}

TEST(FragmentationMeter, WeighsTypicalPods) {
  Machines c;
  const NodeId node = c.AddMachine("a", 3);
  c.Run("a", "a-1", 30);
  c.Run("a", "a-2", 100);
  const auto of = [&](std::string_view pods) {
    return FragmentationMeter(ParseTypicalPods(pods).value()).Of(IdleGpusOf(c.state, node));
  };
  EXPECT_EQ(of("gpus=1,milli=500"), 0);
  EXPECT_EQ(of("gpus=1"), 700);
  EXPECT_EQ(of("gpus=2"), 1700);
  EXPECT_EQ(of("cpu=1"), 1700);
  EXPECT_EQ(of("gpus=1,milli=500,models=V100"), 1700);
  EXPECT_EQ(of("gpus=1,weight=3; gpus=2,weight=2"), 3 * 700 + 2 * 1700);
}

}  // namespace
}  // namespace strata
