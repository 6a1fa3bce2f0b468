#pragma once

#include <string_view>

#include "base/result.h"

namespace strata::objects {

// kInvalidArgument, with line and column, unless `text` is UTF-8 (no overlong forms, no surrogates)
// without control characters other than tabs and line ends: what YAML allows.
[[nodiscard]] Status CheckText(std::string_view text);

}  // namespace strata::objects
