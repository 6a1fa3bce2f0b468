#include "base/duration.h"

#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "base/ascii.h"

namespace strata {
namespace {

constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();

struct Unit {
  std::string_view name;
  std::int64_t nanos = 0;
};

constexpr std::array<Unit, 8> kUnits = {{{"ns", 1},
                                         {"us", 1'000},
                                         {"\u00b5s", 1'000},
                                         {"\u03bcs", 1'000},
                                         {"ms", 1'000'000},
                                         {"s", 1'000'000'000},
                                         {"m", 60'000'000'000},
                                         {"h", 3'600'000'000'000}}};

// The digits at the front of `rest`, taken off; none when they are too many.
std::optional<std::int64_t> TakeDigits(std::string_view& rest, std::size_t& count) {
  std::int64_t value = 0;
  for (count = 0; count < rest.size() && IsDigit(rest[count]); ++count) {
    const std::int64_t digit = rest[count] - '0';
    if (value > (kMax - digit) / 10) return std::nullopt;
    value = value * 10 + digit;
  }
  rest.remove_prefix(count);
  return value;
}

// ".25" as a part of one, cut off after so many digits that no sum of them is lost.
double TakeFraction(std::string_view& rest, std::size_t& digits) {
  digits = 0;
  if (rest.empty() || rest.front() != '.') return 0;
  rest.remove_prefix(1);
  double part = 0;
  double weight = 0.1;
  for (; digits < rest.size() && IsDigit(rest[digits]); ++digits) {
    part += (rest[digits] - '0') * weight;
    weight /= 10;
  }
  rest.remove_prefix(digits);
  return part;
}

std::optional<std::int64_t> TakeUnit(std::string_view& rest) {
  std::size_t length = 0;
  while (length < rest.size() && rest[length] != '.' && !IsDigit(rest[length])) ++length;
  const std::string_view name = rest.substr(0, length);
  rest.remove_prefix(length);
  for (const Unit& unit : kUnits) {
    if (unit.name == name) return unit.nanos;
  }
  return std::nullopt;
}

// One "1.5h", taken off the front, in nanoseconds.
std::optional<std::int64_t> TakePart(std::string_view& rest) {
  std::size_t whole_digits = 0;
  std::size_t part_digits = 0;
  const auto whole = TakeDigits(rest, whole_digits);
  const double part = TakeFraction(rest, part_digits);
  if (!whole || whole_digits + part_digits == 0) return std::nullopt;
  const auto unit = TakeUnit(rest);
  if (!unit || *whole > kMax / *unit) return std::nullopt;
  const std::int64_t nanos = *whole * *unit;
  // Rounding makes up for decimals that have no exact binary form.
  const auto more = std::llround(part * static_cast<double>(*unit));
  if (nanos > kMax - more) return std::nullopt;
  return nanos + more;
}

std::optional<std::int64_t> Nanoseconds(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  if (text == "0") return 0;
  if (text.empty()) return std::nullopt;
  std::int64_t sum = 0;
  while (!text.empty()) {
    const auto part = TakePart(text);
    if (!part || sum > kMax - *part) return std::nullopt;
    sum += *part;
  }
  return negative ? -sum : sum;
}

}  // namespace

Result<Duration> ParseDuration(std::string_view text) {
  const auto nanos = Nanoseconds(text);
  if (!nanos) {
    return Fail(Code::kInvalidArgument,
                "want a duration such as 1h30m or 300ms, found \"" + std::string(text) + "\"");
  }
  return std::chrono::duration_cast<Duration>(std::chrono::nanoseconds(*nanos));
}

}  // namespace strata
