#pragma once

#include <set>
#include <vector>

#include "base/ids.h"
#include "sched/session.h"
#include "sched/shortage.h"
#include "sched/worksheet.h"

// What a gang needs to start, no replica more: nobody is evicted for the others.
namespace strata {

// Tasks without which the gang cannot start, by class: at least so many of each. Empty where it is
// not known which tasks will make up the minimum.
[[nodiscard]] Wanted NeededAtLeast(const Session& session, JobId job, const Worksheet& worksheet);

// The tasks that the gang needs among those that were placed one after the other, in their order.
// All minimums that the placed tasks meet are met by these, too. REQUIRES: the tasks are pending
// again.
[[nodiscard]] std::vector<TaskId> NeededOf(const Session& session,
                                           JobId job,
                                           const std::vector<TaskId>& placed);

// What a job asks for next whose gang runs: the first of its tasks that are left, or those of the
// next sub-group that it lacks to be complete. Without tasks of the classes in `hopeless`. Empty
// when nothing is left.
[[nodiscard]] Worksheet NextReplicas(const Session& session,
                                     JobId job,
                                     const std::set<ClassId>& hopeless);

}  // namespace strata
