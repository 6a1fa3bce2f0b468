#include "apiserver/views/age.h"

#include <cstdint>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/timestamp.h"

namespace strata::apiserver {
namespace {

// "5m30s", or "5m" when the smaller part is nothing.
std::string TwoUnits(std::int64_t large,
                     std::string_view large_unit,
                     std::int64_t small,
                     std::string_view small_unit) {
  if (small == 0) return fmt::format("{}{}", large, large_unit);
  return fmt::format("{}{}{}{}", large, large_unit, small, small_unit);
}

}  // namespace

std::string HumanDuration(Duration passed) {
  const std::int64_t seconds = std::chrono::duration_cast<std::chrono::seconds>(passed).count();
  if (seconds < -1) return "<invalid>";
  if (seconds < 0) return "0s";
  if (seconds < 120) return fmt::format("{}s", seconds);
  const std::int64_t minutes = seconds / 60;
  if (minutes < 10) return TwoUnits(minutes, "m", seconds % 60, "s");
  if (minutes < 180) return fmt::format("{}m", minutes);
  const std::int64_t hours = minutes / 60;
  if (hours < 8) return TwoUnits(hours, "h", minutes % 60, "m");
  if (hours < 48) return fmt::format("{}h", hours);
  const std::int64_t days = hours / 24;
  if (days < 8) return TwoUnits(days, "d", hours % 24, "h");
  if (days < 730) return fmt::format("{}d", days);
  const std::int64_t years = days / 365;
  if (years < 8) return TwoUnits(years, "y", days % 365, "d");
  return fmt::format("{}y", years);
}

std::string AgeOf(const nlohmann::json* value, Time now) {
  if (value == nullptr || !value->is_string()) return "<unknown>";
  const auto time = ParseTimestamp(value->get_ref<const std::string&>());
  return time ? HumanDuration(now - *time) : "<unknown>";
}

}  // namespace strata::apiserver
