#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"

namespace strata::objects {

// kInvalidArgument, with line and column, unless `text` is UTF-8 (no overlong forms, no surrogates)
// without control characters other than tabs and line ends: what YAML allows.
[[nodiscard]] Status CheckText(std::string_view text);

// `text` with a space for each line end and other control character, for a message.
[[nodiscard]] std::string OneLine(std::string text);

// How many bytes the character at the front of `text` has; 0 when it is not UTF-8.
[[nodiscard]] std::size_t CharacterSize(std::string_view text);

}  // namespace strata::objects
