#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "model/gpu.h"
#include "model/labels.h"
#include "objects/pod.h"

// What a node agent and a scheduler tell each other in annotations, in each dialect by names of its
// own. HAMi's agent serves one pod of its node at a time: the one that the lock of the Node names,
// or without a lock the first pod that waits, which may be the wrong one. Volcano's takes the pod
// with the oldest bind that waits for as many GPUs, which is the wrong one as soon as two wait.
namespace strata {

inline constexpr std::string_view kAgentAnnotation = "strata.sh/agent";
inline constexpr std::string_view kAllocatingPhase = "allocating";

// Whether pods with GPUs of the dialect must be bound to the node one at a time, each under the
// lock: the node registers GPUs in it. Not where an agent of HAMi's dialect learns from the kubelet
// which pod it serves (kAgentAnnotation with identity "pods-api" or "pods") or only registers
// ("none").
[[nodiscard]] bool NeedsNodeLock(const Labels& annotations, GpuDialect dialect);

struct NodeLock {
  std::string text;           // the whole annotation
  std::optional<Time> since;  // none: the text has no valid time
  std::string owner;          // "namespace/pod"; "": the text names no pod
};
// None: the node is not locked. Never fails, whatever the text.
[[nodiscard]] std::optional<NodeLock> ReadNodeLock(const Labels& annotations, GpuDialect dialect);
// The annotation that locks a node for the pod. Volcano's scheduler reads nothing but a time.
[[nodiscard]] std::string NodeLockText(GpuDialect dialect,
                                       Time since,
                                       std::string_view ns,
                                       std::string_view pod);

// How far the agent of its node is with a pod.
struct AgentProgress {
  enum class Phase : std::uint8_t {
    kNone,        // nothing to do for it: no node, no GPUs, or it has left Pending by itself
    kAllocating,  // the agent has still to serve it
    kServed,      // well or not
  } phase = Phase::kNone;
  std::optional<Time> bound;  // bind-time
};
[[nodiscard]] AgentProgress ReadAgentProgress(const objects::Pod& pod, GpuDialect dialect);

}  // namespace strata
