#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "sched/config.h"
#include "whatif/edit.h"
#include "whatif/run.h"
#include "whatif/what_if.h"

namespace strata {

// A job that two runs decide differently.
struct JobDifference {
  std::string job;     // "ns/podgroup", or "ns/job" where a Job made it
  std::string before;  // "in s4 (tier 2)", "placed", "waits (NotEnoughResources)", "not there"
  std::string after;

  bool operator==(const JobDifference&) const = default;
};

// The jobs of either run that stand otherwise in the other, by name. `names` gives the Job of a
// PodGroup. Pure.
[[nodiscard]] std::vector<JobDifference> CompareJobs(
    const RunResult& before,
    const RunResult& after,
    const std::map<std::string, std::string, std::less<>>& group_of_job);

// What would be if the edits were made.
struct WhatIfAnswer {
  std::vector<std::string> changes;  // a line for each edit
  CompletedObjects objects;          // changed, before any cycle
  Outcome outcome;                   // and what the cycles made of them
  std::vector<JobDifference> differences;
};

// Runs the cycles on `objects` as they are, and with the edits; the one function behind every
// what-if. Pure apart from `options`. Fails as ApplyEdits, LoadCompleted and RunCycles do.
// COST: two loads and two runs.
[[nodiscard]] Result<WhatIfAnswer> AnswerWhatIf(const CompletedObjects& objects,
                                                std::span<const Edit> edits,
                                                const std::string& ns,
                                                const SchedulerConfig& config,
                                                const RunOptions& options);

// "default/train: in s4 (tier 2), would wait (NotEnoughResources)": one line for each difference.
[[nodiscard]] std::vector<std::string> Sentences(const std::vector<JobDifference>& differences);

}  // namespace strata
