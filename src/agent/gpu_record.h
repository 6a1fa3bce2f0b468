#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "agent/known_pod.h"
#include "model/gpu.h"

namespace strata::agent {

// Which GPUs a scheduler chose for the containers of a pod (hami.io/vgpu-devices-allocated). That
// text never changes, unlike hami.io/vgpu-devices-to-allocate, from which some agents remove what
// they have served.
struct GpuRecord {
  bool present = false;                           // a scheduler has chosen
  std::vector<std::vector<GpuShare>> containers;  // by position in KnownPod::containers
  std::string problem;  // why it must not be used, to follow "its record"; "" if it can be
};

// The record of a pod that is to run on `node`. Annotations are not trusted: a text that is too
// long, that is meant for another node, that names GPUs which the node does not have, or that does
// not fit the containers of the pod has a `problem`.
//
// HAMi's scheduler leaves out the slots of containers without GPUs; then the slots are those of the
// containers with GPUs, in their order.
[[nodiscard]] GpuRecord ReadGpuRecord(const KnownPod& pod,
                                      std::string_view node,
                                      const NodeGpus& gpus);

// The GPUs of the shares, in their order.
[[nodiscard]] std::vector<std::string> UuidsOf(const std::vector<GpuShare>& shares);

// The same text with the slots of some containers emptied, as HAMi's agent leaves it once it has
// served them. `served` has an entry per container of the pod.
[[nodiscard]] std::string BlankSlots(const KnownPod& pod, const std::vector<bool>& served);

}  // namespace strata::agent
