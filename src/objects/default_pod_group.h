#pragma once

#include <functional>

#include "base/result.h"
#include "objects/object_set.h"
#include "objects/pod_group.h"

namespace strata::objects {

// The PodGroup that Volcano's podgroup controller makes for a pod without one: "podgroup-<uid>", of
// one member, with queue, priority class and network topology from the pod's annotations and spec.
// kInvalidArgument, naming the pod and the annotation, when a tier is no number; of a pod that
// already has its node such a topology is ignored. An unknown mode is hard.
[[nodiscard]] Result<PodGroup> MakeDefaultPodGroup(const Pod& pod);

// Gives every pod without a PodGroup annotation one of its own, and the annotation with its name.
// The set stays sorted. Whose pods these are is asked of `takes`: pods it refuses are left alone.
[[nodiscard]] Status AddDefaultPodGroups(ObjectSet& objects,
                                         const std::function<bool(const Pod&)>& takes);

}  // namespace strata::objects
