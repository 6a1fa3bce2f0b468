#include "wire/base64.h"

#include <cstddef>
#include <cstdint>

namespace strata::wire {

std::string ToBase64(std::string_view bytes) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  constexpr std::size_t kGroup = 3;
  std::string text;
  text.reserve((bytes.size() + 2) / kGroup * 4);
  for (std::size_t i = 0; i < bytes.size(); i += kGroup) {
    const std::string_view group = bytes.substr(i, kGroup);
    std::uint32_t bits = 0;
    for (std::size_t k = 0; k < kGroup; ++k) {
      const char c = k < group.size() ? group[k] : '\0';
      bits = (bits << 8U) | static_cast<unsigned char>(c);
    }
    for (std::size_t k = 0; k <= kGroup; ++k) {
      const std::uint32_t digit = (bits >> (6U * (kGroup - k))) & 0x3FU;
      text += k <= group.size() ? kDigits[digit] : '=';
    }
  }
  return text;
}

}  // namespace strata::wire
