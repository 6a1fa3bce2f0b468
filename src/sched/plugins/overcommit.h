#pragma once

#include "base/result.h"
#include "sched/registry.h"

namespace strata {

// Admits jobs only up to a multiple of what the nodes have. Serves JobGatePoint (Enqueueable,
// OnEnqueued).
//
//   * A job may enter when its minResources, what is in use on the nodes at the beginning of the
//     cycle and what jobs that have entered were promised stay within factor x allocatable of all
//     nodes, in every resource asked for but `pods`. Refusal: ClusterOvercommitted.
//   * A job without minResources may always enter.
//
// Argument: overcommit-factor (number, 1.2; below 1: 1.2, with a warning). Comparisons allow one
// unit.
[[nodiscard]] Result<MadePlugin> MakeOvercommit(const PluginConfig& config,
                                                ResourceNames& resources);

}  // namespace strata
