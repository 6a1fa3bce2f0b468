#include "model/gpu_amounts.h"

#include <optional>

#include <gtest/gtest.h>

namespace strata {
namespace {

Gpu Card(std::int64_t memory_mib, std::int32_t cores = 100) {
  Gpu gpu;
  gpu.uuid = "GPU-a";
  gpu.memory_mib = memory_mib;
  gpu.cores = cores;
  gpu.type = "NVIDIA A100";
  gpu.mode = "hami-core";
  gpu.healthy = true;
  return gpu;
}

ContainerGpuRequest Share(std::int32_t count, std::int64_t memory_mib, std::int32_t cores = 0) {
  return {.container = "main", .count = count, .memory_mib = memory_mib, .cores = cores};
}

GpuRequest Pod(std::vector<ContainerGpuRequest> containers) {
  GpuRequest pod;
  pod.containers = std::move(containers);
  return pod;
}

TEST(PartOf, IsTheLargerOfMemoryAndCores) {
  EXPECT_EQ(PartOf(Card(80'000), 8'000, 0), 100);
  EXPECT_EQ(PartOf(Card(80'000), 8'000, 30), 300);
  EXPECT_EQ(PartOf(Card(80'000), 40'000, 30), 500);
}

TEST(PartOf, IsRoundedUpToAThousandth) {
  EXPECT_EQ(PartOf(Card(81'920), 1, 0), 1);
  EXPECT_EQ(PartOf(Card(81'920), 30'000, 0), 367);  // 366.2
  EXPECT_EQ(PartOf(Card(81'920), 0, 0), 0);
}

TEST(PartOf, IsNeverMoreThanTheGpu) {
  EXPECT_EQ(PartOf(Card(80'000), std::int64_t{1} << 40U, 100), kWholeGpu);
  EXPECT_EQ(PartOf(Card(0, 0), 1, 0), kWholeGpu);
}

TEST(PartOf, MeasuresCoresByWhatTheGpuOffers) {
  EXPECT_EQ(PartOf(Card(80'000, 200), 0, 100), 500);  // cores are overcommitted twice
}

TEST(TakesShares, IsTrueOfMemoryButNotOfWholeGpus) {
  EXPECT_FALSE(Pod({{.container = "main", .count = 2, .cores = 100}}).TakesShares());
  EXPECT_FALSE(Pod({{.container = "main", .count = 2, .cores = 30}}).TakesShares());  // all memory
  EXPECT_TRUE(Pod({Share(1, 8'000)}).TakesShares());
  EXPECT_TRUE(Pod({{.container = "main", .count = 1, .memory_percent = 50}}).TakesShares());
  EXPECT_FALSE(Pod({{.container = "main", .count = 0, .memory_percent = 50}}).TakesShares());
}

TEST(AmountOn, CountsEveryGpuOfEveryContainer) {
  EXPECT_EQ(AmountOn(Pod({Share(2, 20'000), Share(1, 8'000)}), Card(80'000)), 600);
  EXPECT_EQ(AmountOn(Pod({{.container = "main", .count = 1, .memory_percent = 50}}), Card(80'001)),
            500);
  EXPECT_EQ(AmountOn(Pod({{.container = "main", .count = 3, .cores = 30}}), Card(80'000)), 3000);
}

TEST(AmountOn, CountsAnInitContainerOnlyWhereItIsMore) {
  ContainerGpuRequest sidecar = Share(1, 8'000);
  ContainerGpuRequest init = Share(1, 40'000);
  init.init = true;
  EXPECT_EQ(AmountOn(Pod({sidecar, init, Share(1, 16'000)}), Card(80'000)), 600);
  EXPECT_EQ(AmountOn(Pod({sidecar, init, Share(1, 80'000)}), Card(80'000)), 1100);
}

TEST(AmountOn, IsNoneForGpusThatCannotServeThePod) {
  EXPECT_EQ(AmountOn(Pod({Share(1, 80'001)}), Card(80'000)), std::nullopt);
  EXPECT_EQ(AmountOn(Pod({Share(1, 1, 50)}), Card(80'000, 40)), std::nullopt);
  GpuRequest pod = Pod({Share(1, 8'000)});
  pod.use_types = {"h100"};
  EXPECT_EQ(AmountOn(pod, Card(80'000)), std::nullopt);
  pod.use_types = {"a100"};
  EXPECT_EQ(AmountOn(pod, Card(80'000)), 100);
}

TEST(AmountOn, IsTheInstanceOfAMigGpu) {
  Gpu gpu = Card(80'000);
  gpu.mode = "mig";
  gpu.mig_profiles = {
      {.name = "3g.40gb", .memory_mib = 40'000, .cores = 42, .placements = {{0, 4}, {4, 4}}},
      {.name = "1g.10gb", .memory_mib = 10'000, .cores = 14, .placements = {{0, 1}}}};
  EXPECT_EQ(AmountOn(Pod({Share(1, 8'000)}), gpu), 140);
  EXPECT_EQ(AmountOn(Pod({Share(1, 11'000)}), gpu), 500);
  EXPECT_EQ(AmountOn(Pod({Share(1, 41'000)}), gpu), std::nullopt);
}

TEST(AmountOfClaim, IsByTheGpusThatThePodGot) {
  NodeGpus node;
  node.gpus = {Card(80'000), Card(16'000)};
  node.gpus[1].uuid = "GPU-b";
  GpuClaim claim;
  claim.containers = {
      {{.uuid = "GPU-a", .memory_mib = 8'000}}, {{.uuid = "GPU-b", .memory_mib = 8'000}}, {}};
  EXPECT_EQ(AmountOf(claim, node), 600);
  claim.init_containers = {1};
  EXPECT_EQ(AmountOf(claim, node), 600);  // beside the first, which is a sidecar then
  claim.init_containers = {0, 1};
  EXPECT_EQ(AmountOf(claim, node), 500);
}

TEST(AmountOfClaim, IsNoneWhereSomethingIsNotKnown) {
  NodeGpus node;
  node.gpus = {Card(80'000)};
  GpuClaim claim;
  EXPECT_EQ(AmountOf(claim, node), std::nullopt);
  claim.containers = {{{.uuid = "GPU-a", .memory_mib = 8'000}}, {{.uuid = "GPU-gone"}}};
  EXPECT_EQ(AmountOf(claim, node), std::nullopt);
}

TEST(AmountOfNode, IsWhatWorksAndMayBeUsed) {
  NodeGpus node;
  node.gpus = {Card(80'000), Card(80'000), Card(80'000)};
  EXPECT_EQ(AmountOf(node), 3000);
  node.gpus[0].healthy = false;
  node.gpus[2].cordoned = true;
  EXPECT_EQ(AmountOf(node), 1000);
}

}  // namespace
}  // namespace strata
