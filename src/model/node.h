#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/constraints.h"
#include "model/gpu.h"
#include "model/node_labels.h"
#include "model/numa.h"
#include "model/resources.h"
#include "model/volume_rules.h"

namespace strata {

struct NodeSpec {
  std::string name;
  NodeLabels labels;
  std::vector<Taint>
      taints;  // sorted; a node that is not Ready carries node.kubernetes.io/not-ready
  bool unschedulable = false;
  Resources allocatable;
  VolumeLimits volume_limits = {};    // by CSI driver
  std::optional<NodeGpus> gpus;       // none: it registers none, and is used by count alone
  std::optional<NumaSpec> numa = {};  // none when there is no Numatopology of its name

  bool operator==(const NodeSpec&) const = default;
};

}  // namespace strata
