#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "model/gpu.h"

namespace strata::agent {

// What the agent knows of its machine at one moment. It is never changed once it is made: those who
// read it are never in the way of those who ask the driver.
struct Machine {
  // A GPU that was seen since the agent started stays listed, as not healthy when it is gone.
  NodeGpus node;
  std::vector<std::int32_t> minors;  // by position in node.gpus: /dev/nvidia<minor>; -1 if unknown
  std::vector<std::string> bus_ids;  // by position in node.gpus: "0000:3b:00.0"
  std::string driver;                // its version
  std::string clique;  // "<cluster uuid>.<clique>"; "": none, or its GPUs are of several
};
using MachineView = std::shared_ptr<const Machine>;

}  // namespace strata::agent
