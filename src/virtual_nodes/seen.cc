#include "virtual_nodes/seen.h"

#include <utility>

#include "agent/record_names.h"
#include "base/ascii.h"
#include "base/quantity.h"
#include "convert/gpu_annotations.h"
#include "convert/node_lock.h"
#include "objects/cursor.h"
#include "objects/value.h"

namespace strata::virtual_nodes {
namespace {

using objects::Cursor;

SeenNode::Ready ReadyOf(std::string_view status) {
  if (status == "True") return SeenNode::Ready::kTrue;
  if (status == "False") return SeenNode::Ready::kFalse;
  return SeenNode::Ready::kUnknown;
}

bool HasMembers(const Cursor& object) {
  bool some = false;
  object.ForEachMember([&](std::string_view, const Cursor&) { some = true; });
  return some;
}

template <typename Seen>
void ReadIdentity(const Cursor& meta, Seen& seen) {
  meta.At("name").Read(seen.name);
  meta.At("uid").Read(seen.uid);
  meta.At("resourceVersion").Read(seen.version);
}

// A number of seconds that is not negative; none for any other text.
std::optional<Duration> ReadSeconds(const std::string& text) {
  const auto seconds = Quantity::Parse(text);
  if (!seconds || seconds->IsNegative()) return std::nullopt;
  const auto milli = seconds->Milli();
  return milli ? std::optional(Duration(*milli)) : std::nullopt;
}

void ReadAgent(const Cursor& annotations, SeenNode& node) {
  std::string stopped;
  annotations.At(kAgentStopped).Read(stopped);
  if (!annotations.At(kAgentAnnotation).present()) return;
  node.agent = stopped == "true" ? SeenNode::Agent::kStopped : SeenNode::Agent::kWorks;
  for (const std::string_view key : {agent::RecordNames().registered, kGpuScoreAnnotation}) {
    std::string text;
    annotations.At(key).Read(text);
    if (!text.empty()) node.gpus.emplace(key, std::move(text));
  }
}

void ReadNodeMeta(const Cursor& meta, SeenNode& node) {
  ReadIdentity(meta, node);
  const Cursor labels = meta.At("labels");
  std::string value;
  labels.At(kVirtualLabel).Read(value);
  node.labelled = value == "true";
  std::string stop;
  const Cursor annotations = meta.At("annotations");
  annotations.At(kStopSeconds).Read(stop);
  node.stop_time = ReadSeconds(stop).value_or(Duration(0));
  ReadAgent(annotations, node);
}

void ReadNodeStatus(const Cursor& status, SeenNode& node) {
  node.has_resources = HasMembers(status.At("capacity")) || HasMembers(status.At("allocatable"));
  status.At("conditions").ForEach([&](const Cursor& condition) {
    std::string type;
    std::string said;
    condition.At("type").Read(type);
    if (type != "Ready") return;
    condition.At("status").Read(said);
    condition.At("reason").Read(node.ready_reason);
    node.ready = ReadyOf(said);
  });
  status.At("addresses").ForEach([&](const Cursor& address) {
    std::string type;
    address.At("type").Read(type);
    node.has_addresses = true;
    if (type == "InternalIP") address.At("address").Read(node.internal_ip);
  });
  const Cursor info = status.At("nodeInfo");
  std::string version;
  info.At("kubeletVersion").Read(version);
  node.has_info = !version.empty();
}

void ReadContainers(const Cursor& list, SeenContainer::Role role, SeenPod& pod) {
  list.ForEach([&](const Cursor& item) {
    SeenContainer& container = pod.containers.emplace_back();
    std::string restart;
    item.At("name").Read(container.name);
    item.At("image").Read(container.image);
    item.At("restartPolicy").Read(restart);
    container.role = role == SeenContainer::Role::kInit && restart == "Always"
                         ? SeenContainer::Role::kSidecar
                         : role;
  });
}

// An annotation is anybody's text: one that cannot be read counts as not there.
void ReadAnnotations(const Cursor& annotations, SeenPod& pod) {
  std::string run;
  std::string code;
  annotations.At(kRunSeconds).Read(run);
  annotations.At(kExitCode).Read(code);
  if (!run.empty()) {
    pod.run_time = ReadSeconds(run);
    if (!pod.run_time) pod.bad_annotation = kRunSeconds;
  }
  if (!code.empty()) {
    if (const auto number = WholeNumber(code, 255)) {
      pod.exit_code = static_cast<std::int32_t>(*number);
    } else if (pod.bad_annotation.empty()) {
      pod.bad_annotation = kExitCode;
    }
  }
}

bool AsksForGpus(const Cursor& spec) {
  bool asks = false;
  for (const char* list : {"initContainers", "containers"}) {
    spec.At(list).ForEach([&](const Cursor& container) {
      const Cursor resources = container.At("resources");
      const Cursor limits = resources.At("limits");
      asks = asks || limits.At(agent::RecordNames().count).present();
    });
  }
  return asks;
}

void ReadPodMeta(const Cursor& meta, SeenPod& pod) {
  ReadIdentity(meta, pod);
  meta.At("namespace").Read(pod.ns);
  pod.deleting = meta.At("deletionTimestamp").present();
  meta.At("deletionTimestamp").Read(pod.deletion);
  meta.At("finalizers").ForEach([&](const Cursor&) { pod.has_finalizers = true; });
  if (const Cursor grace = meta.At("deletionGracePeriodSeconds"); grace.present()) {
    grace.Read(pod.deletion_grace.emplace(0), {INT64_MIN, INT64_MAX});
  }
  ReadAnnotations(meta.At("annotations"), pod);
}

}  // namespace

Result<SeenNode> SeenNode::Read(std::string_view text) {
  TRY_ASSIGN(const objects::Document document, objects::Document::ParseJson(text));
  objects::ReadLog log;
  const Cursor root(document.root(), log);
  SeenNode node;
  ReadNodeMeta(root.At("metadata"), node);
  ReadNodeStatus(root.At("status"), node);
  const Cursor spec = root.At("spec");
  spec.At("taints").ForEach([&](const Cursor& item) {
    SeenTaint& taint = node.taints.emplace_back();
    item.At("key").Read(taint.key);
    item.At("value").Read(taint.value);
    item.At("effect").Read(taint.effect);
    item.At("timeAdded").Read(taint.time_added);
  });
  if (!log.error.empty()) return Fail(Code::kInvalidArgument, log.error);
  return node;
}

Result<SeenPod> SeenPod::Read(std::string_view text) {
  TRY_ASSIGN(const objects::Document document, objects::Document::ParseJson(text));
  objects::ReadLog log;
  const Cursor root(document.root(), log);
  SeenPod pod;
  ReadPodMeta(root.At("metadata"), pod);
  const Cursor spec = root.At("spec");
  spec.At("nodeName").Read(pod.node);
  spec.At("hostNetwork").Read(pod.host_network);
  ReadContainers(spec.At("initContainers"), SeenContainer::Role::kInit, pod);
  ReadContainers(spec.At("containers"), SeenContainer::Role::kMain, pod);
  const Cursor status = root.At("status");
  status.At("phase").Read(pod.phase);
  status.At("startTime").Read(pod.start_time);
  status.At("containerStatuses").ForEach([&](const Cursor&) { pod.has_container_statuses = true; });
  if (!log.error.empty()) return Fail(Code::kInvalidArgument, log.error);
  if (AsksForGpus(spec)) {
    TRY_ASSIGN(pod.gpu_pod, agent::ReadKnownPod(text, agent::RecordNames().count));
  }
  return pod;
}

}  // namespace strata::virtual_nodes
