#pragma once

#include "base/result.h"
#include "sched/registry.h"

namespace strata {

// Guaranteed pods go only where the kubelet can align their CPUs. Serves NodeFilterPoint and
// ScaledScorePoint. A pod that names a policy (annotation volcano.sh/numa-topology-policy) needs a
// node with a Numatopology, the static CPU manager and the same policy; a pod that names none is
// still held to the policy of such a node. What is free per NUMA node is what the Numatopology
// says, less the pods placed since, each shared out as the kubelet would (numa_fit.h).
//
// Argument: weight (integer, 1) of the score, which favours fewer NUMA nodes.
[[nodiscard]] Result<MadePlugin> MakeNumaAware(const PluginConfig& config,
                                               ResourceNames& resources);

}  // namespace strata
