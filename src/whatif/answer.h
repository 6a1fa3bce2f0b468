#pragma once

#include <cstdint>
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

// Where a job stands at the end of a run.
struct JobStanding {
  enum class Kind : std::uint8_t { kAbsent, kWaiting, kPlaced };
  Kind kind = Kind::kAbsent;
  std::string hypernode;  // of a placed job: the lowest that holds it; "" for none
  std::int32_t tier = 0;  // and its tier
  std::string reason;     // of a waiting job: a word of docs/reasons.md; may be ""

  bool operator==(const JobStanding&) const = default;
};
// "in s4 (tier 2)", "placed", "waits (NotEnoughResources)", "not there".
[[nodiscard]] std::string ToText(const JobStanding& standing);

// Every job of a run by the name that people know it by, which `name_of` gives for "ns/podgroup".
// Where several have one name, all but the first keep the names of their PodGroups. Pure.
using JobStandings = std::map<std::string, JobStanding>;
using NameOfGroup = std::function<std::string(const std::string& group)>;
[[nodiscard]] JobStandings StandingsOf(const RunResult& result, const NameOfGroup& name_of);

// A job that two runs decide differently.
struct JobDifference {
  std::string job;
  JobStanding before;
  JobStanding after;

  bool operator==(const JobDifference&) const = default;
};
// The jobs of either run that stand otherwise in the other, by name. Pure.
[[nodiscard]] std::vector<JobDifference> CompareJobs(const JobStandings& before,
                                                     const JobStandings& after);

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
