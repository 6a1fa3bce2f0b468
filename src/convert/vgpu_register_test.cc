#include "convert/vgpu_register.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "convert/gpu_annotations.h"

namespace strata {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr const char* kTwoVgpus =
    "GPU-b,10,16384,NVIDIA-Tesla T4,true,hami-core:GPU-a,10,16384,NVIDIA-Tesla T4,false,:";
constexpr const char* kHamisTwo =
    R"([{"id":"GPU-a","index":0,"count":10,"devmem":16384,"devcore":100,"health":true},)"
    R"({"id":"GPU-b","index":1,"count":10,"devmem":16000,"devcore":100,"health":true}])";

objects::Node NodeWith(Labels annotations, const char* memory = "32768") {
  objects::Node node;
  node.meta.annotations = std::move(annotations);
  node.allocatable = {{"volcano.sh/vgpu-number", *Quantity::Parse("20")},
                      {"volcano.sh/vgpu-memory", *Quantity::Parse(memory)},
                      {"volcano.sh/vgpu-cores", *Quantity::Parse("200")}};
  return node;
}

TEST(VgpuRegister, IsReadInItsOrder) {
  std::vector<Gpu> gpus;
  EXPECT_EQ(ReadVgpuRegister(kTwoVgpus, gpus), "");
  ASSERT_THAT(gpus, SizeIs(2));
  EXPECT_EQ(gpus[0].uuid, "GPU-b");
  EXPECT_EQ(gpus[0].index, 0);
  EXPECT_EQ(gpus[0].slots, 10);
  EXPECT_EQ(gpus[0].memory_mib, 16'384);
  EXPECT_EQ(gpus[0].cores, 100);
  EXPECT_EQ(gpus[0].type, "NVIDIA-Tesla T4");
  EXPECT_TRUE(gpus[0].healthy);
  EXPECT_FALSE(gpus[1].healthy);
  EXPECT_EQ(gpus[1].mode, "hami-core") << "the default";
  EXPECT_TRUE(gpus[0].IsIn(GpuDialect::kVolcano));
  EXPECT_FALSE(gpus[0].IsIn(GpuDialect::kHami));
}

TEST(VgpuRegister, IsBelievedAsAWholeOrNotAtAll) {
  for (const char* text : {"",
                           "::",
                           "GPU-a",
                           "GPU-a,10,16384,T4,true:",
                           ",10,16384,T4,true,:",
                           "GPU-a,-1,16384,T4,true,:",
                           "GPU-a,10,much,T4,true,:",
                           "GPU-a,10,16384,T4,well,:",
                           "GPU-a,10,16384,T4,true,:GPU-a,10,16384,T4,true,:"}) {
    const auto read = ReadNodeGpus(NodeWith({{"volcano.sh/node-vgpu-register", text}}));
    ASSERT_TRUE(read.has_value()) << text;
    EXPECT_THAT(read->node.gpus, IsEmpty()) << text;
    EXPECT_THAT(read->node.volcano.problem, HasSubstr("annotation volcano.sh/node-vgpu-register: "))
        << text;
    EXPECT_THAT(read->warnings, ElementsAre(HasSubstr("offers no GPUs"))) << text;
  }
}

TEST(VgpuRegister, CountsOnlyWhereTheKubeletHandsSomethingOut) {
  const auto read = ReadNodeGpus(NodeWith({{"volcano.sh/node-vgpu-register", kTwoVgpus}}, "0"));
  EXPECT_THAT(read->node.gpus, IsEmpty());
  EXPECT_EQ(read->node.volcano.problem, "status.allocatable has no volcano.sh/vgpu-memory");
  EXPECT_THAT(read->warnings, IsEmpty());
}

TEST(VgpuRegister, AGpuOfBothDialectsIsOneWithTheSmallerAmounts) {
  const auto read = ReadNodeGpus(NodeWith(
      {{"volcano.sh/node-vgpu-register", kTwoVgpus}, {"hami.io/node-nvidia-register", kHamisTwo}}));
  ASSERT_THAT(read->node.gpus, SizeIs(2));
  const Gpu& a = read->node.gpus[0];
  const Gpu& b = read->node.gpus[1];
  EXPECT_EQ(a.uuid, "GPU-a");
  EXPECT_FALSE(a.healthy) << "in one of them";
  EXPECT_EQ(b.memory_mib, 16'000);
  EXPECT_TRUE(b.in_hami && b.in_volcano);
  EXPECT_THAT(read->warnings, ElementsAre(HasSubstr("GPU GPU-b has 10 shares and 16000 MiB in")));
}

TEST(VgpuRegister, OneThatCannotBeReadLeavesTheOtherDialectAlone) {
  const auto read = ReadNodeGpus(NodeWith(
      {{"volcano.sh/node-vgpu-register", "?"}, {"hami.io/node-nvidia-register", kHamisTwo}}));
  EXPECT_THAT(read->node.gpus, SizeIs(2));
  EXPECT_EQ(read->node.hami.problem, "");
  EXPECT_THAT(read->node.volcano.problem, HasSubstr("found \"?\""));
  EXPECT_FALSE(read->node.gpus[0].in_volcano);
  EXPECT_EQ(read->node.scores.size(), 2U);
}

// ---- records ----

objects::PodSpec VgpuPodSpec(std::size_t containers) {
  objects::PodSpec spec;
  spec.init_containers.resize(1);
  spec.containers.resize(containers);
  spec.containers[0].requests = {{"volcano.sh/vgpu-number", *Quantity::Parse("1")}};
  return spec;
}

TEST(VgpuRecord, HasTheSlotsOfContainersJoined) {
  GpuClaim claim;
  claim.dialect = GpuDialect::kVolcano;
  claim.containers = {{{.uuid = "GPU-a", .memory_mib = 8000, .cores = 30},
                       {.uuid = "GPU-b", .memory_mib = 8000, .cores = 30}},
                      {}};
  const Labels record = WriteGpuClaim(claim, "n");
  const std::string text = "GPU-a,NVIDIA,8000,30:GPU-b,NVIDIA,8000,30:;";
  EXPECT_EQ(record,
            (Labels{{"volcano.sh/vgpu-node", "n"},
                    {"volcano.sh/vgpu-ids-new", text},
                    {"volcano.sh/devices-to-allocate", text}}));
  const ReadClaim read = ReadGpuClaim(record, VgpuPodSpec(2));
  EXPECT_EQ(read.claim, claim);
  EXPECT_THAT(read.warnings, IsEmpty());
}

TEST(VgpuRecord, IsReadByTheNamesOfThePodsResources) {
  const Labels both = {{"volcano.sh/vgpu-ids-new", "GPU-a,NVIDIA,1,1:"},
                       {"hami.io/vgpu-devices-allocated", "GPU-b,NVIDIA,1,1:;"}};
  EXPECT_EQ(ReadGpuClaim(both, VgpuPodSpec(1)).claim.containers.at(0).at(0).uuid, "GPU-a");
  EXPECT_EQ(ReadGpuClaim(both, {}).claim.containers.at(0).at(0).uuid, "GPU-b");
}

TEST(VgpuRecord, IsErasedInEveryDialect) {
  Labels annotations = {{"volcano.sh/vgpu-ids-new", "x"},
                        {"volcano.sh/devices-to-allocate", "x"},
                        {"hami.io/vgpu-node", "n"},
                        {"team", "a"}};
  EraseGpuClaim(annotations);
  EXPECT_EQ(annotations, (Labels{{"team", "a"}}));
}

}  // namespace
}  // namespace strata
