#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "model/cluster_state.h"
#include "objects/pod_group.h"
#include "sched/extension.h"

namespace strata::live {

// status of a PodGroup.
struct GroupStatus {
  std::string phase;
  std::int32_t running = 0;
  std::int32_t succeeded = 0;
  std::int32_t failed = 0;
  std::vector<objects::Condition> conditions;
};

[[nodiscard]] GroupStatus StatusOf(const objects::PodGroup& group);

// When a condition changes, and in which cycle.
struct Moment {
  Time now{};
  std::string transition_id;
};

// What the status is to be after a cycle. A gang that has its minimum on nodes is Scheduled, which
// tells later that it once was whole (JobSpec::was_whole); that is gone when all of its pods wait
// again. A gang that has not and was refused (`verdict`, which may be null) is Unschedulable, with
// the word and sentence of the refusal; of the two conditions the one that is not true is False.
// While neither can be said the conditions stay as they were `before`.
[[nodiscard]] GroupStatus NextStatus(const GroupStatus& before,
                                     const Job& job,
                                     const Refusal* verdict,
                                     const Moment& moment);

// The same with the smallest change that would let the job start ("" for none) after the sentence
// of its verdict, if that is what its condition says. It stays there for as long as the verdict
// does.
[[nodiscard]] GroupStatus WithAdvice(GroupStatus status,
                                     const Refusal& verdict,
                                     const std::string& advice);
// What a cycle warns of, by the word that is the type of its condition (TopologyNotBinding).
using GroupWarnings = std::map<std::string, std::string>;
// The same with these warnings as conditions. One that is not among them any more is False.
[[nodiscard]] GroupStatus WithWarnings(GroupStatus status,
                                       const GroupWarnings& warnings,
                                       const Moment& moment);
// Whether a condition of that type is a warning.
[[nodiscard]] bool IsWarning(std::string_view type);

// Whether somebody who looks at the object could tell them apart, but for the times in it.
[[nodiscard]] bool SaysTheSame(const GroupStatus& a, const GroupStatus& b);

// Whether `after` says something that somebody waits for: another phase, or a refusal. The rest
// (counts of pods, that a gang has its places) may be seen a moment later.
[[nodiscard]] bool IsUrgent(const GroupStatus& before, const GroupStatus& after);

// A merge patch that brings the status about, of the group with this uid and no later one of its
// name.
[[nodiscard]] std::string StatusPatch(const GroupStatus& status, const std::string& uid);

inline constexpr const char* kUnschedulable = "Unschedulable";
inline constexpr const char* kScheduled = "Scheduled";

}  // namespace strata::live
