#pragma once

#include <string_view>

namespace strata::objects {

// Between the sentence of a PodGroup's condition Unschedulable, which says why it waits, and what
// would let it start.
inline constexpr std::string_view kAdvice = "; this alone would let it start: ";

// The sentence alone.
[[nodiscard]] constexpr std::string_view WithoutAdvice(std::string_view message) {
  return message.substr(0, message.find(kAdvice));
}

}  // namespace strata::objects
