#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "model/hypernode_spec.h"

namespace strata {

// The parents and children of HyperNodes, and what is invalid about each. Indexed like the specs it
// was made from.
struct HyperNodeLinks {
  std::vector<HyperNodeId> parent;  // none: a root, or left out
  std::vector<bool> left_out;       // on a cycle
  std::vector<std::string> faults;  // sentences for an operator, "" when nothing is wrong
};

// Decides every disputed membership: first every HyperNode on a cycle is left out; then a parent
// whose tier is not above a child's loses that child; then, of the parents that remain, the lowest
// name keeps it. A member may name a HyperNode that does not exist.
//
// Pure. REQUIRES: `specs` ascend by name, no name twice. COST: O(n log n), n HyperNodes and
// members.
[[nodiscard]] HyperNodeLinks ResolveLinks(std::span<const HyperNodeSpec* const> specs);

// Appends `sentence` to what a HyperNode's reason says already. An empty one adds nothing.
void AddSentence(std::string& reason, std::string_view sentence);

}  // namespace strata
