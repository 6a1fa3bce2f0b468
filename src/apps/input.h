#pragma once

#include <string>
#include <vector>

#include "apps/flags.h"
#include "apps/terminal.h"
#include "base/result.h"
#include "sched/config.h"
#include "simulate/cluster.h"

namespace strata {

struct Input {
  SchedulerConfig config;
  CompletedObjects objects;
  SimulatedCluster cluster;
  std::vector<std::string> warnings;  // lines for standard error
};

// Reads everything the flags name. The first problem is the error, one line.
[[nodiscard]] Result<Input> LoadInput(const InputFlags& flags, Progress& progress);

// Ends a command: text to standard output and the warnings to standard error, or the error line
// alone. Returns the exit status.
[[nodiscard]] int PrintResult(const Result<std::string>& text,
                              const std::vector<std::string>& warnings);

}  // namespace strata
