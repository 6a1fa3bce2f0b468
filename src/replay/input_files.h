#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"

namespace strata::replay {

// `bytes`, or what they were before gzip compressed them, at most `most` bytes. kInvalidArgument
// when they begin as gzip does and are damaged, or would be longer.
[[nodiscard]] Result<std::string> Decompressed(std::string bytes, std::size_t most);

// In hexadecimal.
[[nodiscard]] std::string Sha256(std::string_view bytes);

}  // namespace strata::replay
