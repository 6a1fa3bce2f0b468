#include "report/fragmentation.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "report/topology_report.h"
#include "whatif/test_support.h"

namespace strata {
namespace {

using testing::HasSubstr;

std::string GpuNode(const std::string& name) {
  return "apiVersion: v1\nkind: Node\nmetadata: {name: " + name +
         "}\nstatus: {allocatable: {cpu: 64, pods: 110, nvidia.com/gpu: 8}}\n---\n";
}

std::string Rack(const std::string& name, const std::string& a, const std::string& b) {
  const auto member = [](const std::string& node) {
    return "  - type: Node\n    selector: {exactMatch: {name: " + node + "}}\n";
  };
  return "apiVersion: topology.volcano.sh/v1alpha1\nkind: HyperNode\nmetadata: {name: " + name +
         "}\nspec:\n  tier: 1\n  members:\n" + member(a) + member(b) + "---\n";
}

std::string Running(const std::string& name, const std::string& node, int gpus) {
  return "apiVersion: v1\nkind: Pod\nmetadata: {name: " + name + "}\nspec: {nodeName: " + node +
         ", containers: [{name: c, image: i, resources: {limits: {nvidia.com/gpu: " +
         std::to_string(gpus) + "}}}]}\nstatus: {phase: Running}\n---\n";
}

// Two racks of two nodes; 5 GPUs of one node are in use.
LoadedCluster TwoRacks() {
  const std::string text = GpuNode("a1") + GpuNode("a2") + GpuNode("b1") + GpuNode("b2") +
                           Rack("a", "a1", "a2") + Rack("b", "b1", "b2") + Running("p", "a1", 5);
  return BuildCluster(objects::MustLoad(text)).value();
}

TEST(FragmentationReport, CountsGangsByTierAndStrandedGpus) {
  const LoadedCluster cluster = TwoRacks();
  const auto report =
      MakeFragmentationReport(*cluster.state, ParsePodShape("nvidia.com/gpu=4").value()).value();
  //   rack a: 0 + 2 pods of four GPUs     rack b: 2 + 2
  ASSERT_EQ(report.tiers.size(), 2U);
  const FragmentationReport::Tier& racks = report.tiers[0];
  EXPECT_EQ(racks.domains, 2);
  EXPECT_EQ(racks.largest_gang, 4);
  EXPECT_EQ(racks.placeable[0], 6);
  EXPECT_EQ(racks.placeable[1], 3);
  EXPECT_EQ(racks.placeable[2], 1);
  EXPECT_DOUBLE_EQ(racks.rack_loss[2], 2.0 / 6);
  EXPECT_DOUBLE_EQ(racks.gini, 2.0 / 12);
  EXPECT_EQ(report.tiers[1].placeable[2], 1);
  EXPECT_EQ(report.free_gpus, 27);
  EXPECT_EQ(report.stranded_gpus, 3);
  EXPECT_DOUBLE_EQ(report.stranded, 3.0 / 27);
  // The one pod asks for five GPUs, and cannot use the three beside it.
  EXPECT_EQ(report.typical, 1U);
  EXPECT_DOUBLE_EQ(report.fgd, 3);
}

TEST(FragmentationReport, HasTheSameFiguresAsJsonAndInWords) {
  const LoadedCluster cluster = TwoRacks();
  const auto report =
      MakeFragmentationReport(*cluster.state, ParsePodShape("nvidia.com/gpu=4").value()).value();
  const auto json = ToJson(report);
  EXPECT_EQ(json["tiers"][0]["rackLoss"]["4"], 0.3333);
  EXPECT_EQ(json["tiers"][0]["placeable"]["4"], 1);
  EXPECT_EQ(json["stranded"], 0.1111);
  const std::string text = RenderFragmentation(report, TextStyle{});
  EXPECT_THAT(text, HasSubstr("TIER  OF 1  OF 2  OF 4  OF 8"));
  EXPECT_THAT(text, HasSubstr("3 of 27 free GPUs are on nodes that are used in part."));
}

TEST(FragmentationReport, IsSilentWithoutGpusAndHyperNodes) {
  const auto cluster = BuildCluster(objects::MustLoad("apiVersion: v1\nkind: Node\n"
                                                      "metadata: {name: a}\n"
                                                      "status: {allocatable: {cpu: 9}}\n"))
                           .value();
  const auto report =
      MakeFragmentationReport(*cluster.state, DefaultPodShape(*cluster.state)).value();
  EXPECT_EQ(RenderFragmentation(report, TextStyle{}), "");
}

}  // namespace
}  // namespace strata
