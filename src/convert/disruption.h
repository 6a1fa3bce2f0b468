#pragma once

#include <optional>

#include "model/workload.h"
#include "objects/meta.h"
#include "objects/pod.h"
#include "objects/priority.h"

// What pods and PodGroups say about being evicted, and about evicting others.
namespace strata {

// `volcano.sh/preemptable` of a PodGroup or pod: the annotation, else the label; none without
// either. A value that is not a boolean is false, so that nobody is evicted by a slip of the pen.
[[nodiscard]] std::optional<bool> SaysPreemptable(const objects::Metadata& meta);

// A pod runs since its condition PodScheduled became True. Preemptable unless it says otherwise; a
// system pod by its priority class (system-cluster-critical, system-node-critical) or namespace
// (kube-system); evicts nobody with preemptionPolicy Never, its own or that of its class.
//
// `volcano.sh/cooldown-time`, the label, else the annotation, is a duration such as 600s;
// `volcano.sh/last-checkpoint-time`, an annotation, a time such as 2026-08-20T10:00:00Z. Both are
// ignored when they cannot be read.
[[nodiscard]] Disruption ToDisruption(const objects::Pod& pod,
                                      const objects::PriorityTable& priorities);

// `strata.sh/evict: "false"`, an annotation of a Queue or Namespace: none of its jobs is evicted.
[[nodiscard]] bool SparesJobs(const objects::Metadata& meta);

// The reason of the condition DisruptionTarget of a pod that a scheduler evicts.
inline constexpr const char* kPreemptionReason = "PreemptionByScheduler";
// True when the pod has that condition: a scheduler evicts it.
[[nodiscard]] bool IsPreempted(const objects::Pod& pod);

}  // namespace strata
