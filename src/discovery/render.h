#pragma once

#include <string>
#include <vector>

#include "discovery/previous.h"
#include "objects/hypernode.h"

namespace strata::discovery {

// Manifests that `strata simulate -f -` and `kubectl apply -f -` take: a stream of YAML documents,
// or one v1 List.
[[nodiscard]] std::string RenderYaml(const std::vector<objects::HyperNode>& hypernodes);
[[nodiscard]] std::string RenderJson(const std::vector<objects::HyperNode>& hypernodes);

// What would change against `before`, one line per HyperNode, by name: "+ name ..." for a new one,
// "- name ..." for a removed one, "~ name ..." with what is different. Only HyperNodes of
// `owners` in `before` count. "no changes" when there are none.
[[nodiscard]] std::string RenderDiff(const std::vector<objects::HyperNode>& before,
                                     const std::vector<objects::HyperNode>& now,
                                     const std::vector<Owner>& owners);

}  // namespace strata::discovery
