#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "discovery/read_budget.h"
#include "discovery/reader.h"

namespace strata::discovery {

// Runs a program, found by PATH, in a process group of its own, of which nothing is left when this
// returns: it is killed when `budget` is spent, and so is what a program leaves behind when it
// ends. kNotFound when it cannot be started.
[[nodiscard]] Result<CommandOutput> RunProcess(const std::vector<std::string>& command,
                                               ReadBudget& budget);

}  // namespace strata::discovery
