#include "report/gpu_sums.h"

#include <string>

#include <gtest/gtest.h>

#include "report/test_gpus.h"
#include "whatif/test_support.h"

namespace strata {
namespace {

LoadedCluster LoadAll(const std::string& manifests) {
  return BuildCluster(objects::MustLoad(manifests)).value();
}

std::string NodeOf(const std::string& name, const std::string& spec) {
  return "apiVersion: v1\nkind: Node\nmetadata: {name: " + name + "}\nspec: {" + spec +
         "}\nstatus: {allocatable: {cpu: 64, pods: 110, nvidia.com/gpu: 8}}\n---\n";
}

std::string PodOn(const std::string& node, int gpus) {
  return "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {nodeName: " + node +
         ", containers: [{name: c, image: i, resources: {limits: {nvidia.com/gpu: " +
         std::to_string(gpus) + "}}}]}\nstatus: {phase: Running}\n";
}

TEST(GpuSums, FreeGpusOfANodeInPartUseAreStranded) {
  //   a: 5 of 8 used     b: free     c: free, cordoned
  const auto cluster = LoadAll(NodeOf("a", "") + NodeOf("b", "") +
                               NodeOf("c", "unschedulable: true") + PodOn("a", 5));
  EXPECT_EQ(SumGpus(*cluster.state),
            (GpuSums{.gpus = 24, .used = 5, .free = 11, .whole_nodes = 1, .stranded = 3}));
}

TEST(GpuSums, CountsRegisteredGpusNotTheirShares) {
  //   GPU-1 is used in part, GPU-3 cordoned
  const auto cluster = LoadAll(FourGpus());
  EXPECT_EQ(SumGpus(*cluster.state),
            (GpuSums{.gpus = 4, .used = 1, .free = 2, .whole_nodes = 0, .stranded = 2}));
}

TEST(GpuSums, AreNothingWithoutGpus) {
  EXPECT_EQ(SumGpus(*LoadAll(EightNodes("cpu: 1")).state), GpuSums{});
}

}  // namespace
}  // namespace strata
