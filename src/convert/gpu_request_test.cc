#include "convert/gpu_request.h"

#include <optional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace strata {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;
using Amounts = std::map<std::string, std::string>;

objects::Container ContainerWith(const Amounts& limits) {
  objects::Container container;
  container.name = "main";
  for (const auto& [name, text] : limits) {
    container.limits.emplace("nvidia.com/" + name, *Quantity::Parse(text));
  }
  container.requests = container.limits;
  return container;
}

objects::Pod PodWith(const Amounts& limits, Labels annotations = {}) {
  objects::Pod pod;
  pod.spec.containers = {ContainerWith(limits)};
  pod.meta.annotations = std::move(annotations);
  return pod;
}

ContainerGpuRequest RequestOf(const Amounts& limits) {
  return ReadGpuRequest(PodWith(limits), nullptr)->containers.front();
}

TEST(GpuRequest, IsEmptyForAPodWithoutGpus) {
  EXPECT_FALSE(ReadGpuRequest(PodWith({}), nullptr).has_value());
  EXPECT_FALSE(ReadGpuRequest(PodWith({{"gpu", "0"}}), nullptr).has_value());
}

TEST(GpuRequest, OfWholeGpusIsExclusive) {
  EXPECT_EQ(RequestOf({{"gpu", "4"}}),
            (ContainerGpuRequest{.container = "main", .count = 4, .cores = 100}));
  EXPECT_EQ(RequestOf({{"gpu", "1"}, {"gpumem-percentage", "100"}}).cores, 100);
}

TEST(GpuRequest, OfAShareIsNotExclusive) {
  EXPECT_EQ(RequestOf({{"gpu", "2"}, {"gpumem", "5k"}}),
            (ContainerGpuRequest{
                .container = "main", .count = 2, .memory_mib = 5000, .memory_percent = 0}));
  EXPECT_EQ(
      RequestOf({{"gpu", "1"}, {"gpumem-percentage", "30"}, {"gpucores", "400"}}),
      (ContainerGpuRequest{.container = "main", .count = 1, .memory_percent = 30, .cores = 100}));
  EXPECT_EQ(RequestOf({{"gpu", "1"}, {"gpucores", "0"}}).cores, 0);
}

TEST(GpuRequest, WithAnInvalidNumberHasAProblem) {
  for (const Amounts& limits : {Amounts{{"gpu", "1"}, {"gpumem", "500m"}},
                                Amounts{{"gpu", "1"}, {"gpumem", "3e9"}},
                                Amounts{{"gpu", "1"}, {"gpumem-percentage", "101"}},
                                Amounts{{"gpu", "1"}, {"gpucores", "1500m"}}}) {
    const auto request = ReadGpuRequest(PodWith(limits), nullptr);
    EXPECT_THAT(request->problem, HasSubstr("container main: nvidia.com/gpu"));
    EXPECT_THAT(request->problem, HasSubstr("want a whole number"));
  }
}

TEST(GpuRequest, CountsOneWhereOnlySharesAreNamed) {
  objects::Pod pod = PodWith({{"gpumem", "4000"}});
  EXPECT_TRUE(LacksGpuCounts(pod.spec));
  AddDefaultGpuCounts(pod.spec);
  EXPECT_FALSE(LacksGpuCounts(pod.spec));
  EXPECT_EQ(ReadGpuRequest(pod, nullptr)->containers.front().count, 1);
}

TEST(GpuRequest, HasEveryContainerInitContainersFirst) {
  objects::Pod pod = PodWith({{"gpu", "1"}});
  pod.spec.init_containers = {ContainerWith({})};
  pod.spec.init_containers[0].name = "setup";
  const auto request = ReadGpuRequest(pod, nullptr);
  ASSERT_THAT(request->containers, SizeIs(2));
  EXPECT_EQ(request->containers[0].container, "setup");
  EXPECT_TRUE(request->containers[0].init);
  EXPECT_EQ(request->containers[0].count, 0);
}

TEST(GpuRequest, DoesNotTakeASidecarForAnInitContainer) {
  objects::Pod pod = PodWith({{"gpu", "1"}});
  pod.spec.init_containers = {ContainerWith({{"gpu", "1"}}), ContainerWith({{"gpu", "1"}})};
  pod.spec.init_containers[0].sidecar = true;
  const auto request = ReadGpuRequest(pod, nullptr);
  EXPECT_FALSE(request->containers[0].init);
  EXPECT_TRUE(request->containers[1].init);
}

