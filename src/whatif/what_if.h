#pragma once

#include <functional>

#include "base/result.h"
#include "objects/object_set.h"
#include "sched/config.h"
#include "whatif/cluster.h"
#include "whatif/run.h"

namespace strata {

// Changes a set of objects in place; changes.h has the usual ones.
using Change = std::function<void(objects::ObjectSet&)>;

// What the cycles decided, and the cluster as they left it.
struct Outcome {
  LoadedCluster cluster;
  RunResult result;
};

// What the scheduler would decide if `change` were made: applies it to a copy of `objects` and runs
// cycles on the copy. Pure apart from `options`. Fails as LoadCompleted and RunCycles do.
// COST: a copy and a load of all objects, and the cycles.
[[nodiscard]] Result<Outcome> WhatIf(const CompletedObjects& objects,
                                     const Change& change,
                                     const SchedulerConfig& config,
                                     const RunOptions& options);

}  // namespace strata
