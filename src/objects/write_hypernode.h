#pragma once

#include <nlohmann/json_fwd.hpp>

#include "objects/hypernode.h"

namespace strata::objects {

// The manifest of a HyperNode: name, labels, annotations and spec, keys in the usual order. What it
// gives, ParseObjects reads back as the same spec.
[[nodiscard]] nlohmann::ordered_json WriteHyperNode(const HyperNode& hypernode);

}  // namespace strata::objects
