#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/gpu.h"
#include "model/gpu_links.h"

// The link matrices of real machines, for tests, benchmarks and clusters that are made up.
namespace strata {

struct GpuMachine {
  enum class Fabric : std::uint8_t { kNone, kDirect, kSwitch };  // what the NVLinks lead to

  std::string name;   // "dgx1v"
  std::string model;  // as the driver names it
  std::int64_t memory_mib = 0;
  Fabric fabric = Fabric::kNone;
  std::vector<std::int32_t> numa;  // by GPU
  LinkGraph links{0};
  bool has_clique = false;  // an NVLink domain that goes beyond the node
};

// Every machine, ascending by name.
[[nodiscard]] const std::vector<GpuMachine>& GpuMachines();
// nullptr when there is none of that name.
[[nodiscard]] const GpuMachine* FindGpuMachine(std::string_view name);

// What a node that is such a machine registers. UUIDs are "GPU-<prefix>-<index>"; every GPU is
// healthy and may be shared by ten.
[[nodiscard]] NodeGpus MakeNodeGpus(const GpuMachine& machine, std::string_view prefix);

}  // namespace strata
