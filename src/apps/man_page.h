#pragma once

#include <string>
#include <string_view>

#include "apps/command_tree.h"

namespace strata {

// strata(1) in roff, section by section from the commands. Pure.
[[nodiscard]] std::string ManPage(const CommandTree& tree, std::string_view version);

}  // namespace strata
