#include "base/base64.h"

#include <cstddef>
#include <cstdint>

namespace strata {
namespace {

constexpr std::string_view kDigits =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

}  // namespace

std::optional<std::string> DecodeBase64(std::string_view text) {
  std::string out;
  out.reserve(text.size() / 4 * 3);
  std::uint32_t bits = 0;
  int digits = 0;  // of the group of four
  unsigned padding = 0;
  for (const char c : text) {
    if (c == '\n' || c == '\r' || c == ' ' || c == '\t') continue;
    const std::size_t value = kDigits.find(c);
    if (c == '=' && digits >= 2) {
      ++padding;
    } else if (value == std::string_view::npos || padding > 0) {
      return std::nullopt;
    }
    bits = bits << 6U | (c == '=' ? 0U : static_cast<std::uint32_t>(value));
    if (++digits < 4) continue;
    for (unsigned i = 0; i < 3U - padding; ++i) out += static_cast<char>(bits >> (16U - 8U * i));
    digits = 0;
    bits = 0;
  }
  return digits == 0 ? std::optional(out) : std::nullopt;
}

std::string EncodeBase64(std::string_view bytes) {
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t bits = 0;
    for (std::size_t j = 0; j < 3; ++j) {
      bits = bits << 8U | (i + j < bytes.size() ? static_cast<unsigned char>(bytes[i + j]) : 0U);
    }
    for (std::size_t j = 0; j < 4; ++j) {
      const bool pad = i + j > bytes.size();
      out += pad ? '=' : kDigits[bits >> (18U - 6U * j) & 63U];
    }
  }
  return out;
}

}  // namespace strata
