#include "base/age.h"

#include <cstdint>
#include <string_view>

namespace strata {
namespace {

// "5m30s", or "5m" when the smaller part is nothing.
std::string TwoUnits(std::int64_t large, char large_unit, std::int64_t small, char small_unit) {
  std::string text = std::to_string(large) + large_unit;
  if (small > 0) text += std::to_string(small) + small_unit;
  return text;
}

}  // namespace

std::string HumanDuration(Duration passed) {
  const std::int64_t seconds = std::chrono::duration_cast<std::chrono::seconds>(passed).count();
  if (seconds < -1) return "<invalid>";
  if (seconds < 0) return "0s";
  if (seconds < 120) return std::to_string(seconds) + "s";
  const std::int64_t minutes = seconds / 60;
  if (minutes < 10) return TwoUnits(minutes, 'm', seconds % 60, 's');
  if (minutes < 180) return std::to_string(minutes) + "m";
  const std::int64_t hours = minutes / 60;
  if (hours < 8) return TwoUnits(hours, 'h', minutes % 60, 'm');
  if (hours < 48) return std::to_string(hours) + "h";
  const std::int64_t days = hours / 24;
  if (days < 8) return TwoUnits(days, 'd', hours % 24, 'h');
  if (days < 730) return std::to_string(days) + "d";
  const std::int64_t years = days / 365;
  if (years < 8) return TwoUnits(years, 'y', days % 365, 'd');
  return std::to_string(years) + "y";
}

}  // namespace strata
