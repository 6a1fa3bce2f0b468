#include "objects/yaml_scalar.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace strata::objects {
namespace {

using Type = YamlScalar::Type;

constexpr std::array<std::string_view, 5> kNulls = {"", "~", "null", "Null", "NULL"};
constexpr std::array<std::string_view, 11> kTrues = {
    "y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"};
constexpr std::array<std::string_view, 11> kFalses = {
    "n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"};

template <std::size_t kSize>
bool In(std::string_view text, const std::array<std::string_view, kSize>& words) {
  return std::find(words.begin(), words.end(), text) != words.end();
}

bool StartsLikeANumber(std::string_view text) {
  return (text[0] >= '0' && text[0] <= '9') || text[0] == '+' || text[0] == '-' || text[0] == '.';
}

// "0x1f", "-017", "12": base by prefix, as Go's strconv with base 0. None when it is not an
// integer.
std::optional<std::string> Integer(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  int base = 10;
  if (text.size() > 1 && text[0] == '0') {
    const char mark = text[1];
    base = mark == 'x' || mark == 'X' ? 16 : mark == 'b' || mark == 'B' ? 2 : 8;
    const bool two = base != 8 || mark == 'o' || mark == 'O';
    text.remove_prefix(two ? 2 : 1);
  }
  if (text.empty() || text[0] == '-') return std::nullopt;
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  const std::uint64_t limit = std::uint64_t{1} << 63U;
  if (negative && value > limit) return std::nullopt;
  return negative && value != 0 ? "-" + std::to_string(value) : std::to_string(value);
}

// [-+]?(.d+ | d+(.d*)?)([eE][-+]?d+)?
bool LooksLikeFloat(std::string_view text) {
  std::size_t i = text.starts_with('-') || text.starts_with('+') ? 1 : 0;
  const auto digits = [&] {
    const std::size_t start = i;
    while (i < text.size() && text[i] >= '0' && text[i] <= '9') ++i;
    return i - start;
  };
  const std::size_t whole = digits();
  if (i < text.size() && text[i] == '.') {
    ++i;
    if (digits() == 0 && whole == 0) return false;
  } else if (whole == 0) {
    return false;
  }
  if (i < text.size() && (text[i] == 'e' || text[i] == 'E')) {
    ++i;
    if (i < text.size() && (text[i] == '-' || text[i] == '+')) ++i;
    if (digits() == 0) return false;
  }
  return i == text.size();
}

std::optional<std::string> Number(std::string_view text) {
  if (!LooksLikeFloat(text)) return std::nullopt;
  if (text.starts_with('+')) text.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || !std::isfinite(value)) return std::nullopt;
  if (value == std::floor(value) && std::fabs(value) < 1e15) return fmt::format("{:.0f}", value);
  return fmt::format("{}", value);
}

}  // namespace

YamlScalar ResolvePlainScalar(std::string_view text) {
  if (In(text, kNulls)) return {Type::kNull, "null"};
  if (In(text, kTrues)) return {Type::kBool, "true"};
  if (In(text, kFalses)) return {Type::kBool, "false"};
  if (!StartsLikeANumber(text)) return {};
  std::string plain(text);
  std::erase(plain, '_');
  if (std::optional<std::string> integer = Integer(plain)) {
    return {Type::kInteger, std::move(*integer)};
  }
  if (std::optional<std::string> number = Number(plain)) {
    return {Type::kNumber, std::move(*number)};
  }
  return {};
}

std::optional<YamlScalar> ResolveTaggedScalar(std::string_view tag, std::string_view text) {
  constexpr std::string_view kPrefix = "tag:yaml.org,2002:";
  if (!tag.starts_with(kPrefix)) return std::nullopt;
  tag.remove_prefix(kPrefix.size());
  if (tag == "str" || tag == "timestamp" || tag == "binary") return YamlScalar{};
  YamlScalar plain = ResolvePlainScalar(text);
  const bool fits =
      (tag == "null" && plain.type == Type::kNull) ||
      (tag == "bool" && plain.type == Type::kBool) ||
      (tag == "int" && plain.type == Type::kInteger) ||
      (tag == "float" && (plain.type == Type::kNumber || plain.type == Type::kInteger));
  return fits ? std::optional(std::move(plain)) : std::nullopt;
}

}  // namespace strata::objects
