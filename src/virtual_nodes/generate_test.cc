#include "virtual_nodes/generate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "objects/load.h"
#include "virtual_nodes/seen.h"

namespace strata::virtual_nodes {
namespace {

using Json = nlohmann::json;
using ::testing::HasSubstr;

std::string ErrorOf(const char* text) {
  const auto spec = ParseGenerateSpec(text);
  return spec ? "fine" : spec.error().message;
}

Json Find(const std::vector<GeneratedObject>& objects, const std::string& name) {
  for (const GeneratedObject& object : objects) {
    if (object.name == name) return Json::parse(object.body);
  }
  return {};
}

std::vector<GeneratedObject> Make(const char* spec) {
  return GenerateCluster(ParseGenerateSpec(spec).value(), Time(Duration(0)));
}

TEST(GenerateSpec, SaysWhatIsWrongInOneLine) {
  EXPECT_THAT(ErrorOf(""), HasSubstr("want spines=S"));
  EXPECT_THAT(ErrorOf("spines=1,racks=1"), HasSubstr("nodes: missing"));
  EXPECT_THAT(ErrorOf("spines=0,racks=1,nodes=1"), HasSubstr("spines: want a number from 1"));
  EXPECT_THAT(ErrorOf("spines=1,racks=1,nodes=-3"), HasSubstr("nodes: want a number"));
  EXPECT_THAT(ErrorOf("spines=1,racks=1,nodes=1,nodes=2"), HasSubstr("nodes: given twice"));
  EXPECT_THAT(ErrorOf("spines=1,racks=1,nodes=1,disks=2"), HasSubstr("unknown key \"disks\""));
  EXPECT_THAT(ErrorOf("spines=1,racks=1,nodes=1,cpu=many"), HasSubstr("cpu: "));
  EXPECT_THAT(ErrorOf("spines=1,racks=1,nodes=1,memory=-1"), HasSubstr("memory: must not be"));
  EXPECT_THAT(ErrorOf("spines=1,racks=1,nodes=1,gpus=0"), HasSubstr("gpus: want a number from 1"));
  EXPECT_THAT(ErrorOf("spines=1,racks=1,nodes=1,gpus=dgx1v"), HasSubstr("or NUMBER:MODEL"));
  EXPECT_THAT(ErrorOf("spines=1,racks=1,nodes=1,gpus=9999"), HasSubstr("from 1 to 1024"));
  EXPECT_THAT(ErrorOf("spines=1,racks=1,nodes=1,gpus=8:toaster"), HasSubstr("dgx1v"));
  EXPECT_THAT(ErrorOf("spines=1,racks=1,nodes=1,gpus=9:dgx1v"), HasSubstr("1 to 8 GPUs"));
  EXPECT_THAT(ErrorOf("spines=99999,racks=99999,nodes=99999"), HasSubstr("more than 100000"));
  EXPECT_EQ(ErrorOf("nodes=2,racks=2,spines=2,memory=8Gi,cpu=4,gpus=4:dgx1v"), "fine");
}

TEST(GenerateCluster, CountsThroughFromZero) {
  //   spine-0: rack-0 (0 1) rack-1 (2 3)    spine-1: rack-2 (4 5) rack-3 (6 7)
  const auto objects = Make("spines=2,racks=2,nodes=2");
  EXPECT_EQ(objects.size(), 8U + 4U + 2U);
  const Json node = Find(objects, "node-5");
  EXPECT_EQ(node["metadata"]["labels"]["strata.sh/rack"], "rack-2");
  EXPECT_EQ(node["metadata"]["labels"]["strata.sh/spine"], "spine-1");
  EXPECT_EQ(node["metadata"]["labels"]["strata.sh/virtual"], "true");
  EXPECT_EQ(node["status"]["allocatable"],
            Json::parse(R"({"cpu":"96","memory":"1Ti","pods":"110"})"));
  const Json rack = Find(objects, "rack-3")["spec"];
  EXPECT_EQ(rack["tier"], 1);
  EXPECT_EQ(rack["tierName"], "rack");
  const Json spine = Find(objects, "spine-1")["spec"];
  EXPECT_EQ(spine["tier"], 2);
  EXPECT_EQ(spine["members"][0]["selector"]["exactMatch"]["name"], "rack-2");
  EXPECT_EQ(spine["members"][1]["selector"]["exactMatch"]["name"], "rack-3");
}

TEST(GenerateCluster, MakesPlainGpusWithoutAModel) {
  const Json node = Find(Make("spines=1,racks=1,nodes=1,gpus=8"), "node-0");
  EXPECT_EQ(node["status"]["allocatable"]["nvidia.com/gpu"], "8");
  EXPECT_FALSE(node["metadata"].contains("annotations"));
}

TEST(GenerateCluster, IsWhatTheReadersOfManifestsTake) {
  std::vector<objects::Source> sources;
  for (const auto& object : Make("spines=1,racks=2,nodes=2,gpus=4:dgx1v")) {
    sources.push_back({object.name + ".json", object.body});
  }
  const auto read = objects::ParseObjects(sources);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->nodes.size(), 4U);
  EXPECT_EQ(read->hypernodes.size(), 3U);
}

TEST(GenerateCluster, NodesAreReadyAndLackNothing) {
  const auto objects = Make("spines=1,racks=1,nodes=1");
  const auto node = SeenNode::Read(Find(objects, "node-0").dump());
  ASSERT_TRUE(node);
  EXPECT_EQ(node->ready, SeenNode::Ready::kTrue);
  EXPECT_TRUE(node->has_resources && node->has_addresses && node->has_info && node->labelled);
}

TEST(GenerateCluster, GpusAreRegisteredAsHamiDoes) {
  const Json node = Find(Make("spines=1,racks=1,nodes=2,gpus=4:dgx1v"), "node-1");
  EXPECT_EQ(node["status"]["capacity"]["nvidia.com/gpu"], "40");
  const Json registered = Json::parse(
      node["metadata"]["annotations"]["hami.io/node-nvidia-register"].get<std::string>());
  ASSERT_EQ(registered.size(), 4U);
  EXPECT_EQ(registered[3]["id"], "GPU-node-1-3");
  const Json scores =
      Json::parse(node["metadata"]["annotations"]["hami.io/node-nvidia-score"].get<std::string>());
  EXPECT_EQ(scores[0]["score"],
            Json::parse(R"({"GPU-node-1-1":150,"GPU-node-1-2":130,"GPU-node-1-3":230})"));
}

TEST(GenerateCluster, PodsWithGpusNeedNoLock) {
  const Json gpus = Find(Make("spines=1,racks=1,nodes=1,gpus=1:dgx1v"), "node-0")["metadata"];
  const Json agent = Json::parse(gpus["annotations"]["strata.sh/agent"].get<std::string>());
  EXPECT_EQ(agent["identity"], "pods");
  EXPECT_EQ(agent["shares"], 10);
  EXPECT_EQ(gpus["labels"]["nvidia.com/gpu.count"], "1") << "as strata-agent publishes";
  const Json none = Find(Make("spines=1,racks=1,nodes=1"), "node-0")["metadata"];
  EXPECT_FALSE(none.contains("annotations"));
}

TEST(GenerateCluster, EveryMachineCanBeAsked) {
  for (const GpuMachine& machine : GpuMachines()) {
    const std::string spec = "spines=1,racks=1,nodes=1,gpus=1:" + machine.name;
    EXPECT_EQ(Make(spec.c_str()).size(), 3U) << machine.name;
  }
}

}  // namespace
}  // namespace strata::virtual_nodes
