#pragma once

#include "model/hypernode_spec.h"
#include "objects/meta.h"

namespace strata::objects {

// topology.volcano.sh/v1alpha1 HyperNode. The spec is the model's own, with patterns compiled.
struct HyperNode {
  Metadata meta;
  HyperNodeSpec spec;
};

}  // namespace strata::objects
