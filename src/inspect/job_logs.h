#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "inspect/follow_logs.h"
#include "inspect/job_report.h"
#include "inspect/live_cluster.h"

namespace strata::inspect {

struct LogChoice {
  std::string task;       // "": all tasks
  std::string container;  // "": the only one
  std::optional<std::int64_t> tail;
  bool previous = false;
};

// The pods of the job that the choice names and that have a node, by name, where numbers count as
// numbers. An error, one line, when there are none. Pure.
[[nodiscard]] Result<std::vector<JobReport::Pod>> PodsWithLogs(const JobReport& job,
                                                               const LogChoice& choice);

// The logs of these pods one after the other; of several pods each line begins with its pod:
// "[train-worker-0] ...". kNotFound, one line, where the pods are on virtual nodes, which have no
// logs. REQUIRES: at least one pod, likewise below.
[[nodiscard]] Result<std::string> ReadLogs(LiveCluster& cluster,
                                           const JobReport& job,
                                           const std::vector<JobReport::Pod>& pods,
                                           const LogChoice& choice);

// The same as it is written: calls `take` with lines as they come, until all of these logs have
// ended.
[[nodiscard]] Status FollowJobLogs(LiveCluster& cluster,
                                   const JobReport& job,
                                   const std::vector<JobReport::Pod>& pods,
                                   const LogChoice& choice,
                                   const TakeLines& take);

// `text` with `prefix` before each line, ended by a newline. Pure.
[[nodiscard]] std::string PrefixLines(const std::string& prefix, const std::string& text);

}  // namespace strata::inspect
