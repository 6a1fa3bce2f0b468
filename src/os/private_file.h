#pragma once

#include <string>

#include "base/result.h"

namespace strata::os {

// Writes a file that only its owner may read, in folders that are created as needed. A reader finds
// the old file or the new one, never a part, also after a loss of power. kUnavailable, naming the
// path, when that fails.
[[nodiscard]] Status WritePrivateFile(const std::string& path, const std::string& text);

}  // namespace strata::os
