#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "kube/resource.h"
#include "model/gpu_machines.h"

// Clusters that are made up: spines of racks of nodes.
namespace strata::virtual_nodes {

struct GenerateSpec {
  std::int64_t spines = 0;
  std::int64_t racks = 0;  // of each spine
  std::int64_t nodes = 0;  // of each rack
  std::int64_t gpus = 0;   // of each node: the first ones of `machine`, plain ones without
  const GpuMachine* machine = nullptr;
  std::string cpu = "96";
  std::string memory = "1Ti";

  static constexpr std::int64_t kMaxNodes = 100'000;
  static constexpr std::int64_t kMaxPlainGpus = 1024;
};

// "spines=S,racks=R,nodes=N[,gpus=G[:MODEL]][,cpu=C][,memory=M]", in any order. Errors are one line
// that names the key.
[[nodiscard]] Result<GenerateSpec> ParseGenerateSpec(std::string_view text);

struct GeneratedObject {
  kube::Resource resource;
  std::string name;
  std::string body;  // JSON
};

// The Nodes, then the HyperNodes: node-<i>, rack-<i> of tier 1, spine-<i> of tier 2. Nodes are
// Ready, labelled with their rack and spine. With a model they register their GPUs as HAMi's agent
// would, each to be shared by ten; without one their kubelet counts them, and nobody shares them.
[[nodiscard]] std::vector<GeneratedObject> GenerateCluster(const GenerateSpec& spec, Time now);

}  // namespace strata::virtual_nodes
