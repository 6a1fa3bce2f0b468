#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <tl/expected.hpp>

#include "agent/journal.h"
#include "agent/known_pod.h"
#include "model/gpu.h"

// For which container the kubelet asks for GPUs. Its request has only device ids, but it admits one
// pod after the other, containers in order: so the container is the first that has not been served
// of the pod that has some left. Functions of values.
//
// Four combinations of scheduler and agent work with it. A scheduler that writes a record (ours,
// HAMi's) decides the GPUs; a pod without a record (kube-scheduler) gets those of the ids. Where
// the pods come from the API server, which shows pods that the kubelet has not seen yet, the lock
// of the Node says which pod it is.
namespace strata::agent {

struct AdmissionInput {
  std::string_view node;
  std::span<const KnownPod> pods;
  const Journal& journal;
  const NodeGpus& gpus;
  // Where pods are shown that the kubelet has not seen: only the owner of the Node's lock can be
  // meant, "namespace/pod". "": nobody has the lock, so it is a pod without a record, whose
  // scheduler takes none.
  std::optional<std::string> lock_owner;
};

struct AdmittedSlot {
  std::size_t pod = 0;           // position in AdmissionInput::pods
  std::size_t container = 0;     // position in KnownPod::containers
  std::vector<GpuShare> shares;  // what it gets. With a record that is the record
  bool has_record = false;
  bool ambiguous = false;   // other pods might have been meant
  bool again = false;       // served before: the kubelet has lost its checkpoint
  bool ids_differ = false;  // the ids are of other GPUs than the record
};

// "No", and why: one sentence for the user with pod, container, what was asked for and what was
// found.
struct AdmissionRefusal {
  std::string reason;
  std::optional<std::size_t> pod;  // the one that was meant, where that is clear
};

// The container that an Allocate for `ids` is for. If several wait for so many GPUs it is the one
// whose record has the GPUs of the ids, else that of the oldest pod.
[[nodiscard]] tl::expected<AdmittedSlot, AdmissionRefusal> Admit(const AdmissionInput& input,
                                                                 std::span<const std::string> ids);

// What the next container that waits for `count` GPUs should get, before the kubelet has chosen
// ids; empty lists where nothing is known.
struct WantedGpus {
  std::vector<std::string> uuids;  // by its record
  std::vector<std::string> ids;    // what the kubelet gave it before it lost its checkpoint
};
[[nodiscard]] WantedGpus WantedBy(const AdmissionInput& input,
                                  std::size_t count,
                                  std::span<const std::string> available_ids);

}  // namespace strata::agent
