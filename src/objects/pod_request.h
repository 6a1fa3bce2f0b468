#pragma once

#include "objects/pod.h"

namespace strata::objects {

// What the pod takes of its node, as kube-scheduler counts it: the larger of the sum of all
// containers and the peak of the init containers (sidecars count from their start on), pod-level
// requests in place of that where they are set, then overhead. During an in-place resize a
// container counts with the largest of what it asks, was allocated and holds. Without `pods`: every
// pod takes one. A pod that has its node counts with at most 2^56 units (64Pi bytes) of a resource,
// so that there are always numbers for what runs.
[[nodiscard]] ResourceList PodRequest(const Pod& pod);
// The same of a pod that does not run yet.
[[nodiscard]] ResourceList PodRequest(const PodSpec& spec);

// What the pod counts in ResourceQuotas, by all names that a quota may use: its request under its
// own name and as `requests.<name>`, its limits of cpu, memory and ephemeral-storage as
// `limits.<name>`, itself as `pods` and `count/pods`.
[[nodiscard]] ResourceList QuotaUsage(const Pod& pod);
[[nodiscard]] ResourceList QuotaUsage(const PodSpec& spec);  // of one that does not run yet

// PodRequest with at least 100m cpu and 200Mi memory for each container that asks for none: what
// kube-scheduler's scores (not its filters) count with. Only cpu and memory are in the list.
[[nodiscard]] ResourceList NonZeroPodRequest(const Pod& pod);

}  // namespace strata::objects
