#pragma once

#include <vector>

#include "inspect/job_report.h"
#include "objects/job.h"
#include "objects/pod.h"
#include "objects/priority.h"

// Reasons that no scheduler gives, as it never sees the pods. Pure.
namespace strata::inspect {

// PriorityClassNotFound, of a job that lacks pods.
void AddMissingClass(const objects::PriorityTable& classes,
                     const objects::Job& job,
                     JobReport& report);

// SchedulerNotFound, of a job whose `pods` name a scheduler that nobody serves.
void AddUnserved(const std::vector<const objects::Pod*>& pods, JobReport& report);

}  // namespace strata::inspect
