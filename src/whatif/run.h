#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "sched/config.h"
#include "whatif/cluster.h"
#include "whatif/cycle_trace.h"
#include "whatif/run_result.h"

namespace strata {

inline constexpr std::int32_t kMaxCycles = 100;

struct RunOptions {
  std::optional<std::int32_t> cycles;  // exactly so many; none: until one changes nothing
  std::optional<Time> now;             // none: the latest time in the input
  bool recreate = false;               // evicted pods come back, waiting for a node
  // Evicted pods hold their room until their grace is over. Time passes when a cycle changes
  // nothing else. Otherwise they are gone in the next cycle, at the same time.
  bool play_grace = false;
  // The reason of this job "ns/podgroup" alone, with "" of none, is a sentence: the others are only
  // known to wait. None: every reason.
  std::optional<std::string> explain_only = std::nullopt;
  CycleTrace* trace = nullptr;  // never changes a decision
  // Time since some fixed moment; with it the result has timings, all but load_ms.
  std::function<std::chrono::nanoseconds()> stopwatch;
  std::function<void(std::int32_t)> on_cycle;  // called before each cycle, for progress
};

// Runs scheduling cycles until one changes nothing (at most kMaxCycles). Between cycles bound pods
// start to run, terminating pods are gone, and so are evicted ones unless `options` say otherwise.
// `cluster.state` is left as the run ended.
//
// A cycle changes nothing when it binds and evicts nobody, moves no PodGroup phase, leaves the same
// pods waiting and the same verdicts as the previous cycle, and no pod is created or deleted after
// it. It counts.
//
// Pure apart from `options`. kInvalidArgument when the configuration cannot be used.
// REQUIRES: `cluster` is fresh from BuildCluster.
[[nodiscard]] Result<RunResult> RunCycles(LoadedCluster& cluster,
                                          const SchedulerConfig& config,
                                          const RunOptions& options);

}  // namespace strata
