#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "replay/engine.h"
#include "replay/policies/policy.h"
#include "replay/trace.h"
#include "replay/workload.h"

// Small traces and clusters for the tests of replays.
namespace strata::replay {

// A gang of `pods` pods of `gpus` each; seconds.
inline TraceJob TestJob(std::string name, int submit, int duration, int pods, int gpus) {
  TraceJob job;
  job.name = std::move(name);
  job.submit = Millis{submit} * 1000;
  job.duration = Millis{duration} * 1000;
  job.pods = pods;
  job.gpus = gpus;
  job.last_gpus = gpus;
  return job;
}

inline Workload TestWorkload(const std::vector<TraceJob>& jobs,
                             const Fabric& fabric,
                             const WorkloadOptions& options = {}) {
  Trace trace;
  trace.jobs = jobs;
  auto workload = MakeWorkload(trace, fabric, options);
  CHECK(workload.has_value());
  return std::move(*workload);
}

inline EngineResult TestReplay(const Workload& workload,
                               const Fabric& fabric,
                               const std::string& policy,
                               const EngineOptions& options = {},
                               std::uint64_t seed = 1) {
  const auto choice = ChoosePolicy(policy);
  CHECK(choice.has_value());
  auto made = MakePolicy(*choice, workload, fabric, seed);
  CHECK(made.has_value());
  return Replay(workload, fabric, options, **made);
}

}  // namespace strata::replay
