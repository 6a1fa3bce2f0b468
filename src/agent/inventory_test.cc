#include "agent/inventory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace strata::agent {
namespace {

// GPUs "u0", "u1", ..., each pair joined by `nvlinks` NVLinks; those in `unread` have no UUID.
nvml::ProbeReport Report(int gpus, int nvlinks, const std::set<int>& unread = {}) {
  nvml::ProbeReport report;
  report.driver = "580.1";
  report.links = LinkGraph(static_cast<std::size_t>(gpus));
  for (int i = 0; i < gpus; ++i) {
    nvml::ProbedGpu& gpu = report.gpus.emplace_back();
    gpu.index = i;
    if (unread.contains(i)) continue;
    gpu.uuid = "u" + std::to_string(i);
    gpu.name = "NVIDIA H200";
    gpu.memory_mib = 143'771;
    gpu.minor = 10 + i;
    for (int j = 0; j < gpus; ++j) {
      if (i == j || unread.contains(j)) continue;
      report.links.Set(static_cast<std::size_t>(i),
                       static_cast<std::size_t>(j),
                       {.pcie = PcieLevel::kNode, .nvlinks = nvlinks});
    }
  }
  return report;
}

GpuHealth AllAnswer(const std::vector<std::string>& uuids) {
  GpuHealth health{HealthRules{}};
  health.TakeAnswers(uuids, {});
  return health;
}

TEST(Inventory, IsTheMachineAsItWasRead) {
  Inventory inventory;
  inventory.Take(Report(2, 18));
  const Machine machine = inventory.MachineNow(AllAnswer({"u0", "u1"}), 10);
  ASSERT_EQ(machine.node.gpus.size(), 2U);
  EXPECT_EQ(machine.node.gpus[1].uuid, "u1");
  EXPECT_EQ(machine.node.gpus[1].slots, 10);
  EXPECT_TRUE(machine.node.gpus[1].healthy);
  EXPECT_THAT(machine.minors, ::testing::ElementsAre(10, 11));
  EXPECT_EQ(machine.driver, "580.1");
  EXPECT_EQ(machine.node.scores, Report(2, 18).links.Scores());
}

TEST(Inventory, KeepsAGpuThatIsGoneAndItsLinks) {
  Inventory inventory;
  inventory.Take(Report(3, 18));
  inventory.Take(Report(3, 18, {1}));
  GpuHealth health = AllAnswer({"u0", "u1", "u2"});
  health.TakeAnswers(std::vector<std::string>{"u0", "u2"}, {});
  health.TakeAnswers(std::vector<std::string>{"u0", "u2"}, {});
  const Machine machine = inventory.MachineNow(health, 1);
  ASSERT_EQ(machine.node.gpus.size(), 3U);
  EXPECT_FALSE(machine.node.gpus[1].healthy);
  EXPECT_EQ(machine.node.gpus[1].memory_mib, 143'771);
  EXPECT_TRUE(machine.node.gpus[2].healthy);
  EXPECT_EQ(machine.node.scores, Report(3, 18).links.Scores());
}

TEST(Inventory, HasLinksAsTheyWereReadLast) {
  Inventory inventory;
  inventory.Take(Report(2, 18));
  inventory.Take(Report(2, 17));
  EXPECT_EQ(inventory.MachineNow(AllAnswer({"u0", "u1"}), 1).node.scores,
            Report(2, 17).links.Scores());
}

TEST(Inventory, HasTheCliqueThatAllGpusAgreeOn) {
  nvml::ProbeReport report = Report(2, 18);
  report.gpus[0].clique = report.gpus[1].clique = "c.1";
  Inventory one;
  one.Take(report);
  EXPECT_EQ(one.MachineNow(AllAnswer({}), 1).clique, "c.1");
  report.gpus[1].clique = "c.2";
  Inventory two;
  two.Take(report);
  EXPECT_EQ(two.MachineNow(AllAnswer({}), 1).clique, "");
}

}  // namespace
}  // namespace strata::agent
