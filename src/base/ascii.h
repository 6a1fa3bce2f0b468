#pragma once

namespace strata {

// Unlike std::isdigit: the same in every locale, and defined for every char.
[[nodiscard]] constexpr bool IsDigit(char c) {
  return c >= '0' && c <= '9';
}

}  // namespace strata
