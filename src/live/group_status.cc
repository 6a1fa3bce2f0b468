#include "live/group_status.h"

#include <algorithm>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/timestamp.h"
#include "json/dump.h"
#include "objects/waiting_advice.h"

namespace strata::live {
namespace {

constexpr const char* kReadyReason = "tasks in gang are ready to be scheduled";

bool SameCondition(const objects::Condition& a, const objects::Condition& b) {
  return a.type == b.type && a.status == b.status && a.reason == b.reason && a.message == b.message;
}

// Puts the condition in the place of the one of its type.
void Set(std::vector<objects::Condition>& conditions,
         objects::Condition condition,
         const Moment& moment) {
  const auto same_type = [&](const objects::Condition& other) {
    return other.type == condition.type;
  };
  const auto it = std::find_if(conditions.begin(), conditions.end(), same_type);
  if (it != conditions.end() && SameCondition(*it, condition)) return;
  condition.last_transition = moment.now;
  condition.transition_id = moment.transition_id;
  if (it == conditions.end()) {
    conditions.push_back(std::move(condition));
  } else {
    *it = std::move(condition);
  }
}

void SetFalse(std::vector<objects::Condition>& conditions,
              const std::string& type,
              const Moment& moment) {
  const objects::Condition* known = objects::FindCondition(conditions, type);
  if (known == nullptr) return;
  objects::Condition next = *known;
  next.status = "False";
  Set(conditions, std::move(next), moment);
}

bool Says(const objects::Condition& condition, const Refusal& verdict) {
  return condition.status == "True" && condition.reason == verdict.reason &&
         objects::WithoutAdvice(condition.message) == verdict.message;
}

// Binds under way may fail, or may never be sent if this process ends.
bool HasItsMinimum(const Job& job) {
  const TaskCounts& counts = job.counts;
  const std::int32_t arrived = counts.Of(TaskStatus::kBound) + counts.Of(TaskStatus::kRunning) +
                               counts.Of(TaskStatus::kSucceeded);
  return arrived > 0 && arrived + counts.pending_best_effort >= job.spec.min_available;
}

// All its pods were evicted, say, and wait again.
bool BeginsAnew(const Job& job) {
  const TaskCounts& counts = job.counts;
  const std::int32_t begun = counts.Allocated() + counts.Of(TaskStatus::kReleasing) +
                             counts.Of(TaskStatus::kSucceeded) + counts.Of(TaskStatus::kFailed);
  return begun == 0 && counts.Of(TaskStatus::kPending) > 0;
}

}  // namespace

GroupStatus StatusOf(const objects::PodGroup& group) {
  return {.phase = std::string(objects::ToString(group.phase)),
          .running = group.running,
          .succeeded = group.succeeded,
          .failed = group.failed,
          .conditions = group.conditions};
}

GroupStatus NextStatus(const GroupStatus& before,
                       const Job& job,
                       const Refusal* verdict,
                       const Moment& moment) {
  GroupStatus next{.phase = ToString(job.phase),
                   .running = job.counts.Of(TaskStatus::kRunning),
                   .succeeded = job.counts.Of(TaskStatus::kSucceeded),
                   .failed = job.counts.Of(TaskStatus::kFailed),
                   .conditions = before.conditions};
  if (BeginsAnew(job)) {
    std::erase_if(next.conditions, [](const auto& one) { return one.type == kScheduled; });
  }
  objects::Condition condition;
  condition.status = "True";
  if (HasItsMinimum(job)) {
    condition.type = kScheduled;
    condition.reason = kReadyReason;
    SetFalse(next.conditions, kUnschedulable, moment);
    Set(next.conditions, std::move(condition), moment);
  } else if (verdict != nullptr) {
    condition.type = kUnschedulable;
    condition.reason = verdict->reason;
    condition.message = verdict->message;
    const objects::Condition* said = objects::FindCondition(before.conditions, kUnschedulable);
    if (said != nullptr && Says(*said, *verdict)) condition.message = said->message;
    SetFalse(next.conditions, kScheduled, moment);
    Set(next.conditions, std::move(condition), moment);
  }
  return next;
}

bool SaysTheSame(const GroupStatus& a, const GroupStatus& b) {
  return a.phase == b.phase && a.running == b.running && a.succeeded == b.succeeded &&
         a.failed == b.failed &&
         std::equal(a.conditions.begin(),
                    a.conditions.end(),
                    b.conditions.begin(),
                    b.conditions.end(),
                    SameCondition);
}

bool IsUrgent(const GroupStatus& before, const GroupStatus& after) {
  if (before.phase != after.phase) return true;
  const objects::Condition* refused = objects::FindCondition(after.conditions, kUnschedulable);
  if (refused == nullptr || refused->status != "True") return false;
  const objects::Condition* known = objects::FindCondition(before.conditions, kUnschedulable);
  return known == nullptr || !SameCondition(*known, *refused);
}

GroupStatus WithAdvice(GroupStatus status, const Refusal& verdict, const std::string& advice) {
  for (objects::Condition& condition : status.conditions) {
    if (condition.type != kUnschedulable || !Says(condition, verdict)) continue;
    condition.message = verdict.message;
    if (!advice.empty()) condition.message.append(objects::kAdvice).append(advice);
  }
  return status;
}

bool IsWarning(std::string_view type) {
  return type == "TopologyNotBinding" || type == "TopologyIgnoredForBestEffort";
}

GroupStatus WithWarnings(GroupStatus status, const GroupWarnings& warnings, const Moment& moment) {
  std::vector<std::string> over;
  for (const objects::Condition& condition : status.conditions) {
    if (IsWarning(condition.type) && !warnings.contains(condition.type)) {
      over.push_back(condition.type);
    }
  }
  for (const std::string& type : over) SetFalse(status.conditions, type, moment);
  for (const auto& [type, message] : warnings) {
    objects::Condition condition;
    condition.type = type;
    condition.status = "True";
    condition.reason = type;
    condition.message = message;
    Set(status.conditions, std::move(condition), moment);
  }
  return status;
}

std::string StatusPatch(const GroupStatus& status, const std::string& uid) {
  nlohmann::ordered_json conditions = nlohmann::ordered_json::array();
  for (const objects::Condition& condition : status.conditions) {
    nlohmann::ordered_json out = {{"type", condition.type}, {"status", condition.status}};
    if (!condition.transition_id.empty()) out["transitionID"] = condition.transition_id;
    if (condition.last_transition) {
      const auto whole = std::chrono::floor<std::chrono::seconds>(*condition.last_transition);
      out["lastTransitionTime"] = FormatTimestamp(whole);
    }
    if (!condition.reason.empty()) out["reason"] = condition.reason;
    if (!condition.message.empty()) out["message"] = condition.message;
    conditions.push_back(std::move(out));
  }
  // Counters of 0 are left out of the object, as Volcano does.
  const auto counter = [](std::int32_t count) {
    return count == 0 ? nlohmann::ordered_json() : nlohmann::ordered_json(count);
  };
  const nlohmann::ordered_json patch = {{"metadata", {{"uid", uid}}},
                                        {"status",
                                         {{"phase", status.phase},
                                          {"conditions", std::move(conditions)},
                                          {"running", counter(status.running)},
                                          {"succeeded", counter(status.succeeded)},
                                          {"failed", counter(status.failed)}}}};
  return DumpJson(patch);
}

}  // namespace strata::live
