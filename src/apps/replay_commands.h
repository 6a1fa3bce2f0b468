#pragma once

#include "apps/command_line.h"

// The commands below `strata replay` that have a file of their own.
namespace strata {

void AddReplayFgdCommand(CLI::App& replay_command, Run& run);

}  // namespace strata
