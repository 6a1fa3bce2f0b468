#pragma once

#include "base/result.h"
#include "sched/config.h"
#include "sched/registry.h"

namespace strata {

// Prefers nodes whose idle GPUs become less fragmented: FGD's measure ("Beware of Fragmentation",
// ATC '23) as a node score. Serves NodeScorePoint. Volcano has no such plugin.
//
// What is idle on a node is fragmented for a typical pod that cannot use it
// (model/fragmentation.h); the fragmentation of a node is the mean over all typical pods. The score
// is fragmentation.weight * floor(100 / (1 + e^-x)), x being by how many GPUs the fragmentation of
// the node falls when the pod gets the GPUs that its policy gives it there. Rounding down is a part
// of the rule: what is almost as good is equally good, and equal scores go to the lower name.
//
// Arguments: fragmentation.weight (10; 0 turns the score off), fragmentation.typicalPods
// (ParseTypicalPods) or fragmentation.lastPods (1000): the pods are learned from so many that were
// created last, anew in every cycle. COST: with learned pods O(pods) for each cycle.
[[nodiscard]] Result<MadePlugin> MakeFragmentation(const PluginConfig& config,
                                                   ResourceNames& resources);

}  // namespace strata
