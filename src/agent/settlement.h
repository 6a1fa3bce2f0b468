#pragma once

#include <cstdint>
#include <string>

#include "agent/journal.h"
#include "agent/known_pod.h"
#include "model/labels.h"

namespace strata::agent {

// What is to be written once a container was served, or refused. The pod is written in any case;
// HAMi's scheduler also waits for its lock, and reads what is left to allocate.
struct Settlement {
  enum class Phase : std::uint8_t { kUnchanged, kSuccess, kFailed };

  std::string uid;
  std::string ns;
  std::string pod;
  Phase phase = Phase::kUnchanged;  // of hami.io/bind-phase
  std::string to_allocate;          // hami.io/vgpu-devices-to-allocate; "": unchanged

  // No container of the pod waits any longer: a lock that names the pod is to be released.
  [[nodiscard]] bool done() const { return phase != Phase::kUnchanged; }
  [[nodiscard]] std::string FullName() const { return ns + "/" + pod; }
  bool operator==(const Settlement&) const = default;
};

// After a container of `pod` was served; `journal` has its entry.
[[nodiscard]] Settlement SettleServed(const KnownPod& pod, const Journal& journal);
[[nodiscard]] Settlement SettleRefused(const KnownPod& pod);

// The JSON merge patch of the pod; "" when there is nothing to write. `locked`: the lock of the
// Node names the pod, so its scheduler is HAMi's, or ours in its way of working; only then is
// to_allocate written, too.
enum class NodeLocked : std::uint8_t { kNo, kYes };
[[nodiscard]] std::string PatchOf(const Settlement& settlement, NodeLocked locked);

// Whether the lock in the annotations of the Node names the pod of the settlement.
[[nodiscard]] NodeLocked LockedFor(const Settlement& settlement, const Labels& node_annotations);
// The JSON merge patch of the Node that releases the lock, of the version that was read: a lock
// that another pod got since stays.
[[nodiscard]] std::string PatchToReleaseLock(const std::string& node_version);

}  // namespace strata::agent
