#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "controllers/pod_seen.h"
#include "objects/job.h"

// The lifecycle policies of a Job: what happened, and what is to be done about it.
namespace strata::controllers {

// What is known of a job when its policies are asked.
struct JobScene {
  const objects::Job& job;
  const std::vector<PodSeen>& pods;
  const std::vector<PodSeen>& lost;          // gone before they had ended, and not by our doing
  bool group_unknown = false;                // its PodGroup has phase Unknown
  const std::map<std::string, Time>& since;  // JobVerdict::since of the last time
  Time now;
};

struct JobDecision {
  std::string action;  // "RestartTask"
  std::string event;   // "PodFailed"
  std::string task;    // "" for the job as a whole
  std::optional<PodSeen> pod;
};

struct JobVerdict {
  std::optional<JobDecision> due;
  // Events whose policy has a timeout, and when each was first seen. One that is not there the next
  // time has passed.
  std::map<std::string, Time> since;
  std::optional<Duration> next;  // until the next of these is due
  std::vector<PodSeen> lost;     // those whose time has not come: to be told again
};

// Pods of older versions of the job, beyond its size, or ended by us trigger nothing. Policies of a
// task go before those of the job; `*` means every event but PodPending and PodRunning. An event
// that waits for its time has passed when its pod has: when another pod runs under that name.
[[nodiscard]] JobVerdict AskPolicies(const JobScene& scene);

}  // namespace strata::controllers
