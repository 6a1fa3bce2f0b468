#pragma once

#include <string>
#include <vector>

#include "base/clock.h"
#include "inspect/job_report.h"
#include "report/text.h"

// Jobs for people and programs. Each is text that ends in a newline.
namespace strata::inspect {

struct JobColumns {
  bool ns = false;
  bool wide = false;  // also what does not fit on a line of 80 columns
};
// One line each.
[[nodiscard]] std::string RenderJobList(const std::vector<JobReport>& jobs,
                                        JobColumns columns,
                                        Time now,
                                        const TextStyle& style);
// "job.batch.volcano.sh/train", one on each line, as kubectl takes them.
[[nodiscard]] std::string RenderJobNames(const std::vector<JobReport>& jobs);
struct JobEvents {
  std::vector<EventLine> history;  // see HistoryOf
  std::vector<EventLine> last;     // see LastEvents
};
// Shows those of the last events that are about its pods: the history has the others.
[[nodiscard]] std::string RenderJob(const JobReport& job,
                                    const JobEvents& events,
                                    Time now,
                                    const TextStyle& style);

// One document each; the order of keys is fixed.
[[nodiscard]] std::string RenderJobListJson(const std::vector<JobReport>& jobs);
[[nodiscard]] std::string RenderJobListYaml(const std::vector<JobReport>& jobs);
[[nodiscard]] std::string RenderJobJson(const JobReport& job, const JobEvents& events);

}  // namespace strata::inspect
