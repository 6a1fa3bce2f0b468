#pragma once

#include <string_view>

#include "base/result.h"
#include "sched/config.h"
#include "sched/registry.h"

namespace strata {

// GPUs by HAMi's rules: NodeFilterPoint, NodeScorePoint and DevicePoint for pods that ask for GPUs
// on nodes that register theirs. A node that registers none is used by count alone.
//
// Pods that ask in Volcano's dialect get GPUs that are registered in it, and only those; checks and
// order are Volcano's then. Shares of both dialects count on a GPU that is registered in both.
//
// What is free follows from the claims of the tasks on the node (WorkloadTable::GpusOf), so a
// rollback gives GPUs back by itself. A task may have the GPUs of a node that are free both now and
// once the tasks that wait there have their place.
//
// ResourceQuotas limit what the pods of a namespace hold together (`limits.nvidia.com/gpu`,
// `gpumem`, `gpucores`); only the GPUs that a pod would get count, not all that would serve.
//
// The node's score, times ScheduleWeight:
//   * policy topology-aware: 100 q, q being the pair score of the best free set over that of the
//     best set of the empty node; for single GPUs q = 1 - damage / damage on the empty node. The
//     node policy decides between equals, with 0.01 p.
//   * any other: 100 p, p being how full the node's GPUs are (slots, cores and memory in equal
//     parts), or 1 less that for node policy spread.
//
// Arguments: deviceshare.ScheduleWeight (10; 0 turns the score off), and deviceshare.SchedulePolicy
// for pods of Volcano's dialect that name no policy: binpack (most used memory first), spread
// (fewest shares first), topology-aware; "": the last GPU first. The other arguments of Volcano are
// accepted, with a warning when they say something else than what is done anyway.
[[nodiscard]] Result<MadePlugin> MakeDeviceshare(const PluginConfig& config,
                                                 ResourceNames& resources);

// How the reason begins of a node whose GPUs do not serve the pod now.
inline constexpr std::string_view kNoSuitableGpus = "node(s) without suitable GPUs";

}  // namespace strata
