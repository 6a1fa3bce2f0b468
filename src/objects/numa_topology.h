#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "objects/meta.h"

namespace strata::objects {

// nodeinfo.volcano.sh/v1alpha1 Numatopology; its name is the node's.
struct NumaTopology {
  struct Resource {
    std::string allocatable;  // a cpu set: "0-3,8"
    std::int32_t capacity = 0;
  };
  struct Cpu {
    std::int32_t numa = 0;
    std::int32_t socket = 0;
    std::int32_t core = 0;
  };

  Metadata meta;
  std::map<std::string, std::string> policies;  // "TopologyManagerPolicy" -> "best-effort", ...
  ResourceList reserved;                        // resReserved
  std::map<std::string, Resource> resources;    // numares
  std::map<std::int32_t, Cpu> cpus;             // cpuDetail
};

}  // namespace strata::objects
