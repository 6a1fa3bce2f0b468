#include "convert/disruption.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "base/duration.h"
#include "base/timestamp.h"
#include "objects/annotation_values.h"
#include "objects/volcano_keys.h"

namespace strata {
namespace {

constexpr std::array<std::string_view, 2> kCriticalClasses = {"system-cluster-critical",
                                                              "system-node-critical"};
constexpr std::string_view kSystemNamespace = "kube-system";

template <typename Array>
bool IsOneOf(const Array& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

// A word that is neither is false.
bool ToBool(std::string_view text) {
  return objects::ParseFlag(text).value_or(false);
}

Disruption::Moment RunsSince(const objects::Pod& pod) {
  const objects::Condition* scheduled =
      objects::FindCondition(pod.status.conditions, "PodScheduled");
  if (scheduled == nullptr || scheduled->status != "True" || !scheduled->last_transition) return {};
  return ToMoment(*scheduled->last_transition);
}

Disruption::Moment SavedAt(const objects::Pod& pod) {
  const std::string* text = objects::Find(pod.meta.annotations, objects::kLastCheckpointKey);
  if (text == nullptr) return {};
  const Result<Time> time = ParseTimestamp(*text);
  return time ? ToMoment(*time) : Disruption::Moment{};
}

std::int32_t CooldownSeconds(const objects::Metadata& meta) {
  const std::string* text = objects::Find(meta.labels, objects::kCooldownTimeKey);
  if (text == nullptr) text = objects::Find(meta.annotations, objects::kCooldownTimeKey);
  if (text == nullptr) return 0;
  const Result<Duration> cooldown = ParseDuration(*text);
  if (!cooldown) return 0;
  constexpr std::int64_t kMax = std::numeric_limits<std::int32_t>::max();
  const std::int64_t seconds = std::chrono::ceil<std::chrono::seconds>(*cooldown).count();
  return static_cast<std::int32_t>(std::clamp<std::int64_t>(seconds, 0, kMax));
}

}  // namespace

std::optional<bool> SaysPreemptable(const objects::Metadata& meta) {
  const std::string* text = objects::Find(meta.annotations, objects::kPreemptableKey);
  if (text == nullptr) text = objects::Find(meta.labels, objects::kPreemptableKey);
  if (text == nullptr) return std::nullopt;
  return ToBool(*text);
}

Disruption ToDisruption(const objects::Pod& pod, const objects::PriorityTable& priorities) {
  Disruption disruption;
  disruption.runs_since = RunsSince(pod);
  disruption.saved_at = SavedAt(pod);
  disruption.grace_seconds = std::max(pod.spec.grace_seconds.value_or(disruption.grace_seconds), 0);
  disruption.cooldown_seconds = CooldownSeconds(pod.meta);
  disruption.preemptable = SaysPreemptable(pod.meta).value_or(true);
  disruption.never_preempts = pod.spec.preemption_policy
                                  ? *pod.spec.preemption_policy == objects::PreemptionPolicy::kNever
                                  : priorities.NeverPreempts(pod.spec.priority_class_name);
  disruption.critical =
      IsOneOf(kCriticalClasses, pod.spec.priority_class_name) || pod.meta.ns == kSystemNamespace;
  return disruption;
}

bool SparesJobs(const objects::Metadata& meta) {
  const std::string* text = objects::Find(meta.annotations, objects::kEvictKey);
  return text != nullptr && !ToBool(*text);
}

bool IsPreempted(const objects::Pod& pod) {
  const objects::Condition* target =
      objects::FindCondition(pod.status.conditions, "DisruptionTarget");
  return target != nullptr && target->status == "True" && target->reason == kPreemptionReason;
}

}  // namespace strata
