#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "replay/engine.h"
#include "replay/policies/policy.h"

namespace strata::replay {

// One replay to be made.
struct BatchRun {
  PolicyChoice policy;
  std::uint64_t seed = 0;
};

struct BatchOptions {
  EngineOptions engine;  // its go_on is not used
  unsigned threads = 1;  // at most so many runs at a time
  // Called on any thread, one call at a time: jobs that are over in all runs together. False: stop.
  std::function<bool(std::size_t jobs)> on_progress = {};
  // Called on any thread, one call at a time, for each run that was completed, in any order.
  std::function<void(std::size_t run, const EngineResult& result)> on_result;
};

// Calls `work` once for each number from 0 to `count` - 1, in that order as far as they begin, on
// at most `threads` threads; returns when all calls have. After one returned false no other begins.
// This is the only file of the module with threads.
void RunInParallel(std::size_t count,
                   unsigned threads,
                   const std::function<bool(std::size_t)>& work);

// Makes the runs, several at a time: threads share `workload`, `fabric` and `runs`, which nobody
// changes, and what they call back. Results do not
// depend on the number of threads. Returns when every thread has ended.
//
// The error of the first run, by number, that cannot begin or that its policy gave up: a
// configuration of the core that cannot be used, a program that answered nonsense. Runs that were
// stopped have no result; that is not an error.
[[nodiscard]] Status RunBatch(const Workload& workload,
                              const Fabric& fabric,
                              const std::vector<BatchRun>& runs,
                              const BatchOptions& options);

}  // namespace strata::replay
