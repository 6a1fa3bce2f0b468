#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "inspect/job_report.h"
#include "model/labels.h"

// Which jobs a list shows, and in which order. Pure.
namespace strata::inspect {

struct StateChoice {
  std::vector<JobState> states;
  std::vector<std::string> phases;  // as Jobs and PodGroups write them
};
// From words with commas between them: states, or phases in any case ("waiting,Failed").
// kInvalidArgument names the unknown word, and the known ones.
[[nodiscard]] Result<StateChoice> ParseStates(std::string_view text);

enum class JobOrder : std::uint8_t {
  kName,  // namespace and name, as lists show it
  kQueue,
  kPhase,
  kDomain,
  kGpus,  // the most first
  kTime,  // the longest first; see TimeOf
  kAge,   // the oldest first
};
[[nodiscard]] Result<JobOrder> ParseJobOrder(std::string_view text);
// "name|queue|phase|domain|gpus|time|age"
[[nodiscard]] std::string KnownJobOrders();

struct JobChoice {
  std::string queue;                          // "": any
  std::optional<StateChoice> states;          // none: any
  std::function<bool(const Labels&)> labels;  // empty: any
  JobOrder order = JobOrder::kName;
};
// Jobs that are equal in that order are in the order of namespace and name, where numbers count as
// numbers.
void ChooseJobs(const JobChoice& choice, Time now, std::vector<JobReport>& jobs);

}  // namespace strata::inspect
