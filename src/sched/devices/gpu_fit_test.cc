#include "sched/devices/gpu_fit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/gpu_machines.h"

namespace strata {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using Positions = std::vector<std::size_t>;

ContainerGpuRequest Whole(std::int32_t count) {
  return {.container = "main", .count = count, .cores = 100};
}
ContainerGpuRequest Part(std::int32_t count, std::int64_t memory_mib, std::int32_t cores) {
  return {.container = "main",
          .count = count,
          .memory_mib = memory_mib,
          .memory_percent = 0,
          .cores = cores};
}

GpuRequest Asking(std::vector<ContainerGpuRequest> containers) {
  GpuRequest pod;
  pod.containers = std::move(containers);
  pod.policy.order = {GpuOrder::kSpread};
  return pod;
}

GpuRequest AskingBest(std::vector<ContainerGpuRequest> containers) {
  GpuRequest pod = Asking(std::move(containers));
  pod.policy.topology_aware = true;
  return pod;
}

// A node and what is used of it.
struct Box {
  NodeGpus node;
  std::vector<GpuUsage> usage;

  explicit Box(const std::string& machine)
      : node(MakeNodeGpus(*FindGpuMachine(machine), "n")), usage(node.gpus.size()) {}

  Box& Use(const Positions& gpus, std::int64_t memory_mib, std::int32_t cores) {
    for (const std::size_t at : gpus) {
      usage[at].Add({.uuid = node.gpus[at].uuid, .memory_mib = memory_mib, .cores = cores});
    }
    return *this;
  }
  Box& UseWhole(const Positions& gpus) { return Use(gpus, node.gpus[0].memory_mib, 100); }

