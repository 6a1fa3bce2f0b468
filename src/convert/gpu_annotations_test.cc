#include "convert/gpu_annotations.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "convert/gpu_dialect.h"

namespace strata {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

const GpuNames& Texts() {
  return NamesOf(GpuDialect::kHami);
}

constexpr const char* kTwoGpus =
    R"([{"id":"GPU-b","index":1,"count":10,"devmem":81559,"devcore":100,)"
    R"("type":"NVIDIA A100","numa":1,"mode":"hami-core","health":true},)"
    R"({"id":"GPU-a","count":10,"devmem":81559,"devcore":100,"type":"NVIDIA A100","health":true}])";

Labels Register(const std::string& gpus, const std::string& scores = "") {
  Labels annotations = {{std::string(Texts().registered), gpus}};
  if (!scores.empty()) annotations.emplace(kGpuScoreAnnotation, scores);
  return annotations;
}

ReadGpus ReadTwo(const std::string& scores) {
  return *ReadNodeGpus(Register(kTwoGpus, scores));
}

TEST(NodeGpus, AreSortedByIndexAndMissingFieldsAreZero) {
  const auto read = ReadNodeGpus(Register(kTwoGpus));
  ASSERT_TRUE(read.has_value());
  ASSERT_THAT(read->node.gpus, SizeIs(2));
  EXPECT_EQ(read->node.gpus[0].uuid, "GPU-a");
  EXPECT_EQ(read->node.gpus[0].numa, 0);
  EXPECT_EQ(read->node.gpus[1].numa, 1);
  EXPECT_EQ(read->node.gpus[1].memory_mib, 81559);
  EXPECT_THAT(read->warnings, IsEmpty());
}

TEST(NodeGpus, AreEmptyWithoutTheAnnotation) {
  EXPECT_FALSE(ReadNodeGpus(Labels{}).has_value());
  EXPECT_THAT(ReadNodeGpus(Register("[]"))->node.gpus, IsEmpty());
}

TEST(NodeGpus, AreEmptyWithAProblemWhenTheAnnotationIsInvalid) {
  for (const char* text :
       {"",
        "[",
        "{}",
        "[null]",
        "[{}]",
        R"([{"id":""}])",
        R"([{"id":"a","count":-1}])",
        R"([{"id":"a","devmem":"much"}])",
        R"([{"id":"a"},{"id":"a"}])",
        R"([{"id":"a","migProfiles":[{"placements":[{"start":2147483647,"size":1}]}]}])",
        "GPU-a,10,81559,100,A100,0,true:"}) {
    const auto read = ReadNodeGpus(Register(text));
    ASSERT_TRUE(read.has_value()) << text;
    EXPECT_THAT(read->node.gpus, IsEmpty()) << text;
    EXPECT_THAT(read->node.hami.problem, HasSubstr("hami.io/node-nvidia-register: ")) << text;
    EXPECT_THAT(read->warnings, ElementsAre(HasSubstr("offers no GPUs"))) << text;
  }
}

TEST(NodeGpus, KnowWhichOfThemAreCordoned) {
  Labels annotations = Register(kTwoGpus);
  annotations.emplace(kGpuCordonAnnotation, "GPU-x, GPU-b ,");
  const auto read = ReadNodeGpus(annotations);
  EXPECT_FALSE(read->node.gpus[0].cordoned);
  EXPECT_TRUE(read->node.gpus[1].cordoned);
  EXPECT_THAT(read->warnings, ElementsAre(HasSubstr("device-cordon: GPU GPU-x is not registered")));
}

TEST(NodeGpus, HaveTheScoresOfTheirTable) {
  const ReadGpus read = ReadTwo(
      R"([{"uuid":"GPU-a","score":{"GPU-b":1810}},{"uuid":"GPU-b","score":{"GPU-a":1810}}])");
  EXPECT_EQ(read.node.scores.Get(0, 1), 1810);
  EXPECT_THAT(read.warnings, IsEmpty());
}

TEST(NodeGpus, TakeTheLowerDirectionAndReportIt) {
  const ReadGpus read =
      ReadTwo(R"([{"uuid":"GPU-a","score":{"GPU-b":410}},{"uuid":"GPU-b","score":{"GPU-a":-5}}])");
  EXPECT_EQ(read.node.scores.Get(0, 1), -5);
  EXPECT_THAT(read.warnings, ElementsAre(HasSubstr("differ by direction")));
}

TEST(NodeGpus, HaveNoTableWhenItIsBroken) {
  for (const char* text : {"[", "3", R"([{"uuid":"GPU-a","score":{"GPU-b":1.5}}])", "[null]"}) {
    const ReadGpus read = ReadTwo(text);
    EXPECT_THAT(read.node.gpus, SizeIs(2)) << text;
    EXPECT_EQ(read.node.scores.unknown().size(), 1U) << text;
    EXPECT_THAT(read.warnings, ElementsAre(HasSubstr("links are unknown"))) << text;
  }
}

TEST(NodeGpus, TreatScoresOutside32BitsAsUnknown) {
  for (const char* huge : {"2147483648", "-2147483649", "18446744073709551615"}) {
    const std::string text = std::string(R"([{"uuid":"GPU-a","score":{"GPU-b":)") + huge +
                             R"(}},{"uuid":"GPU-b","score":{"GPU-a":10}}])";
    EXPECT_EQ(ReadTwo(text).node.scores.unknown().size(), 1U) << huge;
  }
}

TEST(NodeGpus, IgnoreScoresOfUnregisteredGpusWithAWarning) {
  const ReadGpus read = ReadTwo(
      R"([{"uuid":"GPU-a","score":{"GPU-b":10,"GPU-x":9}},{"uuid":"GPU-b","score":{"GPU-a":10}},)"
      R"({"uuid":"GPU-y","score":{"GPU-a":3}}])");
  EXPECT_EQ(read.node.scores.Get(0, 1), 10);
  EXPECT_THAT(read.warnings, ElementsAre(HasSubstr("2 entries")));
}

// A pod with these init containers, of which "sidecar" is one, and `apps` others.
objects::PodSpec PodSpecOf(const std::vector<std::string>& init, std::size_t apps) {
  objects::PodSpec spec;
  for (const std::string& name : init) {
    objects::Container& container = spec.init_containers.emplace_back();
    container.name = name;
    container.sidecar = name == "sidecar";
  }
  spec.containers.resize(apps);
  return spec;
}

TEST(GpuClaim, KeepsTheSlotsOfContainersWithoutGpus) {
  const ReadClaim read = ReadGpuClaim(
      {{std::string(Texts().allocated), "GPU-a,NVIDIA,40000,50:GPU-b,NVIDIA,40000,50:;;"}}, {});
  ASSERT_THAT(read.claim.containers, SizeIs(2));
  EXPECT_THAT(read.claim.containers[0], SizeIs(2));
  EXPECT_EQ(read.claim.containers[0][1].uuid, "GPU-b");
  EXPECT_EQ(read.claim.containers[0][1].memory_mib, 40000);
  EXPECT_THAT(read.claim.containers[1], IsEmpty());
  EXPECT_THAT(read.warnings, IsEmpty());
}

TEST(GpuClaim, WithAnInvalidNumberHoldsTheWholeGpu) {
  const ReadClaim read =
      ReadGpuClaim({{std::string(Texts().allocated), "GPU-a,NVIDIA,much,50:;"}}, {});
  EXPECT_GT(read.claim.containers[0][0].memory_mib, 1'000'000'000);
  EXPECT_THAT(read.warnings, ElementsAre(HasSubstr("counts as the whole GPU")));
}

TEST(GpuClaim, OfAnItemWithoutNumbersHoldsTheWholeGpu) {
  const ReadClaim read =
      ReadGpuClaim({{std::string(Texts().allocated), " GPU-a : :;,NVIDIA,1,1:;"}}, {});
  ASSERT_THAT(read.claim.containers, SizeIs(2));
  ASSERT_THAT(read.claim.containers[0], SizeIs(1));
  EXPECT_EQ(read.claim.containers[0][0].uuid, "GPU-a");
  EXPECT_EQ(read.claim.containers[0][0].cores, 100);
  EXPECT_THAT(read.claim.containers[1], IsEmpty());
  EXPECT_THAT(read.warnings,
              ElementsAre(HasSubstr("counts as the whole GPU"), HasSubstr("names no GPU")));
}

TEST(GpuClaim, IsEmptyWhenNothingIsClaimed) {
  EXPECT_TRUE(ReadGpuClaim({}, {}).claim.empty());
  EXPECT_TRUE(ReadGpuClaim({{std::string(Texts().allocated), ";;"}}, PodSpecOf({"setup"}, 1))
                  .claim.empty());
}

TEST(GpuClaim, IsReadBackAsItWasWritten) {
  GpuClaim claim;
  claim.containers = {{},
                      {{.uuid = "GPU-a", .memory_mib = 9000, .cores = 30},
                       {.uuid = "GPU-m",
                        .memory_mib = 10240,
                        .cores = 14,
                        .mig_profile = "1g.10gb",
                        .mig_placement = {2, 1}}},
                      {}};
  claim.init_containers = {0};
  const Labels annotations = WriteGpuClaim(claim, "node-1");
  EXPECT_EQ(annotations.at(std::string(Texts().node)), "node-1");
  EXPECT_EQ(annotations.at(std::string(Texts().to_allocate)),
            ";GPU-a,NVIDIA,9000,30:GPU-m,NVIDIA,10240,14:;;");
  EXPECT_EQ(ReadGpuClaim(annotations, PodSpecOf({"setup"}, 2)).claim, claim);
}

TEST(GpuClaim, AnOddProfileNameIsStillJson) {
  GpuClaim claim;
  claim.containers = {{{.uuid = "GPU-m",
                        .memory_mib = 1,
                        .cores = 1,
                        .mig_profile = "1g\n\"x\"",
                        .mig_placement = {0, 1}}}};
  EXPECT_EQ(ReadGpuClaim(WriteGpuClaim(claim, "node-1"), PodSpecOf({}, 1)).claim, claim);
}

TEST(GpuClaim, KnowsWhichInitContainersAreSidecars) {
  const objects::PodSpec spec = PodSpecOf({"sidecar", "setup"}, 2);
  const auto init = [&](const std::string& text) {
    return ReadGpuClaim({{std::string(Texts().allocated), text}}, spec).claim.init_containers;
  };
  EXPECT_THAT(init("GPU-a,NVIDIA,1,1:;GPU-a,NVIDIA,1,1:;;;"), ElementsAre(1));
  EXPECT_THAT(init("GPU-a,NVIDIA,1,1:;GPU-a,NVIDIA,1,1:;;"), ElementsAre(0));
  EXPECT_THAT(init("GPU-a,NVIDIA,1,1:;GPU-a,NVIDIA,1,1:;"), IsEmpty());
}

}  // namespace
}  // namespace strata
