#include "base/quantity.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "base/ascii.h"

namespace strata {
namespace {

__extension__ using Int128 = __int128;

constexpr Int128 kNanoPerUnit = 1'000'000'000;
constexpr Int128 kMaxNano = Int128{std::numeric_limits<std::int64_t>::max()} * kNanoPerUnit;

constexpr std::string_view kExpected =
    "want a number with one suffix at most, such as 2, 0.5, 1500m, 16Gi or 1e3";

// A suffix stands for base^exponent.
struct Scale {
  int base = 10;
  int exponent = 0;
};

struct Suffix {
  std::string_view text;
  Scale scale;
};

constexpr std::array kSuffixes = {
    Suffix{"", {10, 0}},
    Suffix{"n", {10, -9}},
    Suffix{"u", {10, -6}},
    Suffix{"m", {10, -3}},
    Suffix{"k", {10, 3}},
    Suffix{"M", {10, 6}},
    Suffix{"G", {10, 9}},
    Suffix{"T", {10, 12}},
    Suffix{"P", {10, 15}},
    Suffix{"E", {10, 18}},
    Suffix{"Ki", {2, 10}},
    Suffix{"Mi", {2, 20}},
    Suffix{"Gi", {2, 30}},
    Suffix{"Ti", {2, 40}},
    Suffix{"Pi", {2, 50}},
    Suffix{"Ei", {2, 60}},
};

std::optional<Scale> ParseSuffix(std::string_view text) {
  for (const Suffix& suffix : kSuffixes) {
    if (suffix.text == text) return suffix.scale;
  }
  if (text.size() < 2 || (text[0] != 'e' && text[0] != 'E')) return std::nullopt;
  text.remove_prefix(1);
  if (text[0] == '+') {
    text.remove_prefix(1);
    if (text.starts_with('-')) return std::nullopt;
  }
  int exponent = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), exponent);
  if (error == std::errc::result_out_of_range && end == text.data() + text.size()) {
    exponent = text.starts_with('-') ? -1000 : 1000;  // as good as any: all digits are out of range
  } else if (error != std::errc() || end != text.data() + text.size()) {
    return std::nullopt;
  }
  return Scale{10, std::clamp(exponent, -1000, 1000)};
}

// The digits of "12.34" as they stand, and how many of them are behind the point.
struct Digits {
  std::string all;
  int fraction = 0;
};

std::optional<Digits> TakeDigits(std::string_view& text) {
  Digits digits;
  bool point = false;
  std::size_t i = 0;
  for (; i < text.size(); ++i) {
    if (text[i] == '.' && !point) {
      point = true;
    } else if (IsDigit(text[i])) {
      digits.all += text[i];
      if (point) ++digits.fraction;
    } else {
      break;
    }
  }
  if (digits.all.empty() || digits.all.size() > 1000) return std::nullopt;
  text.remove_prefix(i);
  return digits;
}

// The decimal digits of `digits` * 2^power.
std::string TimesPowerOfTwo(std::string digits, int power) {
  for (; power > 0; --power) {
    int carry = 0;
    for (auto digit = digits.rbegin(); digit != digits.rend(); ++digit) {
      const int doubled = (*digit - '0') * 2 + carry;
      *digit = static_cast<char>('0' + doubled % 10);
      carry = doubled / 10;
    }
    if (carry != 0) digits.insert(digits.begin(), '1');
  }
  return digits;
}

// digits * 10^exponent, rounded up; none above kMaxNano.
std::optional<Int128> TimesPowerOfTen(std::string_view digits, int exponent) {
  const auto cut = static_cast<std::size_t>(std::max(0, -exponent));
  const std::size_t kept = digits.size() - std::min(digits.size(), cut);
  Int128 value = 0;
  for (const char digit : digits.substr(0, kept)) {
    value = value * 10 + (digit - '0');
    if (value > kMaxNano) return std::nullopt;
  }
  for (int i = 0; i < exponent && value != 0; ++i) {
    value *= 10;
    if (value > kMaxNano) return std::nullopt;
  }
  const bool inexact = digits.find_first_not_of('0', kept) != std::string_view::npos;
  value += inexact ? 1 : 0;
  return value > kMaxNano ? std::nullopt : std::optional(value);
}

