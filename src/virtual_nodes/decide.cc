#include "virtual_nodes/decide.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/timestamp.h"
#include "json/dump.h"
#include "json/parse.h"
#include "kube/resource.h"
#include "virtual_nodes/pod_status.h"

namespace strata::virtual_nodes {
namespace {

using Json = nlohmann::json;
using Ready = SeenNode::Ready;

constexpr int kLeaseSeconds = 40;
constexpr const char* kManager = "strata-virtual-nodes";

std::string Stamp(Time time) {
  return FormatTimestamp(std::chrono::floor<std::chrono::seconds>(time));
}

kube::Call Patch(const kube::ResourcePath& path, kube::PatchType type, const Json& body) {
  return kube::PatchCall(path, {.type = type, .field_manager = kManager}, DumpJson(body));
}

// The version that was looked at is a condition of the write.
template <typename Seen>
Json Precondition(const Seen& seen) {
  return {{"uid", seen.uid}, {"resourceVersion", seen.version}};
}

Json ReadyCondition(Time now) {
  return {{"type", "Ready"},
          {"status", "True"},
          {"reason", "KubeletReady"},
          {"message", "virtual node is ready"},
          {"lastHeartbeatTime", Stamp(now)},
          {"lastTransitionTime", Stamp(now)}};
}

Json Addresses(std::string_view name) {
  return Json::array({Json::object({{"type", "InternalIP"}, {"address", MadeUpAddress(name)}}),
                      Json::object({{"type", "Hostname"}, {"address", name}})});
}

Json NodeInfo() {
  return {{"kubeletVersion", "v1.32.0-strata"},
          {"operatingSystem", "linux"},
          {"architecture", "amd64"},
          {"osImage", "virtual"},
          {"kernelVersion", "virtual"},
          {"containerRuntimeVersion", "virtual://1"},
          {"bootID", ""},
          {"machineID", ""},
          {"systemUUID", ""},
          {"kubeProxyVersion", ""}};
}

kube::Call BecomeReady(const SeenNode& node, Time now) {
  Json status = Json::object({{"conditions", Json::array({ReadyCondition(now)})}});
  if (!node.has_resources) {
    status["capacity"] = UsualResources();
    status["allocatable"] = UsualResources();
  }
  if (!node.has_addresses) status["addresses"] = Addresses(node.name);
  if (!node.has_info) status["nodeInfo"] = NodeInfo();
  return Patch({kube::kNodes, "", node.name, "status"},
               kube::PatchType::kStrategic,
               {{"metadata", Precondition(node)}, {"status", std::move(status)}});
}

bool IsNotReadyTaint(const SeenTaint& taint) {
  return taint.key == kNotReadyTaint && taint.effect == "NoSchedule";
}

Json ToJson(const SeenTaint& taint) {
  Json json = {{"key", taint.key}, {"effect", taint.effect}};
  if (!taint.value.empty()) json["value"] = taint.value;
  if (!taint.time_added.empty()) json["timeAdded"] = taint.time_added;
  return json;
}

// The taints in which the condition shows; none when they are right as they are. In a cluster that
// watches Leases, the one for Unknown is not ours to set.
std::optional<Json> RightTaints(const SeenNode& node, Reach reach) {
  if (node.ready == Ready::kUnknown && reach == Reach::kLabelled) return std::nullopt;
  const bool tainted = std::any_of(node.taints.begin(), node.taints.end(), IsNotReadyTaint);
  const bool alive = IsAlive(node);
  if (tainted != alive) return std::nullopt;
  Json taints = Json::array();
  for (const SeenTaint& taint : node.taints) {
    if (!IsNotReadyTaint(taint)) taints.push_back(ToJson(taint));
  }
  if (!alive) taints.push_back(ToJson({std::string(kNotReadyTaint), "", "NoSchedule", ""}));
  return taints;
}

bool WasOnlyLate(const SeenNode& node, Reach reach) {
  return reach == Reach::kLabelled && node.ready == Ready::kUnknown &&
         node.ready_reason == "NodeStatusUnknown";
}

kube::Call PatchPodStatus(const SeenPod& pod, Json status) {
  return Patch({kube::kPods, pod.ns, pod.name, "status"},
               kube::PatchType::kStrategic,
               {{"metadata", Precondition(pod)}, {"status", std::move(status)}});
}

// When a pod that was asked to stop has done so: its containers take their time, but not more than
// the grace period of the pod.
Time EndOfStop(const SeenPod& pod, Duration stop_time) {
  const std::chrono::seconds grace(pod.deletion_grace.value_or(0));
  return *pod.deletion - grace + std::min<Duration>(stop_time, grace);
}

PodAction DecideDeleted(const SeenPod& pod, const PodCircumstances& around, Time now) {
  const Host host = around.host;
  // What has no grace left waits for its finalizers only. Without any, it was to go when its server
  // died.
  const bool waits = pod.deletion_grace == 0 && pod.has_finalizers;
  if (host == Host::kForeign || waits) return {};
  const bool runs = host == Host::kAlive && pod.start_time && !pod.HasEnded();
  if (runs && pod.deletion && around.stop_time > Duration(0)) {
    const Time end = EndOfStop(pod, around.stop_time);
    if (now < end) return end;
  }
  return kube::DeleteCall({kube::kPods, pod.ns, pod.name, ""},
                          {.grace_seconds = 0, .uid = pod.uid, .version = {}, .propagation = {}});
}

}  // namespace

bool IsOurs(const SeenNode& node, Reach reach) {
  return reach == Reach::kEvery || node.labelled;
}

bool IsAlive(const SeenNode& node) {
  return node.ready == Ready::kTrue;
}

std::optional<kube::Call> DecideNode(const SeenNode& node, Reach reach, Time now) {
  if (!IsOurs(node, reach)) return std::nullopt;
  if (node.ready == Ready::kUnsaid || WasOnlyLate(node, reach)) return BecomeReady(node, now);
  std::optional<Json> taints = RightTaints(node, reach);
  if (!taints) return std::nullopt;
  return Patch({kube::kNodes, "", node.name, ""},
               kube::PatchType::kMerge,
               {{"metadata", Precondition(node)}, {"spec", {{"taints", std::move(*taints)}}}});
}

kube::Call RenewLease(const SeenNode& node, Time now) {
  const Json owner = {
      {"apiVersion", "v1"}, {"kind", "Node"}, {"name", node.name}, {"uid", node.uid}};
  const Json lease = {{"apiVersion", "coordination.k8s.io/v1"},
                      {"kind", "Lease"},
                      {"metadata",
                       {{"name", node.name},
                        {"namespace", "kube-node-lease"},
                        {"ownerReferences", Json::array({owner})}}},
                      {"spec",
                       {{"holderIdentity", node.name},
                        {"leaseDurationSeconds", kLeaseSeconds},
                        {"renewTime", FormatMicroTime(now)}}}};
  return kube::PatchCall({kube::kLeases, "kube-node-lease", node.name, ""},
                         {.type = kube::PatchType::kApply,
                          .field_manager = kManager,
                          .force = kube::PatchOptions::Force::kYes},
                         DumpJson(lease));
}

bool IsToStart(const SeenPod& pod, Host host) {
  return host == Host::kAlive && !pod.node.empty() && !pod.deleting && !pod.start_time &&
         pod.IsPending() && !pod.has_container_statuses;
}

kube::Call PatchPod(const SeenPod& pod, const std::string& patch) {
  Json body = ParseJsonOrNull(patch);
  body["metadata"].update(Precondition(pod));
  return Patch({kube::kPods, pod.ns, pod.name, ""}, kube::PatchType::kMerge, body);
}

kube::Call RejectPod(const SeenPod& pod, const std::string& why, Time now) {
  return PatchPodStatus(pod, RejectedStatus(why, now));
}

PodAction DecidePod(const SeenPod& pod, const PodCircumstances& around, Time now) {
  if (pod.node.empty()) return {};
  if (pod.deleting) return DecideDeleted(pod, around, now);
  if (IsToStart(pod, around.host)) {
    return PatchPodStatus(pod, RunningStatus(pod, around.host_ip, now));
  }
  if (around.host != Host::kAlive || pod.HasEnded() || !pod.start_time) return {};
  // One that started and says something else than Running was told so by somebody.
  if (pod.phase != "Running" || !pod.run_time) return {};
  const Time start = around.started.value_or(*pod.start_time);
  const Time due = start + std::min(*pod.run_time, kLongestRun);
  if (now < due) return due;
  return PatchPodStatus(pod, EndedStatus(pod, start, now));
}

Json FullNodeStatus(std::string_view name, Json resources, Time now) {
  return {{"capacity", resources},
          {"allocatable", std::move(resources)},
          {"conditions", Json::array({ReadyCondition(now)})},
          {"addresses", Addresses(name)},
          {"nodeInfo", NodeInfo()}};
}

Json UsualResources() {
  return {{"cpu", "96"}, {"memory", "1Ti"}, {"pods", "110"}};
}

std::string MadeUpAddress(std::string_view text) {
  std::uint32_t hash = 2166136261U;  // FNV-1a
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619U;
  return fmt::format("10.{}.{}.{}", (hash >> 16U) & 255U, (hash >> 8U) & 255U, hash & 255U);
}

}  // namespace strata::virtual_nodes