  [[nodiscard]] GpuFit Fit(const GpuRequest& pod) const { return FitGpus(pod, node, usage); }
  // Positions that the container of that index got.
  [[nodiscard]] Positions Gets(const GpuRequest& pod, std::size_t container = 0) const {
    const GpuFit fit = Fit(pod);
    Positions positions;
    if (!fit.claim) return positions;
    for (const GpuShare& share : fit.claim->containers[container]) {
      positions.push_back(*node.Find(share.uuid));
    }
    return positions;
  }
};

TEST(FitGpus, TakesTheBestConnectedFreeSet) {
  Box box("dgx1v");
  EXPECT_THAT(box.Gets(AskingBest({Whole(2)})), ElementsAre(2, 3));
  EXPECT_THAT(box.UseWhole({2}).Gets(AskingBest({Whole(2)})), ElementsAre(6, 7));
  EXPECT_EQ(box.Fit(AskingBest({Whole(2)})).score, 250);
}

TEST(FitGpus, TakesTheGpuThatDoesLeastDamage) {
  EXPECT_THAT(Box("dgx1v").UseWhole({0, 1, 2}).Gets(AskingBest({Whole(1)})), ElementsAre(3));
}

TEST(FitGpus, GivesContainersTheirGpusInTurn) {
  const Box box("dgx1v");
  const GpuRequest pod = AskingBest({Whole(2), Whole(0), Whole(2)});
  EXPECT_THAT(box.Gets(pod, 0), ElementsAre(2, 3));
  EXPECT_THAT(box.Gets(pod, 1), IsEmpty());
  EXPECT_THAT(box.Gets(pod, 2), ElementsAre(6, 7));
}

TEST(FitGpus, LetsInitContainersUseWhatTheOthersGetLater) {
  GpuRequest pod = Asking({Whole(8), Whole(8)});
  pod.containers[0].init = true;
  const GpuFit fit = Box("dgx1v").Fit(pod);
  ASSERT_TRUE(fit.claim.has_value());
  EXPECT_THAT(fit.claim->init_containers, ElementsAre(0));
  EXPECT_THAT(fit.claim->containers[1], SizeIs(8));
}

TEST(FitGpus, DoesNotGiveTheGpusOfASidecarToLaterContainers) {
  const Box box("dgx1v");
  GpuRequest pod = Asking({Whole(2), Whole(6), Whole(6)});  // a sidecar, an init container, an app
  pod.containers[1].init = true;
  EXPECT_THAT(box.Fit(pod).claim->init_containers, ElementsAre(1));
  const Positions sidecar = box.Gets(pod, 0);
  for (const std::size_t other : {1U, 2U}) {
    for (const std::size_t at : box.Gets(pod, other)) {
      EXPECT_THAT(sidecar, Not(Contains(at))) << "container " << other;
    }
  }
  pod.containers[2].count = 7;
  EXPECT_FALSE(box.Fit(pod).claim.has_value());
}

TEST(FitGpus, WithSpreadTakesTheLeastUsedAndWithBinpackTheMostUsed) {
  Box box("a100br4");
  box.Use({1}, 1000, 10).Use({2}, 2000, 10);
  GpuRequest pod = Asking({Part(1, 1000, 10)});
  EXPECT_THAT(box.Gets(pod), ElementsAre(3));
  pod.policy.order = {GpuOrder::kBinpack};
  EXPECT_THAT(box.Gets(pod), ElementsAre(2));
  pod.weights = {1, 0, 0};  // 1 and 2 are equal by slots: the higher NUMA node
  EXPECT_THAT(box.Gets(pod), ElementsAre(2));
}

TEST(FitGpus, FollowsAChainOfPoliciesInItsOrder) {
  Box box("a100br4");
  box.Use({0}, 1000, 10);
  GpuRequest pod = Asking({Part(1, 1000, 10)});
  pod.policy = {.order = {GpuOrder::kNuma, GpuOrder::kBinpack}, .chain = true};
  EXPECT_THAT(box.Gets(pod), ElementsAre(2));
  pod.policy.order = {GpuOrder::kBinpack, GpuOrder::kNuma};
  EXPECT_THAT(box.Gets(pod), ElementsAre(0));
}

TEST(FitGpus, WithMutexTakesUnusedGpusOnly) {
  Box box("a100br4");
  box.Use({0, 1, 2}, 1000, 10);
  GpuRequest pod = Asking({Part(2, 1000, 10)});
  pod.policy.unused_only = true;
  EXPECT_EQ(box.Fit(pod).reason,
            "1/4 AllocatedCardsInsufficientRequest, 3/4 ExclusiveDeviceAllocateConflict");
  pod.containers[0].count = 1;
  EXPECT_THAT(box.Gets(pod), ElementsAre(3));
}

TEST(FitGpus, TakesTheBestSetOfAnyOneNumaNode) {
  Box box("dgx1v");
  box.UseWhole({4, 5, 6});  // the last NUMA node cannot hold it, the first can
  GpuRequest pod = AskingBest({Whole(2)});
  pod.numa_bind = true;
  EXPECT_THAT(box.Gets(pod), ElementsAre(2, 3));
  pod.policy.topology_aware = false;
  EXPECT_THAT(box.Gets(pod), ElementsAre(0, 1));
}

TEST(FitGpus, CannotBindAcrossNumaNodes) {
  GpuRequest pod = AskingBest({Whole(2)});
  pod.numa_bind = true;
  EXPECT_EQ(Box("nv4pairs").Fit(pod).reason, "8/8 NumaNotFit");
}

TEST(FitGpus, CountsGpusByTheFirstCheckTheyFail) {
  Box box("pcie8");
  box.node.gpus[0].healthy = false;
  box.node.gpus[1].cordoned = true;
  box.node.gpus[2].type = "NVIDIA T4";
  box.Use({4}, 46000, 10);
  box.Use({5}, 10, 80);
  for (int i = 0; i < 10; ++i) box.Use({6}, 1, 1);
  box.Use({7}, 10, 100);
  GpuRequest pod = Asking({Part(1, 5000, 50)});
  pod.use_types = {"l40"};
  pod.avoid_uuids = {"GPU-n-3"};
  EXPECT_EQ(box.Fit(pod).reason,
            "1/8 CardCordoned, 2/8 CardInsufficientCore, 1/8 CardInsufficientMemory, "
            "1/8 CardNotHealth, 1/8 CardTimeSlicingExhausted, "
            "1/8 CardTypeMismatch (want l40, found NVIDIA T4), 1/8 CardUuidMismatch");
  box.Use({5}, 46000, 0);
  pod.containers = {Part(1, 5000, 0)};
  EXPECT_THAT(box.Fit(pod).reason, ::testing::HasSubstr("1/8 CardComputeUnitsExhausted"));
}

TEST(FitGpus, AGpuThatIsWantedAsAWholeAndUsedIsInUse) {
  Box box("t4x4");
  box.Use({0}, 1000, 0);
  box.node.gpus[1].slots = 1;
  box.Use({1}, 15360, 100);
  box.Use({2}, 15360, 0);
  EXPECT_EQ(box.Fit(Asking({Whole(2)})).reason,
            "1/4 AllocatedCardsInsufficientRequest, 3/4 CardInUse");
  EXPECT_EQ(box.Fit(Asking({Part(4, 15000, 0)})).reason,
            "1/4 AllocatedCardsInsufficientRequest, 1/4 CardInUse, 2/4 CardInsufficientMemory");
}

TEST(FitGpus, AMismatchNamesWhatIsWantedAndWhatIsFound) {
  Box box("t4x4");
  box.node.gpus[0].type = "NVIDIA A100";
  GpuRequest pod = Asking({Whole(1)});
  pod.use_types = {"h100", "h200"};
  EXPECT_EQ(
      box.Fit(pod).reason,
      "4/4 CardTypeMismatch (want h100 or h200, found NVIDIA A100, " + box.node.gpus[1].type + ")");
  pod.use_types = {};
  pod.avoid_types = {"nvidia", "t4"};
  EXPECT_THAT(box.Fit(pod).reason, ::testing::HasSubstr("(want not nvidia or t4, found"));
}

TEST(FitGpus, SharesAGpuUntilItsMemoryIsGone) {
  Box box("t4x4");  // 15360 MiB each
  const GpuRequest pod = Asking({Part(1, 7000, 0)});
  EXPECT_EQ(CountGpuFits(pod, box.node, box.usage, 100), 8U);
  GpuRequest percent = Asking({{.container = "main", .count = 1, .memory_percent = 30}});
  EXPECT_EQ(CountGpuFits(percent, box.node, box.usage, 100), 12U);
  EXPECT_EQ(CountGpuFits(percent, box.node, box.usage, 5), 5U);
}

TEST(FitGpus, GivesAnExclusiveGpuToOneOnly) {
  Box box("t4x4");
  box.Use({0}, 1000, 0);
  EXPECT_EQ(CountGpuFits(Asking({Whole(1)}), box.node, box.usage, 100), 3U);
}

TEST(FitGpus, ReportsThatABetterSetMayExist) {
  Box box("t4x4");
  EXPECT_TRUE(box.Fit(AskingBest({Whole(2)})).claim->proven);
  // 64 GPUs whose links have no order, so that no bound helps.
  constexpr std::size_t kSize = 64;
  std::vector<std::optional<std::int32_t>> directed(kSize * kSize);
  for (std::size_t i = 0; i < kSize * kSize; ++i) {
    const std::size_t a = i / kSize;
    const std::size_t b = i % kSize;
    directed[i] = static_cast<std::int32_t>((a * 31 + b * 31 + a * b * 7) % 97);
  }
  box.node.gpus.resize(kSize, box.node.gpus[0]);
  for (std::size_t i = 0; i < kSize; ++i) box.node.gpus[i].uuid = "GPU-" + std::to_string(i);
  box.node.scores = PairScores(kSize, directed);
  box.usage.resize(kSize);
  EXPECT_FALSE(box.Fit(AskingBest({Whole(32)})).claim->proven);
  EXPECT_TRUE(box.Fit(Asking({Whole(32)})).claim->proven);  // no set was looked for
}

TEST(CountGpuFits, CountsSharesGpuByGpu) {
  // Four GPUs with room for two halves each: eight halves, two for each pod.
  Box box("t4x4");
  const std::int64_t half = box.node.gpus[0].memory_mib / 2;
  EXPECT_EQ(CountGpuFits(Asking({Part(2, half, 0)}), box.node, box.usage, 100), 4U);
  box.Use({0, 1, 2}, half * 2, 0);  // two halves of one GPU are not two GPUs
  EXPECT_EQ(CountGpuFits(Asking({Part(2, half, 0)}), box.node, box.usage, 100), 0U);
  EXPECT_EQ(CountGpuFits(Asking({Part(1, half, 0)}), box.node, box.usage, 100), 2U);
}

TEST(CountGpuFits, WithNumaBindingCountsEachNumaNodeByItself) {
  Box box("a100br4");  // NUMA nodes {0, 1} and {2, 3}
  GpuRequest pod = Asking({Whole(2)});
  pod.numa_bind = true;
  EXPECT_EQ(CountGpuFits(pod, box.node, box.usage, 100), 2U);
  EXPECT_EQ(CountGpuFits(pod, box.node, box.UseWhole({1, 2}).usage, 100), 0U);
  pod.numa_bind = false;
  EXPECT_EQ(CountGpuFits(pod, box.node, box.usage, 100), 1U);
}

Box MigBox() {
  Box box("a100br4");
  for (Gpu& gpu : box.node.gpus) {
    gpu.mode = "mig";
    gpu.slots = 7;
    gpu.mig_profiles = {{.name = "3g.40gb",
                         .memory_mib = 40'000,
                         .cores = 43,
                         .placements = {{.start = 0, .size = 4}, {.start = 4, .size = 4}}},
                        {.name = "1g.10gb",
                         .memory_mib = 10'000,
                         .cores = 14,
                         .placements = {{0, 1}, {1, 1}, {2, 1}, {3, 1}, {4, 1}, {5, 1}, {6, 1}}}};
  }
  return box;
}

TEST(FitGpus, TakesTheSmallestMigInstanceThatIsLargeEnough) {
  const Box box = MigBox();
  const GpuFit fit = box.Fit(Asking({Part(3, 8000, 0)}));
  ASSERT_TRUE(fit.claim.has_value());
  const auto& shares = fit.claim->containers[0];
  ASSERT_THAT(shares, SizeIs(3));
  EXPECT_EQ(shares[0].uuid, shares[2].uuid);
  EXPECT_EQ(shares[0].mig_profile, "1g.10gb");
  EXPECT_EQ(shares[0].mig_placement.start, 6);
  EXPECT_EQ(shares[1].mig_placement.start, 5);
  EXPECT_EQ(box.Fit(Asking({Part(1, 20'000, 0)})).claim->containers[0][0].mig_profile, "3g.40gb");
}

TEST(FitGpus, FindsNoPlaceOnAFullMigGpu) {
  Box box = MigBox();
  box.node.gpus.resize(1);
  box.node.scores = PairScores(1, {std::nullopt});
  box.usage.resize(1);
  EXPECT_EQ(CountGpuFits(Asking({Part(1, 20'000, 0)}), box.node, box.usage, 10), 2U);
  EXPECT_EQ(CountGpuFits(Asking({Part(1, 8'000, 0)}), box.node, box.usage, 10), 7U);
  EXPECT_EQ(box.Fit(Asking({Part(1, 50'000, 0)})).reason, "1/1 CardMigTopologyInfeasible");
  box.usage[0].slots = 1;  // used, nobody knows where
  EXPECT_EQ(box.Fit(Asking({Part(1, 8'000, 0)})).reason, "1/1 CardNotHealth");
}

TEST(FitGpus, DoesNotFitOnANodeWithTooFewGpus) {
  Box box("t4x4");
  EXPECT_EQ(box.Fit(Asking({Whole(5)})).reason, "NodeInsufficientDevice");
  box.node.gpus.clear();
  box.usage.clear();
  EXPECT_EQ(box.Fit(Asking({Whole(1)})).reason, "NodeInsufficientDevice");
}

}  // namespace
}  // namespace strata
