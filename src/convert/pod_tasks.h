#pragma once

#include <functional>
#include <optional>
#include <string>

#include "base/result.h"
#include "convert/pod_rules.h"
#include "convert/volume_rules.h"
#include "model/cluster_state.h"
#include "objects/pod.h"
#include "objects/priority.h"

namespace strata {

// Whether we schedule a pod.
using TakesPod = std::function<bool(const objects::Pod&)>;

// What a pod's task takes from objects around the pod.
struct PodSurroundings {
  objects::PriorityTable priorities;
  PodRulesReader rules;  // has learned every pod
  VolumeRulesReader volumes;
  bool numa = false;  // some node reports its NUMA nodes
};

// Whether a quota of the namespace limits GPUs: its pods with GPUs are then told apart from
// others'.
[[nodiscard]] bool LimitsGpus(const ClusterState& state, const std::string& ns);

// What a pod is to a state.
struct PodReading {
  std::optional<TaskSpec> task;  // none: nothing
  std::string group;             // "namespace/podgroup" it names; "" if none
  bool waits_for_group = false;  // it would be a pending task, but its PodGroup is not there
  bool of_another = false;       // it would be a pending task, but names another scheduler
};

// Reads one pod against the jobs and quotas of `state`, whose resource names may grow.
//
// A pod on a node uses room there, whichever scheduler put it there; it belongs to the job its
// annotation names, if that exists. A pod without a node counts only if `takes` says that we
// schedule it, and is left out when it is already being deleted.
//
// kInvalidArgument, one line that names the object and the field, when an amount does not fit into
// 64 bits.
[[nodiscard]] Result<PodReading> ReadPod(const objects::Pod& pod,
                                         const PodSurroundings& around,
                                         const TakesPod& takes,
                                         ClusterState& state);

// Puts the name of the object, and where it is from, before an error.
template <typename T>
[[nodiscard]] Result<T> Of(const objects::Metadata& meta, Result<T> result) {
  if (result) return result;
  return tl::unexpected<Error>(std::move(result).error().Context(objects::Location(meta)));
}

}  // namespace strata
