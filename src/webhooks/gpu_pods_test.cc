#include "webhooks/gpu_pods.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace strata::webhooks {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

json Pod(const json& limits) {
  return {{"metadata", {{"name", "p"}}},
          {"spec",
           {{"schedulerName", "volcano"},
            {"containers", json::array({{{"name", "c"}, {"resources", {{"limits", limits}}}}})}}}};
}

GpuVerdict Complete(json& pod) {
  return CompleteGpuPod({"volcano", "strata"}, pod);
}

json LimitsAfter(const json& limits) {
  json pod = Pod(limits);
  const GpuVerdict verdict = Complete(pod);
  EXPECT_EQ(verdict.refusal, std::nullopt);
  return pod["spec"]["containers"][0]["resources"]["limits"];
}

// HAMi's rules, one pod a line: what the container says, and what it says afterwards.
TEST(GpuPods, AreCompletedAsHamiCompletesThem) {
  const json table = json::parse(R"([
    [{"cpu": 1}, {"cpu": 1}],
    [{"nvidia.com/gpu": 2}, {"nvidia.com/gpu": 2, "nvidia.com/gpucores": "100"}],
    [{"nvidia.com/gpu": "2", "nvidia.com/gpucores": 30}, {"nvidia.com/gpu": "2", "nvidia.com/gpucores": 30}],
    [{"nvidia.com/gpu": 1, "nvidia.com/gpumem": 3000}, {"nvidia.com/gpu": 1, "nvidia.com/gpumem": 3000}],
    [{"nvidia.com/gpu": 1, "nvidia.com/gpumem-percentage": 100},
     {"nvidia.com/gpu": 1, "nvidia.com/gpumem-percentage": 100, "nvidia.com/gpucores": "100"}],
    [{"nvidia.com/gpu": 1, "nvidia.com/gpumem-percentage": 50}, {"nvidia.com/gpu": 1, "nvidia.com/gpumem-percentage": 50}],
    [{"nvidia.com/gpumem": 3000}, {"nvidia.com/gpu": "1", "nvidia.com/gpumem": 3000}],
    [{"nvidia.com/gpucores": 30}, {"nvidia.com/gpu": "1", "nvidia.com/gpucores": 30}],
    [{"nvidia.com/gpumem-percentage": "40"}, {"nvidia.com/gpu": "1", "nvidia.com/gpumem-percentage": "40"}],
    [{"nvidia.com/gpumem-percentage": "100"},
     {"nvidia.com/gpu": "1", "nvidia.com/gpumem-percentage": "100", "nvidia.com/gpucores": "100"}]
  ])");
  for (const json& row : table) EXPECT_EQ(LimitsAfter(row[0]), row[1]) << row[0];
}

TEST(GpuPods, ASecondLookChangesNothing) {
  json pod = Pod({{"nvidia.com/gpumem", 3000}, {"nvidia.com/priority", 1}});
  ASSERT_FALSE(Complete(pod).refusal);
  json again = pod;
  ASSERT_FALSE(Complete(again).refusal);
  EXPECT_EQ(again, pod);
}

TEST(GpuPods, InitContainersAreCompletedToo) {
  json pod = Pod({{"cpu", 1}});
  pod["spec"]["initContainers"] = pod["spec"]["containers"];
  pod["spec"]["initContainers"][0]["resources"]["limits"] = {{"nvidia.com/gpumem", 1}};
  ASSERT_FALSE(Complete(pod).refusal);
  EXPECT_EQ(pod["spec"]["initContainers"][0]["resources"]["limits"]["nvidia.com/gpu"], "1");
}

TEST(GpuPods, APriorityBecomesAVariableUnlessTheUserSetIt) {
  json pod = Pod({{"nvidia.com/gpu", 1}, {"nvidia.com/priority", 0}});
  ASSERT_FALSE(Complete(pod).refusal);
  EXPECT_EQ(pod["spec"]["containers"][0]["env"],
            json::array({{{"name", "CUDA_TASK_PRIORITY"}, {"value", "0"}}}));
  pod["spec"]["containers"][0]["env"][0]["value"] = "1";
  ASSERT_FALSE(Complete(pod).refusal);
  EXPECT_EQ(pod["spec"]["containers"][0]["env"][0]["value"], "1");
}

