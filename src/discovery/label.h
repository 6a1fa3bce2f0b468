#pragma once

#include <span>
#include <string>
#include <vector>

#include "discovery/config.h"
#include "discovery/tree.h"
#include "objects/node.h"

namespace strata::discovery {

// The tree that the labels of one type say. A node counts from its lowest label up to the first
// that it lacks. tierName is the label's key, each group carries key=value as a label, and is named
// hypernode-<type>-tier<N>-<5 characters from a hash of the path>; `infix` goes before the type.
[[nodiscard]] Tree TreeOfLabels(const LabelConfig::Type& type,
                                std::span<const objects::Node> nodes,
                                const std::string& infix = "");

// The type's part of those names.
[[nodiscard]] std::string TypeName(const std::string& type);

}  // namespace strata::discovery
