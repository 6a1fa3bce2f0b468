#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/clock.h"
#include "inspect/job_report.h"
#include "report/text.h"

// Jobs for people and programs. Each is text that ends in a newline.
namespace strata::inspect {

enum class NamespaceColumn : std::uint8_t { kHide, kShow };
[[nodiscard]] std::string RenderJobList(const std::vector<JobReport>& jobs,
                                        NamespaceColumn column,
                                        Time now,
                                        const TextStyle& style);
[[nodiscard]] std::string RenderJob(const JobReport& job,
                                    const std::vector<EventLine>& events,
                                    Time now,
                                    const TextStyle& style);

// One document each; the order of keys is fixed.
[[nodiscard]] std::string RenderJobListJson(const std::vector<JobReport>& jobs);
[[nodiscard]] std::string RenderJobJson(const JobReport& job, const std::vector<EventLine>& events);

}  // namespace strata::inspect
