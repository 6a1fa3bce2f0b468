#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/ids.h"
#include "model/hypernode_tree.h"
#include "model/workload.h"

// Parts of the sentences of verdicts.
namespace strata {

// `sentence`, with `separator` and `detail` behind it when there is a detail.
[[nodiscard]] std::string WithDetail(std::string sentence,
                                     std::string_view separator,
                                     const std::string& detail);
// "3/4 tasks in gang unschedulable: ", Volcano's words.
[[nodiscard]] std::string Heading(const Job& job);
// "HyperNode rack-1", or "the whole cluster".
[[nodiscard]] std::string NameOf(const HyperNodeTree& tree, HyperNodeId id);

}  // namespace strata
