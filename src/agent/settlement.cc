#include "agent/settlement.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include <nlohmann/json.hpp>

#include "agent/gpu_record.h"
#include "agent/record_names.h"
#include "convert/node_lock.h"
#include "json/dump.h"
#include "objects/meta.h"

namespace strata::agent {
namespace {

Settlement SettlementOf(const KnownPod& pod) {
  Settlement settlement;
  settlement.uid = pod.uid;
  settlement.ns = pod.ns;
  settlement.pod = pod.name;
  return settlement;
}

}  // namespace

Settlement SettleServed(const KnownPod& pod, const Journal& journal) {
  Settlement settlement = SettlementOf(pod);
  if (objects::Find(pod.annotations, RecordNames().allocated) == nullptr) return settlement;
  // Containers are served in their order.
  std::vector<bool> served(pod.containers.size(), false);
  bool waits = false;
  for (std::size_t i = pod.containers.size(); i-- > 0;) {
    if (journal.Find(pod.uid, pod.containers[i].name) != nullptr) {
      std::fill(served.begin(), served.begin() + static_cast<std::ptrdiff_t>(i) + 1, true);
      break;
    }
    waits = waits || pod.containers[i].gpus > 0;
  }
  settlement.to_allocate = BlankSlots(pod, served);
  if (!waits) settlement.phase = Settlement::Phase::kSuccess;
  return settlement;
}

Settlement SettleRefused(const KnownPod& pod) {
  Settlement settlement = SettlementOf(pod);
  if (objects::Find(pod.annotations, RecordNames().allocated) == nullptr) return settlement;
  settlement.phase = Settlement::Phase::kFailed;
  return settlement;
}

std::string PatchOf(const Settlement& settlement, NodeLocked locked) {
  nlohmann::json annotations = nlohmann::json::object();
  if (settlement.phase != Settlement::Phase::kUnchanged) {
    const bool good = settlement.phase == Settlement::Phase::kSuccess;
    annotations[std::string(RecordNames().bind_phase)] = good ? "success" : "failed";
  }
  if (locked == NodeLocked::kYes && !settlement.to_allocate.empty()) {
    annotations[std::string(RecordNames().to_allocate)] = settlement.to_allocate;
  }
  if (annotations.empty()) return "";
  // The uid makes it a patch of this pod alone, not of a later one with the same name.
  const nlohmann::json patch = {
      {"metadata", {{"uid", settlement.uid}, {"annotations", annotations}}}};
  return DumpJson(patch);
}

NodeLocked LockedFor(const Settlement& settlement, const Labels& node_annotations) {
  const auto lock = ReadNodeLock(node_annotations, GpuDialect::kHami);
  return lock && lock->owner == settlement.FullName() ? NodeLocked::kYes : NodeLocked::kNo;
}

std::string PatchToReleaseLock(const std::string& node_version) {
  const nlohmann::json annotations = {{std::string(RecordNames().lock), nullptr}};
  const nlohmann::json patch = {
      {"metadata", {{"resourceVersion", node_version}, {"annotations", annotations}}}};
  return DumpJson(patch);
}

}  // namespace strata::agent
