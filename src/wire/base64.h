#pragma once

#include <string>
#include <string_view>

namespace strata::wire {

// RFC 4648, with padding: how JSON has bytes.
[[nodiscard]] std::string ToBase64(std::string_view bytes);

}  // namespace strata::wire
