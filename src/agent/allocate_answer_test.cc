#include "agent/allocate_answer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agent/test_pods.h"

namespace strata::agent {
namespace {

using ::testing::ElementsAre;
using testing::G;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

Machine AnswerMachine() {
  Machine machine;
  machine.node = testing::EightGpus();
  machine.minors = {0, 1, 2, 3, 7, 6, -1, 4};
  return machine;
}

ServedContainer TwoGpus() {
  return {.pod_uid = "uid-a",
          .container = "main",
          .shares = {{.uuid = G(5), .memory_mib = 1000, .cores = 30},
                     {.uuid = G(2), .memory_mib = std::int64_t{1} << 40, .cores = 30}},
          .limited = true,
          .disables_control = false,
          .cache_name = "c1"};
}

TEST(AllocateAnswer, ShowsTheGpusInOrder) {
  const AllocateAnswer answer = AnswerFor(AnswerMachine(), TwoGpus(), {});
  EXPECT_THAT(answer.environment, ElementsAre(Pair("NVIDIA_VISIBLE_DEVICES", G(5) + "," + G(2))));
  EXPECT_THAT(answer.mounts, IsEmpty());
  EXPECT_THAT(answer.device_nodes, IsEmpty());
  EXPECT_THAT(answer.cdi_devices, IsEmpty());
  EXPECT_EQ(answer.cache_folder, "");
}

TEST(AllocateAnswer, NamesCdiDevices) {
  AnswerOptions options;
  options.strategy = AnswerOptions::Strategy::kCdi;
  options.gdrcopy = true;
  options.imex_channels = {0};
  const AllocateAnswer answer = AnswerFor(AnswerMachine(), TwoGpus(), options);
  EXPECT_THAT(answer.environment, IsEmpty());
  EXPECT_THAT(answer.cdi_devices,
              ElementsAre("k8s.device-plugin.nvidia.com/gpu=" + G(5),
                          "k8s.device-plugin.nvidia.com/gpu=" + G(2),
                          "k8s.device-plugin.nvidia.com/imex-channel=0",
                          "k8s.device-plugin.nvidia.com/gdrcopy=all"));
}

TEST(AllocateAnswer, NamesAllCdiDevicesOfTheMachine) {
  AnswerOptions options;
  EXPECT_THAT(CdiNamesOf(AnswerMachine(), options), IsEmpty());
  options.strategy = AnswerOptions::Strategy::kCdi;
  options.cdi_vendor = "nvidia.com";
  options.cdi_class = "card";
  options.imex_channels = {3};
  const std::vector<std::string> names = CdiNamesOf(AnswerMachine(), options);
  ASSERT_EQ(names.size(), 9U);
  EXPECT_EQ(names.front(), "nvidia.com/card=" + G(0));
  EXPECT_EQ(names.back(), "nvidia.com/imex-channel=3");
}

TEST(AllocateAnswer, PassesDeviceNodesByMinorNumber) {
  AnswerOptions options;
  options.pass_device_nodes = true;
  options.common_device_nodes = {"/dev/nvidiactl"};
  EXPECT_THAT(AnswerFor(AnswerMachine(), TwoGpus(), options).device_nodes,
              ElementsAre("/dev/nvidiactl", "/dev/nvidia6", "/dev/nvidia2"));
}

TEST(AllocateAnswer, LimitsSharesAsHamiDoes) {
  AnswerOptions options;
  options.shares = ShareOptions{.oversubscribe = true, .limit_cores = false, .log_level = "1"};
  const AllocateAnswer answer = AnswerFor(AnswerMachine(), TwoGpus(), options);
  const std::int64_t whole = AnswerMachine().node.gpus[2].memory_mib;
  EXPECT_THAT(
      answer.environment,
      UnorderedElementsAre(Pair("NVIDIA_VISIBLE_DEVICES", G(5) + "," + G(2)),
                           Pair("CUDA_DEVICE_MEMORY_LIMIT_0", "1000m"),
                           Pair("CUDA_DEVICE_MEMORY_LIMIT_1", std::to_string(whole) + "m"),
                           Pair("CUDA_DEVICE_SM_LIMIT", "30"),
                           Pair("CUDA_DEVICE_MEMORY_SHARED_CACHE", "/usr/local/vgpu/c1.cache"),
                           Pair("CUDA_OVERSUBSCRIBE", "true"),
                           Pair("LIBCUDA_LOG_LEVEL", "1"),
                           Pair("GPU_CORE_UTILIZATION_POLICY", "disable")));
  EXPECT_EQ(answer.cache_folder, "/usr/local/vgpu/containers/uid-a_main");
  EXPECT_THAT(answer.mounts,
              ElementsAre(Mount{"/usr/local/vgpu/libvgpu.so", "/usr/local/vgpu/libvgpu.so", true},
                          Mount{"/usr/local/vgpu", "/usr/local/vgpu/containers/uid-a_main", false},
                          Mount{"/tmp/vgpulock", "/tmp/vgpulock", false},
                          Mount{"/etc/ld.so.preload", "/usr/local/vgpu/ld.so.preload", true}));
  ServedContainer free = TwoGpus();
  free.disables_control = true;
  EXPECT_EQ(AnswerFor(AnswerMachine(), free, options).mounts.size(), 3U);
}

TEST(AllocateAnswer, DoesNotLimitAPodWithoutARecord) {
  AnswerOptions options;
  options.shares = ShareOptions{};
  ServedContainer served = TwoGpus();
  served.limited = false;
  EXPECT_THAT(AnswerFor(AnswerMachine(), served, options).mounts, IsEmpty());
}

TEST(AllocateAnswer, PathsConsistOfHarmlessCharacters) {
  for (const char* good : {"a", "8dcd427f-5a3c", "a.b_c", "..a"}) {
    EXPECT_TRUE(IsPathPart(good)) << good;
  }
  for (const char* bad : {"", ".", "..", "a/b", "a b", "\n"}) EXPECT_FALSE(IsPathPart(bad)) << bad;
}

}  // namespace
}  // namespace strata::agent
