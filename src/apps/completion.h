#pragma once

#include <string>

#include "apps/command_tree.h"

// Scripts that complete a line for a shell: commands, flags, the words that a flag takes, files
// where files belong. Pure.
namespace strata {

[[nodiscard]] std::string BashCompletion(const CommandTree& tree);
[[nodiscard]] std::string ZshCompletion(const CommandTree& tree);
[[nodiscard]] std::string FishCompletion(const CommandTree& tree);

}  // namespace strata