TEST(GpuRequest, ReadsPoliciesAndTheirChains) {
  const auto policy = [](const std::string& text) {
    return ReadGpuRequest(PodWith({{"gpu", "1"}}, {{"hami.io/gpu-scheduler-policy", text}}),
                          nullptr)
        ->policy;
  };
  EXPECT_THAT(policy("").order, ElementsAre(GpuOrder::kSpread));
  EXPECT_THAT(policy("binpack").order, ElementsAre(GpuOrder::kBinpack));
  EXPECT_FALSE(policy("binpack").chain);
  EXPECT_TRUE(policy("topology-aware").topology_aware);
  EXPECT_TRUE(policy("mutex").unused_only);
  EXPECT_THAT(policy("topology-aware, numa,binpack").order,
              ElementsAre(GpuOrder::kNuma, GpuOrder::kBinpack));
  EXPECT_TRUE(policy("topology-aware, numa,binpack").topology_aware);
  EXPECT_TRUE(policy("numa").chain);
}

TEST(GpuRequest, WarnsOfUnknownPolicies) {
  std::vector<std::string> warnings;
  static_cast<void>(ReadGpuRequest(PodWith({{"gpu", "1"}},
                                           {{"hami.io/gpu-scheduler-policy", "fastest"},
                                            {"hami.io/node-scheduler-policy", "far"}}),
                                   &warnings));
  EXPECT_THAT(warnings, ElementsAre(HasSubstr("\"fastest\""), HasSubstr("\"far\"")));
}

TEST(GpuRequest, NeedsAllThreeWeights) {
  const auto read = [](const std::string& text) {
    return *ReadGpuRequest(PodWith({{"gpu", "1"}}, {{"hami.io/device-scoring-weights", text}}),
                           nullptr);
  };
  EXPECT_EQ(read("slot=1,core=2,memory=3").weights, (GpuScoreWeights{1, 2, 3}));
  for (const char* bad : {"",
                          "slot=1,core=1",
                          "slot=0,core=0,memory=0",
                          "slot=-1,core=1,memory=1",
                          "slot=1x,core=1,memory=1",
                          "slot=1.9,core=1,memory=1",
                          "slot=,core=1,memory=1",
                          "slot=1,slot=2,core=1,memory=1",
                          "slot=99999999999999999999,core=1,memory=1"}) {
    EXPECT_THAT(read(bad).problem, HasSubstr("want slot=N,core=N,memory=N")) << bad;
  }
}

TEST(GpuRequest, ReadsListsAndNumaBinding) {
  const auto request = ReadGpuRequest(PodWith({{"gpu", "1"}},
                                              {{"nvidia.com/use-gputype", "A100, H100"},
                                               {"nvidia.com/nouse-gpuuuid", "GPU-a"},
                                               {"nvidia.com/numa-bind", "true"}}),
                                      nullptr);
  EXPECT_THAT(request->use_types, ElementsAre("a100", "h100"));
  EXPECT_THAT(request->avoid_uuids, ElementsAre("GPU-a"));
  EXPECT_TRUE(request->numa_bind);
  EXPECT_THAT(
      ReadGpuRequest(PodWith({{"gpu", "1"}}, {{"nvidia.com/numa-bind", "perhaps"}}), nullptr)
          ->problem,
      HasSubstr("numa-bind"));
}

TEST(MinGpus, AreTheSharesThatMinResourcesSumUp) {
  const auto read = [](const Amounts& amounts) {
    const auto request = ReadMinGpus(ContainerWith(amounts).limits);
    return request ? std::optional(request->containers.front()) : std::nullopt;
  };
  EXPECT_EQ(read({{"gpu", "10"}}), std::nullopt);
  EXPECT_EQ(read({{"gpumem", "80000"}}), std::nullopt);
  EXPECT_EQ(read({{"gpu", "10"}, {"gpucores", "300"}}), std::nullopt);  // all of the memory
  EXPECT_EQ(read({{"gpu", "10"}, {"gpumem-percentage", "1000"}}), std::nullopt);
  EXPECT_EQ(read({{"gpu", "10"}, {"gpumem", "80001"}, {"gpucores", "300"}}),
            (ContainerGpuRequest{.container = "", .count = 10, .memory_mib = 8001, .cores = 30}));
  EXPECT_EQ(read({{"gpu", "10"}, {"gpumem-percentage", "500"}}),
            (ContainerGpuRequest{.container = "", .count = 10, .memory_percent = 50}));
}

// ---- Volcano's dialect ----

objects::Pod VgpuPod(const Amounts& limits, Labels annotations = {}) {
  objects::Pod pod = PodWith({}, std::move(annotations));
  for (const auto& [name, text] : limits) {
    pod.spec.containers[0].limits.emplace("volcano.sh/vgpu-" + name, *Quantity::Parse(text));
  }
  pod.spec.containers[0].requests = pod.spec.containers[0].limits;
  return pod;
}

