#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "objects/object_set.h"
#include "objects/pod_group.h"

namespace strata::objects {

// The PodGroup that Volcano's podgroup controller makes for a pod without one: "podgroup-<uid>", of
// one member, with queue, priority class and network topology from the pod's annotations and spec.
//
// kInvalidArgument, one line that names the pod and the field, when the topology's mode is neither
// hard nor soft (in any case), its tier no number, or a sum of requests does not fit into 64 bits.
// For a pod that already has its node such a topology is left out, with a line in `warnings`.
[[nodiscard]] Result<PodGroup> MakeDefaultPodGroup(const Pod& pod,
                                                   std::vector<std::string>& warnings);

// Gives every pod without a PodGroup annotation one of its own, and the annotation with its name.
// The set stays sorted, its warnings too. Whose pods these are is asked of `takes`: pods it refuses
// are left alone.
[[nodiscard]] Status AddDefaultPodGroups(ObjectSet& objects,
                                         const std::function<bool(const Pod&)>& takes);

}  // namespace strata::objects
