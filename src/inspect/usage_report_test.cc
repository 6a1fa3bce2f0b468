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
  EXPECT_THAT(report.free, ElementsAre(2000, Amount{16} << 30U, 9, 0));
  const std::string table = RenderTable(report, {});
  EXPECT_EQ(
      table.substr(0, table.find("\nQUEUE")),
      "NAME       NODES  CPU  FREE  OF  USED  MEMORY  FREE    OF  USED  PODS  FREE  OF  USED  GPU  "
      "FREE  OF  USED  NOTE\n"
      "(cluster)      2    6     2  16   38%       0  16Gi  32Gi    0%     1     9  20    5%    2  "
      "   0   2  100%  1 cordoned\n"
      "├─ n0               0     0   8    0%       0     0  16Gi    0%     0     0  10    0%    0  "
      "   0   0     -  cordoned\n"
      "└─ n1               6     2   8   75%       0  16Gi  16Gi    0%     1     9  10   10%    2  "
      "   0   2  100%\n");
  EXPECT_NE(table.find("\ndefault  Open     6"), std::string::npos) << table;
}

TEST(UsageReport, RollsUpTheTreeAndFitsATerminalOf80Columns) {
  std::vector<std::string> texts;
  for (int i = 1; i <= 10; ++i) {
    texts.push_back(
        R"({"apiVersion":"v1","kind":"Node","metadata":{"name":"n)" + std::to_string(i) +
        R"("},"status":{"allocatable":{"cpu":"96","memory":"1024Gi","pods":"110","nvidia.com/gpu":"8"}}})");
    texts.push_back(
        R"({"apiVersion":"topology.volcano.sh/v1alpha1","kind":"HyperNode","metadata":{"name":"rack-)" +
        std::to_string(i) +
        R"("},"spec":{"tier":1,"members":[{"type":"Node","selector":{"exactMatch":{"name":"n)" +
        std::to_string(i) + R"("}}}]}})");
  }
  const auto objects = ParseTexts({texts.begin(), texts.end()});
  ASSERT_TRUE(objects) << objects.error().message;
  const auto cluster = BuildCluster(*objects);
  ASSERT_TRUE(cluster) << cluster.error().message;
  UsageReport report = MakeUsageReport(*cluster->state, objects->hypernodes);
  ASSERT_EQ(report.rows.size(), 21U);
  EXPECT_EQ(report.rows[3].name, "rack-2");
  EXPECT_EQ(report.rows[4].name, "n2");
  UsageReport rolled = report;
  ASSERT_TRUE(Narrow({.under = {}, .depth = 1}, rolled));
  EXPECT_EQ(rolled.rows.size(), 11U);
  EXPECT_EQ(rolled.hidden, 10U);
  ASSERT_TRUE(Narrow({.under = "rack-10", .depth = {}}, report));
  ASSERT_EQ(report.nodes.size(), 1U);
  EXPECT_EQ(report.nodes[0].name, "n10");
  const std::string narrow = RenderTable(report, {.width = 80, .fit = true});
  EXPECT_EQ(narrow.substr(0, narrow.find("\nQUEUE")),
            "NAME     NODES  CPU  FREE  OF  MEMORY  FREE   OF  GPU  FREE  OF  NOTE\n"
            "rack-10      1    0    96  96       0   1Ti  1Ti    0     8   8\n"
            "└─ n10            0    96  96       0   1Ti  1Ti    0     8   8\n");
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
