#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace strata {

// "1 pod", "2 pods".
[[nodiscard]] inline std::string Plural(std::uint64_t count, std::string_view thing) {
  std::string text = std::to_string(count) + " ";
  text += thing;
  if (count != 1) text += 's';
  return text;
}

}  // namespace strata
