#pragma once

#include <cstddef>
#include <string_view>

namespace strata {

// Whether `c` is inside a character of UTF-8, not at its beginning.
[[nodiscard]] constexpr bool IsUtf8Continuation(char c) {
  return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U;
}

// The first bytes of `text`, at most `max`, without the half of a character at the end.
[[nodiscard]] constexpr std::string_view CutUtf8(std::string_view text, std::size_t max) {
  if (text.size() <= max) return text;
  while (max > 0 && IsUtf8Continuation(text[max])) --max;
  return text.substr(0, max);
}

}  // namespace strata
