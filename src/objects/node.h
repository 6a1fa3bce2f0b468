#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/constraints.h"
#include "objects/meta.h"

namespace strata::objects {

struct NodeImage {
  std::vector<std::string> names;
  std::int64_t size_bytes = 0;
};

// v1 Node.
struct Node {
  Metadata meta;
  bool unschedulable = false;
  std::vector<Taint> taints;
  ResourceList capacity;
  ResourceList allocatable;  // capacity when the object has none
  std::vector<Condition> conditions;
  std::vector<NodeImage> images;
  std::vector<std::string> internal_ips;  // status.addresses of type InternalIP
};

}  // namespace strata::objects
