#include "schema/go_scalars.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/ascii.h"
#include "base/quantity.h"

namespace strata::schema {
namespace {

// Cuts the longest front of `text` that has only characters of `set`, and returns it.
std::string_view TakeAll(std::string_view& text, std::string_view set) {
  const std::size_t end = std::min(text.find_first_not_of(set), text.size());
  const std::string_view taken = text.substr(0, end);
  text.remove_prefix(end);
  return taken;
}

std::string_view TakeOne(std::string_view& text, std::string_view set) {
  const std::size_t end = !text.empty() && set.find(text[0]) != std::string_view::npos ? 1 : 0;
  const std::string_view taken = text.substr(0, end);
  text.remove_prefix(end);
  return taken;
}

constexpr std::string_view kDigits = "0123456789";

bool IsSuffix(std::string_view letters, std::string_view exponent) {
  const bool scientific = letters == "e" || letters == "E";
  if (scientific && exponent.find_first_of(kDigits) != std::string_view::npos) return true;
  return exponent.empty() && Quantity::Parse(std::string("1").append(letters)).has_value();
}

}  // namespace

std::string WhyNoQuantity(std::string_view text) {
  if (Quantity::Parse(text)) return "";
  std::string_view rest = text;
  TakeOne(rest, "+-");
  const bool whole = !TakeAll(rest, kDigits).empty();
  const bool point = !TakeOne(rest, ".").empty();
  const bool fraction = point && !TakeAll(rest, kDigits).empty();
  const std::string_view letters = TakeAll(rest, "eEinumkKMGTP");
  const std::string_view exponent = rest;
  TakeOne(rest, "+-");
  TakeAll(rest, kDigits);
  if (!rest.empty() || (!whole && !point)) {
    return "quantities must match the regular expression "
           "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
  }
  if (!whole && !fraction) return "unable to parse numeric part of quantity";
  return IsSuffix(letters, exponent) ? "" : "unable to parse quantity's suffix";
}

std::string WhyNoBase64(std::string_view text) {
  std::size_t count = 0;
  bool padded = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\n' || c == '\r') continue;
    const bool letter =
        (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || IsDigit(c) || c == '+' || c == '/';
    const bool padding = c == '=' && count % 4 >= 2;
    if (!(letter && !padded) && !padding) {
      return fmt::format("illegal base64 data at input byte {}", i);
    }
    padded = padding;
    ++count;
  }
  if (count % 4 == 0) return "";
  return fmt::format("illegal base64 data at input byte {}", count / 4 * 4);
}

}  // namespace strata::schema
