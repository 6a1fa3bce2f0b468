#pragma once

#include "base/result.h"
#include "sched/registry.h"

namespace strata {

// Prefers nodes that are full already. Serves NodeScorePoint.
//
// score = 100 * binpack.weight * Fullness (binpack_weights.h) of the node with the pod, by what is
// used there (what is pipelined does not count); 0 when a weighted resource would overflow. A
// negative binpack.weight turns the order round.
//
// Arguments: binpack.weight (1), binpack.cpu (1), binpack.memory (1), binpack.resources (a list),
// binpack.resources.<name> (1).
[[nodiscard]] Result<MadePlugin> MakeBinpack(const PluginConfig& config, ResourceNames& resources);

}  // namespace strata
