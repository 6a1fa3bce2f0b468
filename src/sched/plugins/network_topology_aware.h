#pragma once

#include "base/result.h"
#include "sched/registry.h"

namespace strata {

// Keeps gangs together in the network and packs HyperNodes. Serves GradientPoint
// (hypernode_gradient.h), HyperNodeScorePoint and ChainScorePoint. With W = 100 * weight:
//
//   * A HyperNode for a sub-job: W * Fullness (binpack_weights.h) with the sub-job's pending tasks,
//     0 where they would overflow; if they do in every HyperNode of the list, with what the gang
//     needs instead. When several share the best, each of these gets W * (tasks of the sub-job
//     there / its tasks) on top.
//   * A node for a pod of a sub-job with topology: nothing for the first pod. Then W for the leaf
//     that is all the sub-job has so far, else W * NearnessOfTier (tier_scores.h) of the lowest
//     HyperNode above both; 0 for nodes in no HyperNode. When several nodes share the best, each of
//     these gets W * (tasks of the sub-job in its leaf / its tasks) on top.
//   * A node for any other pod: W * the mean over all tiers, weighted by WeighTiers
//   (tier_scores.h),
//     of the Fullness of the node's HyperNode of that tier with the pod (0 where it would
//     overflow), or 1 where the node has no HyperNode of that tier.
//
// Arguments: weight (1), hypernode.binpack.cpu (1), hypernode.binpack.memory (1),
// hypernode.binpack.resources (a list), hypernode.binpack.resources.<name> (1),
// hypernode.binpack.normal-pod.enable (true), hypernode.binpack.normal-pod.fading (0.8),
// hypernode.gradient.evict.max-hypernodes (8; it concerns evictions only). Negative numbers mean
// the default.
[[nodiscard]] Result<MadePlugin> MakeNetworkTopologyAware(const PluginConfig& config,
                                                          ResourceNames& resources);

}  // namespace strata
