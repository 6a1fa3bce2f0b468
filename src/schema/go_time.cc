#include "schema/go_time.h"

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>

#include <fmt/format.h>

#include "base/ascii.h"
#include "schema/problems.h"

namespace strata::schema {
namespace {

constexpr std::string_view kSecondsLayout = "2006-01-02T15:04:05Z07:00";
constexpr std::string_view kMicroLayout = "2006-01-02T15:04:05.000000Z07:00";

struct Part {
  std::string_view in_layout;  // digits: a number of that width; otherwise to be found as it is
  int* number;
};

// Takes the parts of a text one after the other; what did not fit is remembered.
class TimeScanner {
 public:
  explicit TimeScanner(std::string_view text) : rest_(text) {}

  [[nodiscard]] bool Take(const Part& part) {
    const std::size_t width = part.in_layout.size();
    const bool numeric = IsDigit(part.in_layout[0]);
    bool good = rest_.size() >= width;
    for (std::size_t i = 0; good && i < width; ++i) {
      good = numeric ? IsDigit(rest_[i]) : rest_[i] == part.in_layout[i];
    }
    if (!good) return Miss(part.in_layout);
    if (part.number != nullptr) {
      *part.number = static_cast<int>(*WholeNumber(rest_.substr(0, width), 9999));
    }
    rest_.remove_prefix(width);
    return true;
  }

  // ".123"; exactly `digits` of them, or with 0 any number, or none.
  [[nodiscard]] bool TakeFraction(std::size_t digits) {
    std::size_t end = 1;
    if (rest_.starts_with('.') || rest_.starts_with(',')) {
      while (end < rest_.size() && IsDigit(rest_[end])) ++end;
    }
    if (digits > 0 && end != digits + 1) return Miss(".000000");
    if (end > 1) rest_.remove_prefix(end);
    return true;
  }

  [[nodiscard]] bool TakeZone() {
    if (rest_.starts_with('Z')) {
      rest_.remove_prefix(1);
      return true;
    }
    const bool good = rest_.size() >= 6 && (rest_[0] == '+' || rest_[0] == '-') &&
                      IsDigit(rest_[1]) && IsDigit(rest_[2]) && rest_[3] == ':' &&
                      IsDigit(rest_[4]) && IsDigit(rest_[5]);
    if (!good) return Miss("Z07:00");
    // As Go: some people write offsets of 24 hours or 60 minutes.
    if (rest_.substr(1, 2) > "24") zone_trouble_ = "time zone offset hour";
    if (rest_.substr(4, 2) > "60") zone_trouble_ = "time zone offset minute";
    rest_.remove_prefix(6);
    return true;
  }
  // What of the zone is out of range; "" for nothing.
  [[nodiscard]] std::string_view zone_trouble() const { return zone_trouble_; }

  [[nodiscard]] std::string_view rest() const { return rest_; }
  [[nodiscard]] std::string_view wanted() const { return wanted_; }

 private:
  bool Miss(std::string_view wanted) {
    wanted_ = wanted;
    return false;
  }

  std::string_view rest_;
  std::string_view wanted_;
  std::string_view zone_trouble_;
};

struct Moment {
  int year = 0;
  int month = 0;
  int day = 0;
  int hour = 0;
  int minute = 0;
  int second = 0;
};

std::string_view OutOfRange(const Moment& at) {
  if (at.month < 1 || at.month > 12) return "month";
  const std::chrono::year_month_day date{std::chrono::year(at.year),
                                         std::chrono::month(static_cast<unsigned>(at.month)),
                                         std::chrono::day(static_cast<unsigned>(at.day))};
  if (!date.ok()) return "day";
  if (at.hour > 23) return "hour";
  if (at.minute > 59) return "minute";
  return at.second > 59 ? "second" : "";
}

}  // namespace

std::string WhyNoTime(std::string_view text, TimeLayout layout) {
  Moment at;
  const std::array<Part, 11> parts = {{{"2006", &at.year},
                                       {"-", nullptr},
                                       {"01", &at.month},
                                       {"-", nullptr},
                                       {"02", &at.day},
                                       {"T", nullptr},
                                       {"15", &at.hour},
                                       {":", nullptr},
                                       {"04", &at.minute},
                                       {":", nullptr},
                                       {"05", &at.second}}};
  const bool micro = layout == TimeLayout::kMicro;
  TimeScanner scanner(text);
  bool good = true;
  for (const Part& part : parts) good = good && scanner.Take(part);
  good = good && scanner.TakeFraction(micro ? 6 : 0) && scanner.TakeZone();
  if (!good) {
    return fmt::format("parsing time {} as \"{}\": cannot parse {} as \"{}\"",
                       GoQuote(text),
                       micro ? kMicroLayout : kSecondsLayout,
                       GoQuote(scanner.rest()),
                       scanner.wanted());
  }
  std::string_view wrong = OutOfRange(at);
  if (wrong.empty()) wrong = scanner.zone_trouble();
  if (!wrong.empty()) return fmt::format("parsing time {}: {} out of range", GoQuote(text), wrong);
  if (!scanner.rest().empty()) {
    return fmt::format("parsing time {}: extra text: {}", GoQuote(text), GoQuote(scanner.rest()));
  }
  return "";
}

}  // namespace strata::schema
