#include "inspect/job_obstacles.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/plural.h"
#include "explain/obstacles.h"
#include "whatif/cluster.h"

namespace strata::inspect {

void AddMissingClass(const objects::PriorityTable& classes,
                     const objects::Job& job,
                     JobReport& report) {
  if (report.state != JobState::kWaiting || report.pods.size() >= report.total) return;
  const auto missing = MissingClasses(classes, job);
  if (missing.empty()) return;
  report.reason = "PriorityClassNotFound";
  report.message = fmt::format("PriorityClass \"{}\" does not exist, so {} cannot be created",
                               fmt::join(missing, "\", \""),
                               Plural(report.total - report.pods.size(), "pod"));
}

void AddUnserved(const std::vector<const objects::Pod*>& pods, JobReport& report) {
  if (report.state != JobState::kWaiting) return;
  const auto unserved = std::find_if(pods.begin(), pods.end(), [](const objects::Pod* pod) {
    return !IsOurs(*pod) && NobodyLooked(*pod);
  });
  if (unserved == pods.end()) return;
  report.reason = "SchedulerNotFound";
  report.message = fmt::format("no scheduler serves schedulerName \"{}\" of pod {}",
                               (*unserved)->spec.scheduler_name,
                               (*unserved)->meta.name);
}

}  // namespace strata::inspect
