#include "whatif/what_if.h"

#include <utility>

namespace strata {

Result<Outcome> WhatIf(const CompletedObjects& objects,
                       const Change& change,
                       const SchedulerConfig& config,
                       const RunOptions& options) {
  CompletedObjects changed = objects;
  change(changed.objects);
  TRY_ASSIGN(LoadedCluster cluster, LoadCompleted(changed));
  TRY_ASSIGN(RunResult result, RunCycles(cluster, config, options));
  return Outcome{std::move(cluster), std::move(result)};
}

}  // namespace strata
