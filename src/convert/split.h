#pragma once

#include <string_view>
#include <vector>

namespace strata {

// The parts of a text between separators; one, which may be empty, when there is none.
[[nodiscard]] inline std::vector<std::string_view> Split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t at = text.find(separator);
    parts.push_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

}  // namespace strata
