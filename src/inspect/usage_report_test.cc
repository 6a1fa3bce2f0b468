#include "inspect/usage_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "inspect/snapshot.h"
#include "whatif/cluster.h"

namespace strata::inspect {
namespace {

using testing::ElementsAre;

TEST(UsageReport, CountsRequestsAsTheSchedulerDoes) {
  const auto objects = ParseTexts(
      {R"({"apiVersion":"v1","kind":"Node","metadata":{"name":"n1"},"status":{"allocatable":{"cpu":"8","memory":"16Gi","pods":"10","nvidia.com/gpu":"2"}}})",
       R"({"apiVersion":"v1","kind":"Node","metadata":{"name":"n0"},"spec":{"unschedulable":true},"status":{"allocatable":{"cpu":"8","memory":"16Gi","pods":"10"}}})",
       R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","namespace":"default"},"spec":{"nodeName":"n1","schedulerName":"volcano","containers":[{"name":"c","image":"i","resources":{"requests":{"cpu":"6","nvidia.com/gpu":"2"}}}]},"status":{"phase":"Running"}})"});
  ASSERT_TRUE(objects) << objects.error().message;
  const auto cluster = BuildCluster(*objects);
  ASSERT_TRUE(cluster) << cluster.error().message;
  const UsageReport report = MakeUsageReport(*cluster->state);
  EXPECT_THAT(report.resources, ElementsAre("cpu", "memory", "pods", "nvidia.com/gpu"));
  EXPECT_THAT(report.used, ElementsAre(6000, 0, 1, 2000));
  const std::string table = RenderTable(report, {});
  EXPECT_EQ(
      table,
      "NODE       LEAF  CPU  OF  USED  MEMORY    OF  USED  PODS  OF  USED  GPU  OF  USED  NOTE\n"
      "n0         -       0   8    0%       0  16Gi    0%     0  10    0%    0   0     -  "
      "cordoned\n"
      "n1         -       6   8   75%       0  16Gi    0%     1  10   10%    2   2  100%\n"
      "(cluster)  -       6  16   38%       0  32Gi    0%     1  20    5%    2   2  100%\n"
      "\n" +
          table.substr(table.find("\nQUEUE") + 1));
  EXPECT_NE(table.find("\ndefault  Open     6"), std::string::npos) << table;
}

// Two GPUs that HAMi shares by ten: one is given away, a quarter of the other.
TEST(UsageReport, CountsSharedGpusAsGpus) {
  const auto pod = [](const std::string& name,
                      const std::string& limits,
                      const std::string& claim) {
    return R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":")" + name +
           R"(","namespace":"default","annotations":{"hami.io/vgpu-devices-allocated":")" + claim +
           R"("}},"spec":{"nodeName":"n0","schedulerName":"volcano","containers":[{"name":"c","image":"i","resources":{"limits":{)" +
           limits + R"(}}}]},"status":{"phase":"Running"}})";
  };
  const auto objects = ParseTexts(
      {R"json({"apiVersion":"v1","kind":"Node","metadata":{"name":"n0","annotations":{"hami.io/node-nvidia-register":"[{\"id\":\"GPU-0\",\"count\":10,\"devmem\":80000,\"devcore\":100,\"health\":true},{\"id\":\"GPU-1\",\"index\":1,\"count\":10,\"devmem\":80000,\"devcore\":100,\"health\":true}]"}},"status":{"allocatable":{"cpu":"8","memory":"16Gi","pods":"10","nvidia.com/gpu":"20"}}})json",
       pod("whole", R"("nvidia.com/gpu":"1")", "GPU-0,NVIDIA,80000,100:;"),
       pod("part", R"("nvidia.com/gpumem":"20000")", "GPU-1,NVIDIA,20000,0:;")});
  ASSERT_TRUE(objects) << objects.error().message;
  const auto cluster = BuildCluster(*objects);
  ASSERT_TRUE(cluster) << cluster.error().message;
  const UsageReport report = MakeUsageReport(*cluster->state);
  EXPECT_THAT(report.used, ElementsAre(0, 0, 2, 1250));
  EXPECT_THAT(report.allocatable, ElementsAre(8000, Amount{16} << 30U, 10, 2000));
}

}  // namespace
}  // namespace strata::inspect
