#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace strata::objects {

// Where `text` stops being UTF-8 (overlong forms and surrogates are not), none when it is.
[[nodiscard]] std::optional<std::size_t> FirstInvalidUtf8(std::string_view text);

}  // namespace strata::objects
