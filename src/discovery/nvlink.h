#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "discovery/previous.h"
#include "objects/hypernode.h"
#include "objects/node.h"

namespace strata::discovery {

// Nodes that NVLink joins, by the value of their label ("<cluster UUID>.<clique id>").
struct Cliques {
  std::string label;
  std::map<std::string, std::vector<std::string>> nodes;  // ascending
};

[[nodiscard]] Cliques CliquesOfNodes(const std::string& label,
                                     std::span<const objects::Node> nodes);
// The cliques that an earlier pass printed, from their labels.
[[nodiscard]] Cliques CliquesOfPrevious(const std::string& label,
                                        const Owner& owner,
                                        const Previous& previous);

// Puts the cliques into `hypernodes`, which other sources found. They become tier 1 of each tree
// whose leaves hold whole cliques, and that tree's tiers move up by one; each such tree has its own
// HyperNodes of the cliques, since a HyperNode has one parent. Cliques that are in no tree become
// one, with a tier of domains above where a domain has several cliques. Notes say which tree could
// not take them.
void JoinCliques(const Cliques& cliques,
                 const Owner& owner,
                 std::vector<objects::HyperNode>& hypernodes,
                 std::vector<std::string>& notes);

}  // namespace strata::discovery
