#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include <nlohmann/json_fwd.hpp>

#include "base/clock.h"
#include "kube/call.h"
#include "virtual_nodes/seen.h"
#include "virtual_nodes/virtual_nodes.h"

// What a kubelet does about a Node or Pod as it was seen: functions of values. Every write names
// the version that it was decided on, so that it never undoes what somebody else wrote meanwhile.
namespace strata::virtual_nodes {

// Whether the node is one of ours.
[[nodiscard]] bool IsOurs(const SeenNode& node, Reach reach);
// Whether it runs pods: Ready is True.
[[nodiscard]] bool IsAlive(const SeenNode& node);

// The next write, if one is due. A Node that does not say whether it is Ready becomes it, with the
// parts of a status that it lacks; one that is marked Unknown only because its Lease was not
// renewed (kLabelled) comes back; the taint not-ready is there exactly while it is not Ready.
[[nodiscard]] std::optional<kube::Call> DecideNode(const SeenNode& node, Reach reach, Time now);

// Says that the node lives, as real ones do every kRenewEvery.
[[nodiscard]] kube::Call RenewLease(const SeenNode& node, Time now);
inline constexpr Duration kRenewEvery = std::chrono::seconds(10);

// What a pod is bound to.
enum class Host : std::uint8_t {
  kAlive,
  kFailed,   // ours, but not Ready: nothing starts or ends there by itself
  kMissing,  // there is no such Node, and it would be ours
  kForeign,
};

// Nothing to do until the pod or its node changes; a look at that time; a write.
using PodAction = std::variant<std::monostate, Time, kube::Call>;

struct PodCircumstances {
  Host host = Host::kForeign;
  std::string host_ip;
  std::optional<Time> started;  // when we started it, finer than status.startTime
  Duration stop_time{};         // of its node
};
[[nodiscard]] PodAction DecidePod(const SeenPod& pod, const PodCircumstances& around, Time now);
// Whether DecidePod would start it.
[[nodiscard]] bool IsToStart(const SeenPod& pod, Host host);

// What the agent of the node writes on a pod before it starts: a merge patch.
[[nodiscard]] kube::Call PatchPod(const SeenPod& pod, const std::string& patch);
// The end of a pod that its node does not admit.
[[nodiscard]] kube::Call RejectPod(const SeenPod& pod, const std::string& why, Time now);

// The status of a virtual node that lacks nothing; `resources` is its capacity.
[[nodiscard]] nlohmann::json FullNodeStatus(std::string_view name,
                                            nlohmann::json resources,
                                            Time now);
// 96 CPUs, 1Ti, 110 pods.
[[nodiscard]] nlohmann::json UsualResources();

// An address of 10.0.0.0/8 that is always the same for the same text; two texts may share one.
[[nodiscard]] std::string MadeUpAddress(std::string_view text);

}  // namespace strata::virtual_nodes
