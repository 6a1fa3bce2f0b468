#include "base/timestamp.h"

#include <chrono>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>

namespace strata {
namespace {

// Reads fixed-width fields from the front of a text; after the first miss every read is a miss.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : rest_(text) {}

  int Number(std::size_t width) {
    int value = 0;
    for (std::size_t i = 0; i < width; ++i) {
      if (i >= rest_.size() || rest_[i] < '0' || rest_[i] > '9') {
        ok_ = false;
        return 0;
      }
      value = value * 10 + (rest_[i] - '0');
    }
    rest_.remove_prefix(width);
    return value;
  }

  void Expect(std::string_view any_of) {
    if (!TakeOne(any_of)) ok_ = false;
  }

  // The character taken, or none.
  std::optional<char> TakeOne(std::string_view any_of) {
    if (rest_.empty() || any_of.find(rest_[0]) == std::string_view::npos) return std::nullopt;
    const char taken = rest_[0];
    rest_.remove_prefix(1);
    return taken;
  }

  // ".25" as milliseconds.
  int Fraction() {
    if (!TakeOne(".,")) return 0;
    int millis = 0;
    int weight = 100;
    std::size_t digits = 0;
    for (; digits < rest_.size() && rest_[digits] >= '0' && rest_[digits] <= '9'; ++digits) {
      millis += (rest_[digits] - '0') * weight;
      weight /= 10;
    }
    if (digits == 0) ok_ = false;
    rest_.remove_prefix(digits);
    return millis;
  }

  [[nodiscard]] bool Done() const { return ok_ && rest_.empty(); }

 private:
  std::string_view rest_;
  bool ok_ = true;
};

}  // namespace

Result<Time> ParseTimestamp(std::string_view text) {
  using std::chrono::days, std::chrono::hours, std::chrono::minutes, std::chrono::seconds;
  const auto bad = [text] {
    return Fail(Code::kInvalidArgument,
                "bad time \"" + std::string(text.substr(0, 40)) +
                    "\" (want RFC 3339, such as 2026-08-20T10:00:00Z)");
  };
  Scanner in(text);
  const std::chrono::year year(in.Number(4));
  in.Expect("-");
  const std::chrono::month month(static_cast<unsigned>(in.Number(2)));
  in.Expect("-");
  const std::chrono::day day(static_cast<unsigned>(in.Number(2)));
  in.Expect("Tt");
  const int hour = in.Number(2);
  in.Expect(":");
  const int minute = in.Number(2);
  in.Expect(":");
  const int second = in.Number(2);
  const int millis = in.Fraction();
  int offset_hours = 0;
  int offset_minutes = 0;
  int sign = 0;
  if (const std::optional<char> zone = in.TakeOne("+-")) {
    sign = *zone == '+' ? 1 : -1;
    offset_hours = in.Number(2);
    in.Expect(":");
    offset_minutes = in.Number(2);
  } else {
    in.Expect("Zz");
  }
  const std::chrono::year_month_day date(year, month, day);
  const bool in_range = date.ok() && hour <= 23 && minute <= 59 && second <= 60 &&
                        offset_hours <= 24 && offset_minutes <= 60;
  if (!in.Done() || !in_range) return bad();
  const Time time = Time(std::chrono::sys_days(date)) + hours(hour) + minutes(minute) +
                    seconds(second) + Duration(millis) -
                    sign * (hours(offset_hours) + minutes(offset_minutes));
  constexpr Time kFirst = std::chrono::sys_days(std::chrono::year(0) / 1 / 1);
  constexpr Time kEnd = std::chrono::sys_days(std::chrono::year(10'000) / 1 / 1);
  if (time < kFirst || time >= kEnd) return bad();
  return time;
}

std::string FormatTimestamp(Time time) {
  const auto date = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day day(date);
  const std::chrono::hh_mm_ss clock(time - date);
  std::string text(40, '\0');
  const int size = std::snprintf(text.data(),
                                 text.size(),
                                 "%04d-%02u-%02uT%02d:%02d:%02d",
                                 static_cast<int>(day.year()),
                                 static_cast<unsigned>(day.month()),
                                 static_cast<unsigned>(day.day()),
                                 static_cast<int>(clock.hours().count()),
                                 static_cast<int>(clock.minutes().count()),
                                 static_cast<int>(clock.seconds().count()));
  text.resize(static_cast<std::size_t>(size));
  if (const auto millis = clock.subseconds().count(); millis != 0) {
    const std::string digits = std::to_string(1000 + millis);
    text += "." + digits.substr(1);
  }
  return text + "Z";
}

std::string FormatMicroTime(Time time) {
  const auto second = std::chrono::floor<std::chrono::seconds>(time);
  std::string text = FormatTimestamp(second);
  text.pop_back();
  return text + "." + std::to_string(1'000'000 + (time - second).count() * 1000).substr(1) + "Z";
}

}  // namespace strata
