#include "controllers/pod_seen.h"

#include <array>
#include <charconv>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/timestamp.h"
#include "controllers/object_meta.h"
#include "json/access.h"
#include "kube/resource.h"
#include "objects/volcano_keys.h"

namespace strata::controllers {
namespace {

using nlohmann::json;
using objects::PodPhase;

constexpr std::array<std::pair<std::string_view, PodPhase>, 5> kPodPhases = {{
    {"Pending", PodPhase::kPending},
    {"Running", PodPhase::kRunning},
    {"Succeeded", PodPhase::kSucceeded},
    {"Failed", PodPhase::kFailed},
    {"Unknown", PodPhase::kUnknown},
}};

std::int32_t NumberOr(const std::string& text, std::int32_t otherwise) {
  std::int32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() && value >= 0 ? value : otherwise;
}

std::string JobOf(const json& pod) {
  for (const json& owner : ListAt(pod, {"metadata", "ownerReferences"})) {
    const bool is_job = TextAt(owner, {"kind"}) == kube::kJobs.kind &&
                        TextAt(owner, {"apiVersion"}) == kube::ApiVersion(kube::kJobs);
    if (is_job && BoolAt(owner, {"controller"})) return TextAt(owner, {"name"});
  }
  return "";
}

bool IsReady(const json& pod) {
  for (const json& condition : ListAt(pod, {"status", "conditions"})) {
    if (TextAt(condition, {"type"}) == "Ready") return TextAt(condition, {"status"}) == "True";
  }
  return false;
}

// What the conditions of the pod say about its eviction. A scheduler names itself in Ready; of
// others, the eviction API for one, there is DisruptionTarget alone.
std::string WhyEvicted(const json& pod) {
  std::string why;
  for (const json& condition : ListAt(pod, {"status", "conditions"})) {
    const std::string& type = TextAt(condition, {"type"});
    const std::string& status = TextAt(condition, {"status"});
    if (type == "Ready" && status == "False" && TextAt(condition, {"reason"}) == "Evict") {
      return TextAt(condition, {"message"});
    }
    if (type == "DisruptionTarget" && status == "True") why = TextAt(condition, {"message"});
  }
  return why;
}

void SeeContainers(const json& pod, PodSeen& seen) {
  bool first = true;
  for (const json& container : ListAt(pod, {"status", "containerStatuses"})) {
    seen.restarts += IntegerAt(container, {"restartCount"});
    const json* code = FindAt(container, {"state", "terminated", "exitCode"});
    if (std::exchange(first, false) && code != nullptr && code->is_number_integer()) {
      seen.exit_code = code->get<std::int32_t>();
    }
  }
}

}  // namespace

PodSeen SeePod(const json& pod) {
  const json& meta = ObjectAt(pod, {"metadata"});
  const json& annotations = ObjectAt(meta, {"annotations"});
  PodSeen seen;
  seen.key = {TextAt(meta, {"namespace"}), TextAt(meta, {"name"})};
  seen.uid = TextAt(meta, {"uid"});
  seen.version = TextAt(meta, {"resourceVersion"});
  seen.owner_uid = ControllerUidOf(pod);
  seen.job = JobOf(pod);
  seen.node = TextAt(pod, {"spec", "nodeName"});
  seen.task = TextAt(annotations, {objects::kTaskSpecKey});
  seen.index = NumberOr(TextAt(annotations, {objects::kTaskIndexKey}), -1);
  seen.job_version = NumberOr(TextAt(annotations, {objects::kJobVersionKey}), 0);
  seen.partition = TextAt(meta, {"labels", objects::kPartitionIdKey});
  for (const auto& [word, phase] : kPodPhases) {
    if (TextAt(pod, {"status", "phase"}) == word) seen.phase = phase;
  }
  seen.being_deleted = IsBeingDeleted(pod);
  seen.out_of_sync = FindAt(annotations, {kOutOfSyncKey}) != nullptr;
  seen.ready = IsReady(pod);
  if (seen.being_deleted) seen.evicted = WhyEvicted(pod);
  seen.created = ParseTimestamp(TextAt(meta, {"creationTimestamp"})).value_or(Time{});
  SeeContainers(pod, seen);
  return seen;
}

std::string_view WordOf(PodPhase phase) {
  for (const auto& [word, named] : kPodPhases) {
    if (named == phase) return word;
  }
  return "";
}

}  // namespace strata::controllers
