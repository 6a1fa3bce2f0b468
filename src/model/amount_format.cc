#include "model/amount_format.h"

#include <array>
#include <cstddef>
#include <cstdint>

namespace strata {
namespace {

// Beyond this every amount of 64 bits shows its last unit: 1 byte of 1 Ei is 1e-18.
constexpr int kMaxDecimals = 18;

// `magnitude` / `divisor` rounded half up to `decimals` decimals, without trailing zeros.
std::string Divide(std::uint64_t magnitude, std::uint64_t divisor, int decimals) {
  __extension__ using Wide = unsigned __int128;
  Wide scale = 1;
  for (int i = 0; i < decimals; ++i) scale *= 10;
  Wide rest = magnitude % divisor;
  Wide fraction = (rest * scale * 2 + divisor) / (Wide{divisor} * 2);
  std::uint64_t whole = magnitude / divisor;
  if (fraction == scale) {
    ++whole;
    fraction = 0;
  }
  std::string text = std::to_string(whole);
  if (fraction == 0) return text;
  std::string digits;
  for (int i = 0; i < decimals; ++i) {
    digits.insert(digits.begin(), static_cast<char>('0' + static_cast<int>(fraction % 10)));
    fraction /= 10;
  }
  digits.erase(digits.find_last_not_of('0') + 1);
  return text + "." + digits;
}

std::string FormatBytes(std::uint64_t magnitude, int decimals) {
  static constexpr std::array<const char*, 7> kSuffixes = {"", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"};
  std::size_t power = 0;
  while (power + 1 < kSuffixes.size() && (magnitude >> (10 * (power + 1))) > 0) ++power;
  return Divide(magnitude, std::uint64_t{1} << (10 * power), decimals) + kSuffixes[power];
}

}  // namespace

std::string FormatNumber(std::string_view resource_name, Amount amount, int decimals) {
  const auto bits = static_cast<std::uint64_t>(amount);
  const std::uint64_t magnitude = amount < 0 ? ~bits + 1 : bits;
  const std::string sign = amount < 0 ? "-" : "";
  switch (UnitOf(resource_name)) {
    case ResourceUnit::kMilli:
      return sign + Divide(magnitude, 1000, decimals > 3 ? 3 : decimals);
    case ResourceUnit::kByte:
      return sign + FormatBytes(magnitude, decimals);
    case ResourceUnit::kOne:
      return sign + std::to_string(magnitude);
  }
  return {};
}

std::string FormatAmount(std::string_view resource_name, Amount amount) {
  std::string text = FormatNumber(resource_name, amount);
  if (resource_name == "memory") return text;
  return text.append(" ").append(resource_name);
}

std::pair<std::string, std::string> FormatNumbers(std::string_view resource_name,
                                                  Amount a,
                                                  Amount b) {
  for (int decimals = 2;; ++decimals) {
    std::pair<std::string, std::string> texts = {FormatNumber(resource_name, a, decimals),
                                                 FormatNumber(resource_name, b, decimals)};
    if (a == b || texts.first != texts.second || decimals == kMaxDecimals) return texts;
  }
}

}  // namespace strata
