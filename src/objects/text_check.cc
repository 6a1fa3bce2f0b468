#include "objects/text_check.h"

#include <cstddef>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "json/error.h"

namespace strata::objects {
namespace {

bool IsControl(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return (byte < 0x20 && c != '\t' && c != '\n' && c != '\r') || byte == 0x7F;
}

}  // namespace

std::size_t CharacterSize(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return 1;
  const std::size_t size = lead >= 0xC2 && lead <= 0xDF   ? 2
                           : lead >= 0xE0 && lead <= 0xEF ? 3
                           : lead >= 0xF0 && lead <= 0xF4 ? 4
                                                          : 0;
  if (size == 0 || text.size() < size) return 0;
  for (std::size_t i = 1; i < size; ++i) {
    if (byte(i) < 0x80 || byte(i) > 0xBF) return 0;
  }
  const bool overlong = (lead == 0xE0 && byte(1) < 0xA0) || (lead == 0xF0 && byte(1) < 0x90);
  const bool surrogate = lead == 0xED && byte(1) > 0x9F;
  const bool beyond = lead == 0xF4 && byte(1) > 0x8F;
  return overlong || surrogate || beyond ? 0 : size;
}

std::string OneLine(std::string text) {
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < 0x20) c = ' ';
  }
  return text;
}

Status CheckText(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t size = CharacterSize(text.substr(i));
    if (size == 0) return Fail(Code::kInvalidArgument, LineAndColumn(text, i) + ": not UTF-8");
    if (IsControl(text[i])) {
      return Fail(Code::kInvalidArgument,
                  fmt::format("{}: found control character 0x{:02x}, want text",
                              LineAndColumn(text, i),
                              static_cast<int>(text[i])));
    }
    i += size;
  }
  return {};
}

}  // namespace strata::objects
