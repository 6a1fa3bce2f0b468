#pragma once

#include "base/result.h"
#include "sched/registry.h"

namespace strata {

// Which nodes a pod may run on, resources aside, as kube-scheduler's filters decide it and in its
// words. Serves NodeFilterPoint: cordoned nodes, nodeSelector and required node affinity, taints,
// host ports, volumes; and PeerFilterPoint: required pod affinity and anti-affinity of both sides,
// topology spread, ReadWriteOncePod claims. The first that refuses gives the reason.
//
// Arguments, all bool and true: predicate.NodeAffinityEnable, predicate.TaintTolerationEnable,
// predicate.NodePortsEnable, predicate.PodAffinityEnable, predicate.PodTopologySpreadEnable,
// predicate.NodeVolumeLimitsEnable, predicate.VolumeZoneEnable, predicate.VolumeBindingEnable.
// Volcano's other arguments are read and checked; the filters behind them do not exist here, so one
// that is switched on explicitly is a warning.
[[nodiscard]] Result<MadePlugin> MakePredicates(const PluginConfig& config,
                                                ResourceNames& resources);

}  // namespace strata