TEST(GpuPods, ForgedRecordsAreRemovedAndRequestsStay) {
  json pod = Pod({{"cpu", 1}});
  pod["metadata"]["annotations"] = {{"hami.io/vgpu-devices-allocated", "x"},
                                    {"hami.io/vgpu-devices-to-allocate", "x"},
                                    {"hami.io/vgpu-node", "n"},
                                    {"hami.io/bind-phase", "success"},
                                    {"volcano.sh/vgpu-ids-new", "x"},
                                    {"volcano.sh/vgpu-node", "n"},
                                    {"volcano.sh/devices-to-allocate", "x"},
                                    {"volcano.sh/bind-time", "1"},
                                    {"volcano.sh/vgpu-mode", "hami-core"},
                                    {"nvidia.com/use-gputype", "H200"},
                                    {"hami.io/gpu-scheduler-policy", "topology-aware"}};
  ASSERT_FALSE(Complete(pod).refusal);
  EXPECT_EQ(pod["metadata"]["annotations"],
            json({{"volcano.sh/vgpu-mode", "hami-core"},
                  {"nvidia.com/use-gputype", "H200"},
                  {"hami.io/gpu-scheduler-policy", "topology-aware"}}));
}

TEST(GpuPods, OfOtherSchedulersStayAsTheyAre) {
  json pod = Pod({{"nvidia.com/gpumem", 3000}});
  pod["spec"]["schedulerName"] = "default-scheduler";
  const json before = pod;
  ASSERT_FALSE(Complete(pod).refusal);
  EXPECT_EQ(pod, before);
  pod["metadata"]["annotations"] = {{"hami.io/vgpu-node", "n"}};
  ASSERT_FALSE(Complete(pod).refusal);
  EXPECT_EQ(pod["metadata"]["annotations"], json::object()) << "nobody may write records";
}

TEST(GpuPods, APercentageMustBeOne) {
  json pod = Pod({{"nvidia.com/gpumem-percentage", 101}});
  EXPECT_EQ(Complete(pod).refusal,
            "container c: limit nvidia.com/gpumem-percentage: 101 is not a percentage from 0 to "
            "100");
}

TEST(GpuPods, APrivilegedContainerIsAWarning) {
  json pod = Pod({{"nvidia.com/gpu", 1}});
  pod["spec"]["containers"][0]["securityContext"]["privileged"] = true;
  const GpuVerdict verdict = Complete(pod);
  EXPECT_EQ(verdict.refusal, std::nullopt);
  EXPECT_THAT(verdict.warnings, ElementsAre(HasSubstr("container c is privileged")));
  json without = Pod({{"cpu", 1}});
  without["spec"]["containers"][0]["securityContext"]["privileged"] = true;
  EXPECT_THAT(Complete(without).warnings, IsEmpty());
}

TEST(GpuPods, MayNotChooseTheirNode) {
  json pod = Pod({{"nvidia.com/gpu", 1}});
  pod["spec"]["nodeName"] = "n";
  EXPECT_THAT(Complete(pod).refusal.value_or(""), HasSubstr("spec.nodeName"));
  json without = Pod({{"cpu", 1}});
  without["spec"]["nodeName"] = "n";
  EXPECT_EQ(Complete(without).refusal, std::nullopt);
}

TEST(GpuPods, OddObjectsDoNotMatter) {
  for (
      const char* text :
      {"{}",
       "null",
       "[]",
       R"({"spec":{"schedulerName":"volcano","containers":3}})",
       R"({"spec":{"schedulerName":"volcano","containers":[1,{"resources":7}]}})",
       R"({"metadata":{"annotations":[]},"spec":{"schedulerName":"volcano"}})",
       R"({"spec":{"schedulerName":"volcano","containers":[{"resources":{"limits":{"nvidia.com/gpumem-percentage":"x"}}}]}})"}) {
    json pod = json::parse(text);
    EXPECT_EQ(Complete(pod).refusal, std::nullopt) << text;
  }
}

}  // namespace
}  // namespace strata::webhooks
