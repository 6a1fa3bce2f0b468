#pragma once

#include <string_view>

namespace strata::os {

// Writes all of `text` to an open file; false when that fails, errno says why.
[[nodiscard]] bool WriteAll(int file, std::string_view text);

}  // namespace strata::os
