#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agent/known_pod.h"
#include "base/clock.h"
#include "base/result.h"
#include "model/labels.h"

// What a kubelet looks at in Nodes and Pods. Texts are objects as the API server gives them.
namespace strata::virtual_nodes {

inline constexpr std::string_view kVirtualLabel = "strata.sh/virtual";
inline constexpr std::string_view kRunSeconds = "strata.sh/run-seconds";
inline constexpr std::string_view kExitCode = "strata.sh/exit-code";
inline constexpr std::string_view kStopSeconds = "strata.sh/stop-seconds";
// On a Node: its agent does nothing while this is "true".
inline constexpr std::string_view kAgentStopped = "strata.sh/agent-stopped";
inline constexpr std::string_view kNotReadyTaint = "node.kubernetes.io/not-ready";

struct SeenTaint {
  std::string key;
  std::string value;
  std::string effect;
  std::string time_added;

  friend bool operator==(const SeenTaint&, const SeenTaint&) = default;
};

struct SeenNode {
  // The status of its condition Ready.
  enum class Ready : std::uint8_t { kUnsaid, kTrue, kFalse, kUnknown };

  std::string name;
  std::string uid;
  std::string version;
  bool labelled = false;  // strata.sh/virtual: "true"
  Ready ready = Ready::kUnsaid;
  std::string ready_reason;
  bool has_resources = false;  // capacity or allocatable
  bool has_addresses = false;
  bool has_info = false;          // status.nodeInfo
  std::string internal_ip;        // "" if it has none
  std::vector<SeenTaint> taints;  // all of them, in their order
  Duration stop_time{};           // strata.sh/stop-seconds: how long its pods take to stop
  // Pods with GPUs start once the agent of the node has served them. Without an agent they start
  // like others.
  enum class Agent : std::uint8_t { kNone, kWorks, kStopped };
  Agent agent = Agent::kNone;
  Labels gpus;  // the annotations in which it has registered its GPUs

  // kInvalidArgument for anything else than a Node.
  [[nodiscard]] static Result<SeenNode> Read(std::string_view text);
};

struct SeenContainer {
  std::string name;
  std::string image;
  enum class Role : std::uint8_t { kMain, kInit, kSidecar };
  Role role = Role::kMain;
};

struct SeenPod {
  std::string ns;
  std::string name;
  std::string uid;
  std::string version;
  std::string node;                            // "" before it is bound
  std::string phase;                           // "" is Pending
  std::vector<SeenContainer> containers;       // init containers first
  std::optional<Time> start_time;              // status.startTime: a kubelet has taken it
  std::optional<std::int64_t> deletion_grace;  // seconds
  std::optional<Time> deletion;                // deletionTimestamp: the end of its grace period

  std::optional<Duration> run_time;  // strata.sh/run-seconds; none: until it is deleted
  std::string bad_annotation;        // the first of the two that cannot be read; "" if none
  std::int32_t exit_code = 0;        // strata.sh/exit-code

  std::optional<agent::KnownPod> gpu_pod;  // what an agent sees of it; none: it needs no GPUs

  bool has_container_statuses = false;
  bool host_network = false;
  bool deleting = false;
  bool has_finalizers = false;

  [[nodiscard]] bool IsPending() const { return phase.empty() || phase == "Pending"; }
  [[nodiscard]] bool HasEnded() const { return phase == "Succeeded" || phase == "Failed"; }

  [[nodiscard]] static Result<SeenPod> Read(std::string_view text);
};

}  // namespace strata::virtual_nodes
