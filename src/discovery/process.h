#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "discovery/read_budget.h"
#include "discovery/reader.h"

namespace strata::discovery {

// Runs a program, found by PATH, in a process group of its own that is killed when `budget` is
// spent. kNotFound when it cannot be started.
[[nodiscard]] Result<CommandOutput> RunProcess(const std::vector<std::string>& command,
                                               ReadBudget& budget);

}  // namespace strata::discovery
