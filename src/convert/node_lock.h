#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "model/labels.h"
#include "objects/pod.h"

// What HAMi's node agent and a scheduler tell each other in annotations. The agent serves one pod
// of its node at a time: the one that the lock of the Node names, or without a lock the first pod
// that waits, which may be the wrong one.
namespace strata {

inline constexpr std::string_view kNodeLockAnnotation = "hami.io/mutex.lock";
inline constexpr std::string_view kAgentAnnotation = "strata.sh/agent";
inline constexpr std::string_view kBindPhaseAnnotation = "hami.io/bind-phase";
inline constexpr std::string_view kBindTimeAnnotation = "hami.io/bind-time";
inline constexpr std::string_view kAllocatingPhase = "allocating";

// Whether pods with GPUs must be bound to the node one at a time, each under the lock: the node
// registers GPUs as HAMi does, and has no agent that learns from the kubelet which pod it serves
// (kAgentAnnotation with identity "pods-api" or "pods").
[[nodiscard]] bool NeedsNodeLock(const Labels& annotations);

struct NodeLock {
  std::string text;           // the whole annotation
  std::optional<Time> since;  // none: the text has no valid time
  std::string owner;          // "namespace/pod"; "": the text names no pod
};
// None: the node is not locked. Never fails, whatever the text.
[[nodiscard]] std::optional<NodeLock> ReadNodeLock(const Labels& annotations);
// The annotation that locks a node for the pod.
[[nodiscard]] std::string NodeLockText(Time since, std::string_view ns, std::string_view pod);

// How far the agent of its node is with a pod.
struct AgentProgress {
  enum class Phase : std::uint8_t {
    kNone,        // nothing to do for it: no node, no GPUs, or it has left Pending by itself
    kAllocating,  // the agent has still to serve it
    kServed,      // well or not
  } phase = Phase::kNone;
  std::optional<Time> bound;  // hami.io/bind-time
};
[[nodiscard]] AgentProgress ReadAgentProgress(const objects::Pod& pod);

}  // namespace strata
