#pragma once

#include <string>

#include "base/result.h"
#include "discovery/reader.h"

namespace strata::discovery {

// kUnavailable unless the program ended well: with how it ended, and the first line it complained
// with.
[[nodiscard]] Status CheckExit(const std::string& program, const CommandOutput& run);

}  // namespace strata::discovery
