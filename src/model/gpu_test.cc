#include "model/gpu.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace strata {
namespace {

NodeGpus TwoGpus() {
  NodeGpus node;
  node.gpus.resize(2);
  node.gpus[0].uuid = "GPU-a";
  node.gpus[1].uuid = "GPU-b";
  return node;
}

// A sidecar, an init container behind it, and the app: the sidecar runs beside both.
GpuClaim SidecarInitApp() {
  GpuClaim claim;
  claim.containers = {{{.uuid = "GPU-a", .memory_mib = 1000, .cores = 10}},
                      {{.uuid = "GPU-a", .memory_mib = 5000, .cores = 20}},
                      {{.uuid = "GPU-b", .memory_mib = 3000, .cores = 50}}};
  claim.init_containers = {1};
  return claim;
}

TEST(AddClaim, CountsAnInitContainerWithTheSidecarsBeforeIt) {
  std::vector<GpuUsage> usage(2);
  AddClaim(TwoGpus(), SidecarInitApp(), usage);
  EXPECT_EQ(usage[0], (GpuUsage{.slots = 2, .memory_mib = 6000, .cores = 30, .mig = {}}));
  EXPECT_EQ(usage[1], (GpuUsage{.slots = 1, .memory_mib = 3000, .cores = 50, .mig = {}}));
}

TEST(AddClaim, DoesNotCountAnInitContainerWithWhatStartsBehindIt) {
  GpuClaim claim = SidecarInitApp();
  claim.init_containers = {0, 1};
  claim.containers[2][0].uuid = "GPU-a";
  std::vector<GpuUsage> usage(2);
  AddClaim(TwoGpus(), claim, usage);
  EXPECT_EQ(usage[0], (GpuUsage{.slots = 1, .memory_mib = 5000, .cores = 50, .mig = {}}));
  EXPECT_EQ(usage[1], GpuUsage{});
}

TEST(TotalOf, IsThatOfTheFullestMoment) {
  const GpuClaim claim = SidecarInitApp();
  EXPECT_EQ(TotalOf(claim), (GpuTotals{.gpus = 2, .memory_mib = 6000, .cores = 60}));
}

}  // namespace
}  // namespace strata
