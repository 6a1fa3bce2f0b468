#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "base/result.h"
#include "model/resources.h"
#include "sched/registry.h"

namespace strata {

// kube-scheduler's node scores, with its integer steps, each times its weight. Serves
// NodeScorePoint (least and most allocated, balanced allocation, preferred node affinity),
// ScaledScorePoint (taints that would rather not) and PeerScorePoint (preferred pod affinity and
// anti-affinity, ScheduleAnyway spread). A part of weight 0 is left out.
//
// Arguments: leastrequested.weight (1), mostrequested.weight (0), balancedresource.weight (1),
// nodeaffinity.weight (2), tainttoleration.weight (3), podaffinity.weight (2),
// podtopologyspread.weight (2). imagelocality.weight is read and checked, but has no effect: one
// that is set is a warning.
[[nodiscard]] Result<MadePlugin> MakeNodeorder(const PluginConfig& config,
                                               ResourceNames& resources);

// The formulas, each for one node. `requested` is with the pod.
struct ResourceUse {
  Amount requested = 0;
  Amount capacity = 0;
};

// 0..100 for one resource; 0 when more than the capacity is requested.
[[nodiscard]] std::int64_t LeastAllocatedScore(const ResourceUse& use);
// 0..100 for one resource; what exceeds the capacity does not count.
[[nodiscard]] std::int64_t MostAllocatedScore(const ResourceUse& use);
// 0..100: how equal the shares of at most three resources are. Resources without capacity do not
// count.
[[nodiscard]] std::int64_t EvennessScore(std::span<const ResourceUse> uses);
// 0..100, above 75 for a pod that makes its node more even.
[[nodiscard]] std::int64_t BalancedScore(std::span<const ResourceUse> without_pod,
                                         std::span<const ResourceUse> with_pod);
// 0..100 from the number of untolerated preferences of this node and of the worst node.
[[nodiscard]] std::int64_t TaintScore(std::int64_t count, std::int64_t worst);

}  // namespace strata