TEST(VgpuRequest, IsInTheDialectOfItsResources) {
  const auto request =
      ReadGpuRequest(VgpuPod({{"number", "2"}, {"memory", "8000"}, {"cores", "30"}}), nullptr);
  ASSERT_TRUE(request.has_value());
  EXPECT_EQ(request->dialect, GpuDialect::kVolcano);
  EXPECT_THAT(
      request->containers,
      ElementsAre(ContainerGpuRequest{
          .container = "main", .count = 2, .memory_mib = 8000, .memory_percent = 0, .cores = 30}));
  EXPECT_TRUE(request->policy.order.empty()) << "the configuration says it";
  EXPECT_EQ(request->node_policy, GpuNodePolicy::kAsConfigured);
  EXPECT_FALSE(ReadGpuRequest(VgpuPod({{"number", "0"}}), nullptr).has_value());
}

TEST(VgpuRequest, OfWholeGpusIsNotExclusiveAndAPercentageBeatsMemory) {
  EXPECT_EQ(ReadGpuRequest(VgpuPod({{"number", "1"}}), nullptr)->containers[0],
            (ContainerGpuRequest{.container = "main", .count = 1}));
  const auto both = ReadGpuRequest(
      VgpuPod({{"number", "1"}, {"memory", "8000"}, {"memory-percentage", "25"}}), nullptr);
  EXPECT_EQ(both->containers[0].memory_mib, 0);
  EXPECT_EQ(both->containers[0].memory_percent, 25);
}

TEST(VgpuRequest, ReadsTheWishesOfItsDialect) {
  const auto request = ReadGpuRequest(VgpuPod({{"number", "1"}},
                                              {{"volcano.sh/vgpu-use-gpuuuid", "GPU-a,GPU-b"},
                                               {"volcano.sh/vgpu-nouse-gpuuuid", "GPU-c"},
                                               {"nvidia.com/use-gpuuuid", "GPU-x"},
                                               {"nvidia.com/use-gputype", "A100"},
                                               {"volcano.sh/vgpu-mode", "hami-core"},
                                               {"volcano.sh/vgpu-podgroup-policy", "spread"},
                                               {"hami.io/gpu-scheduler-policy", "topology-aware"},
                                               {"scheduling.k8s.io/group-name", "g"}}),
                                      nullptr);
  EXPECT_THAT(request->use_uuids, ElementsAre("GPU-a", "GPU-b"));
  EXPECT_THAT(request->avoid_uuids, ElementsAre("GPU-c"));
  EXPECT_THAT(request->use_types, ElementsAre("a100"));
  EXPECT_EQ(request->mode, "hami-core");
  EXPECT_EQ(request->spread_group, "/g");
  EXPECT_TRUE(request->policy.topology_aware);
}

TEST(VgpuRequest, OfWhatIsNotSupportedHasAProblem) {
  objects::Pod init = VgpuPod({{"number", "1"}});
  init.spec.init_containers = init.spec.containers;
  EXPECT_THAT(ReadGpuRequest(init, nullptr)->problem,
              HasSubstr("not supported in init containers"));
  EXPECT_THAT(ReadGpuRequest(VgpuPod({{"number", "1"}, {"cores", "150"}}), nullptr)->problem,
              HasSubstr("volcano.sh/vgpu-cores 150: want a whole number from 0 to 100"));
  EXPECT_THAT(ReadGpuRequest(VgpuPod({{"number", "1"}}, {{"volcano.sh/vgpu-mode", "mig"}}), nullptr)
                  ->problem,
              HasSubstr("mig is not supported"));
  objects::Pod both = VgpuPod({{"number", "1"}});
  both.spec.containers.push_back(ContainerWith({{"gpu", "1"}}));
  EXPECT_EQ(ReadGpuRequest(both, nullptr)->problem,
            "requests both nvidia.com/gpu and volcano.sh/vgpu-number (want one of them)");
}

TEST(VgpuRequest, WithoutACountIsForOneGpu) {
  objects::Pod pod = VgpuPod({{"memory", "8000"}});
  EXPECT_TRUE(LacksGpuCounts(pod.spec));
  AddDefaultGpuCounts(pod.spec);
  EXPECT_FALSE(LacksGpuCounts(pod.spec));
  EXPECT_EQ(ReadGpuRequest(pod, nullptr)->containers[0].count, 1);
}

TEST(VgpuRequest, OfAPodGroupCountsInItsDialect) {
  const auto request = ReadMinGpus({{"volcano.sh/vgpu-number", *Quantity::Parse("10")},
                                    {"volcano.sh/vgpu-memory", *Quantity::Parse("80000")}});
  ASSERT_TRUE(request.has_value());
  EXPECT_EQ(request->dialect, GpuDialect::kVolcano);
  EXPECT_EQ(request->containers[0].memory_mib, 8000);
  EXPECT_TRUE(ReadMinGpus({{"volcano.sh/vgpu-number", *Quantity::Parse("2")}}).has_value());
}

}  // namespace
}  // namespace strata
