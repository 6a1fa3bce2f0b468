#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "sched/config.h"
#include "whatif/cluster.h"
#include "whatif/run.h"
#include "whatif/run_result.h"

namespace strata {

// The jobs that wait in one queue.
struct Line {
  std::string queue;
  std::vector<std::string> jobs;  // "ns/podgroup", in the order in which they get their turn
  std::size_t position = 0;       // of the job in question, from 1
  // The jobs of all queues that would start if everything that runs ended now, in the order of
  // their starts. Empty where nobody asked.
  std::vector<std::string> starts;

  bool operator==(const Line&) const = default;
};

// The line that the job waits in, without `starts`; none when it waits in no queue.
[[nodiscard]] std::optional<Line> FindLine(const RunResult& result, const std::string& job);

// What Line::starts holds. Pods of other schedulers stay. `before` is the run that left the jobs
// waiting. Pure apart from `options`; fails as LoadCompleted and RunCycles do.
// COST: a copy and a load of all objects, and one run.
[[nodiscard]] Result<std::vector<std::string>> FindStarts(const CompletedObjects& objects,
                                                          const SchedulerConfig& config,
                                                          const RunOptions& options,
                                                          const RunResult& before);

}  // namespace strata
