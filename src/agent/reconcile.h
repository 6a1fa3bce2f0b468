#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "agent/journal.h"
#include "agent/known_pod.h"
#include "base/clock.h"
#include "model/gpu.h"
#include "model/labels.h"

// The journal against what the kubelet says that containers hold (podresources). Functions of
// values.
namespace strata::agent {

// A container as podresources shows it, with its ids of our resource; there is no pod uid.
struct HeldDevices {
  std::string ns;
  std::string pod;
  std::string container;
  std::vector<std::string> ids;

  bool operator==(const HeldDevices&) const = default;
};

struct ReconcileInput {
  std::string_view node;
  const Journal& journal;
  std::span<const HeldDevices> held;
  std::span<const KnownPod> pods;
  const NodeGpus& gpus;
  Time now;
};

// One thing that differs, for an Event of the pod.
struct Difference {
  enum class Kind : std::uint8_t {
    kUnknown,  // the kubelet shows devices of a container that the journal does not have
    kOther,    // the kubelet shows other ids than it asked us for
    kSwapped,  // two pods hold each other's sets; corrected
  };
  Kind kind = Kind::kUnknown;
  std::string uid;
  std::string ns;
  std::string pod;
  std::string message;  // one sentence

  bool operator==(const Difference&) const = default;
};

// The record of a pod as it must be for schedulers to count what it really holds.
struct RecordCorrection {
  std::string uid;
  std::string ns;
  std::string pod;
  Labels annotations;

  bool operator==(const RecordCorrection&) const = default;
};

struct Reconciliation {
  Journal journal;  // as it should be
  std::vector<Difference> differences;
  std::vector<RecordCorrection> corrections;
};

// Entries of pods that nobody knows any more are dropped. What the kubelet shows and the journal
// lacks is adopted, with the GPUs of the pod's record where it has one. Answers of the last
// kSettling are not judged: the kubelet may not show them yet.
//
// Only a swap is corrected: container A holds the ids that B was served with, and B those of A.
// Each then sees the GPUs of the other's record, so journal and records are exchanged.
inline constexpr Duration kSettling = std::chrono::seconds(30);
[[nodiscard]] Reconciliation Reconcile(const ReconcileInput& input);

}  // namespace strata::agent