// None when the number is out of range.
std::optional<Int128> ToNano(Digits digits, Scale scale) {
  if (scale.base == 10) {
    return TimesPowerOfTen(digits.all, scale.exponent + 9 - digits.fraction);
  }
  if (digits.fraction == 0 && digits.all.size() <= 18) {  // the usual "16Gi", without bignums
    std::int64_t whole = 0;
    std::from_chars(digits.all.data(), digits.all.data() + digits.all.size(), whole);
    const Int128 units = Int128{whole} << scale.exponent;
    if (units > kMaxNano / kNanoPerUnit) return std::nullopt;
    return units * kNanoPerUnit;
  }
  return TimesPowerOfTen(TimesPowerOfTwo(std::move(digits.all), scale.exponent),
                         9 - digits.fraction);
}

tl::unexpected<Error> Bad(std::string_view text, std::string_view why) {
  constexpr std::size_t kShown = 40;
  std::string message = "bad quantity \"";
  message += text.substr(0, kShown);
  message += text.size() > kShown ? "...\" (" : "\" (";
  message += why;
  message += ")";
  return Fail(Code::kInvalidArgument, std::move(message));
}

// value / divisor, away from zero; kInvalidArgument when it does not fit.
Result<std::int64_t> DivideAwayFromZero(Int128 value, Int128 divisor) {
  Int128 quotient = value / divisor;
  if (value % divisor != 0) quotient += value > 0 ? 1 : -1;
  if (quotient > std::numeric_limits<std::int64_t>::max() ||
      quotient < std::numeric_limits<std::int64_t>::min()) {
    return Fail(Code::kInvalidArgument, "quantity does not fit into 64 bits");
  }
  return static_cast<std::int64_t>(quotient);
}

std::string Print(Int128 value, std::string_view suffix) {
  const bool negative = value < 0;
  std::string reversed;
  do {
    const auto digit = static_cast<int>(value % 10);
    reversed += static_cast<char>('0' + (digit < 0 ? -digit : digit));
    value /= 10;
  } while (value != 0);
  if (negative) reversed += '-';
  std::reverse(reversed.begin(), reversed.end());
  return reversed.append(suffix);
}

}  // namespace

Result<Quantity> Quantity::Parse(std::string_view text) {
  std::string_view rest = text;
  const bool negative = rest.starts_with('-');
  if (negative || rest.starts_with('+')) rest.remove_prefix(1);
  std::optional<Digits> digits = TakeDigits(rest);
  if (!digits) return Bad(text, kExpected);
  const std::optional<Scale> scale = ParseSuffix(rest);
  if (!scale) return Bad(text, kExpected);
  const std::optional<Int128> nano = ToNano(std::move(*digits), *scale);
  if (!nano) return Bad(text, "want a number within 2^63-1");
  return Quantity(negative ? -*nano : *nano, scale->base == 2);
}

Result<std::int64_t> Quantity::Milli() const {
  return DivideAwayFromZero(nano_, 1'000'000);
}

Result<std::int64_t> Quantity::Value() const {
  return DivideAwayFromZero(nano_, kNanoPerUnit);
}

std::string Quantity::ToString() const {
  if (nano_ == 0) return "0";
  constexpr Int128 kLeastBinary = 1024 * kNanoPerUnit;
  if (binary_ && IsInteger() && (nano_ >= kLeastBinary || nano_ <= -kLeastBinary)) {
    constexpr std::array<std::string_view, 7> kBinary = {"", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"};
    Int128 value = nano_ / kNanoPerUnit;
    std::size_t i = 0;
    for (; i + 1 < kBinary.size() && value % 1024 == 0; ++i) value /= 1024;
    return Print(value, kBinary[i]);
  }
  constexpr std::array<std::string_view, 10> kDecimal = {
      "n", "u", "m", "", "k", "M", "G", "T", "P", "E"};
  Int128 value = nano_;
  std::size_t i = 0;
  for (; i + 1 < kDecimal.size() && value % 1000 == 0; ++i) value /= 1000;
  return Print(value, kDecimal[i]);
}

}  // namespace strata
