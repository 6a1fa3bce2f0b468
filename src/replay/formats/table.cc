#include "replay/formats/table.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <system_error>
#include <utility>

#include <fmt/format.h>

namespace strata::replay {
namespace {

constexpr std::int32_t kMaxCount = 1'000'000'000;
constexpr std::int64_t kMaxSeconds = 10'000'000'000;

std::optional<std::int64_t> ParseDigits(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size() || text.empty()) return std::nullopt;
  if (text.front() == '-') return std::nullopt;
  return number;
}

// Quotes a field, cut where it is long.
std::string Quoted(std::string_view text) {
  constexpr std::size_t kMax = 60;
  return fmt::format("\"{}{}\"", text.substr(0, kMax), text.size() > kMax ? "..." : "");
}

// "+08:00", "Z" or "": the offset in milliseconds.
std::optional<Millis> ParseOffset(std::string_view text) {
  if (text.empty() || text == "Z") return 0;
  if (text.size() != 6 || (text[0] != '+' && text[0] != '-') || text[3] != ':') return std::nullopt;
  const auto hours = ParseDigits(text.substr(1, 2));
  const auto minutes = ParseDigits(text.substr(4, 2));
  if (!hours || !minutes || *hours > 23 || *minutes > 59) return std::nullopt;
  const Millis offset = (*hours * 60 + *minutes) * 60'000;
  return text[0] == '+' ? offset : -offset;
}

}  // namespace

tl::unexpected<Error> BadPlace(std::string_view path,
                               std::size_t line,
                               std::size_t column,
                               std::string_view message) {
  return Fail(Code::kInvalidArgument, fmt::format("{}:{}:{}: {}", path, line, column, message));
}

std::optional<std::int32_t> ParseCount(std::string_view text) {
  const auto number = ParseDigits(text);
  if (!number || *number > kMaxCount) return std::nullopt;
  return static_cast<std::int32_t>(*number);
}

std::optional<Millis> ParseSeconds(std::string_view text) {
  const std::size_t dot = text.find('.');
  if (text.find_first_of("eE") != std::string_view::npos) {  // as programs print large numbers
    double number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    if (!(number >= 0 && number <= static_cast<double>(kMaxSeconds))) return std::nullopt;
    return static_cast<Millis>(number * 1000);
  }
  const auto whole = ParseDigits(text.substr(0, dot));
  if (!whole || *whole > kMaxSeconds) return std::nullopt;
  Millis millis = *whole * 1000;
  if (dot == std::string_view::npos) return millis;
  const std::string_view rest = text.substr(dot + 1);
  if (rest.empty() || rest.find_first_not_of("0123456789") != std::string_view::npos) {
    return std::nullopt;
  }
  Millis unit = 100;
  for (const char digit : rest.substr(0, 3)) {
    millis += unit * (digit - '0');
    unit /= 10;
  }
  return millis;
}

std::optional<Millis> ParseMoment(std::string_view text) {
  constexpr std::size_t kLength = 19;  // 2017-10-03 05:07:15
  if (text.size() < kLength || text[4] != '-' || text[7] != '-') return std::nullopt;
  if ((text[10] != ' ' && text[10] != 'T') || text[13] != ':' || text[16] != ':') {
    return std::nullopt;
  }
  const auto year = ParseDigits(text.substr(0, 4));
  const auto month = ParseDigits(text.substr(5, 2));
  const auto day = ParseDigits(text.substr(8, 2));
  const auto hour = ParseDigits(text.substr(11, 2));
  const auto minute = ParseDigits(text.substr(14, 2));
  if (!year || !month || !day || !hour || !minute) return std::nullopt;
  std::string_view rest = text.substr(17);
  const std::size_t end = std::min(rest.find_first_not_of("0123456789."), rest.size());
  const auto seconds = ParseSeconds(rest.substr(0, end));
  const auto offset = ParseOffset(rest.substr(end));
  const std::chrono::year_month_day date(std::chrono::year(static_cast<int>(*year)),
                                         std::chrono::month(static_cast<unsigned>(*month)),
                                         std::chrono::day(static_cast<unsigned>(*day)));
  if (!seconds || !offset || !date.ok() || *year < 1970 || *hour > 23 || *minute > 59 ||
      *seconds >= 61'000) {
    return std::nullopt;
  }
  const std::int64_t days = std::chrono::sys_days(date).time_since_epoch().count();
  const Millis moment = ((days * 24 + *hour) * 60 + *minute) * 60'000 + *seconds - *offset;
  if (moment < 0 || moment > kMaxSeconds * 1000) return std::nullopt;
  return moment;
}

Result<Table> Table::Open(std::string_view path, std::string_view text) {
  Table table(path, text);
  const auto header = table.NextLine();
  if (!header) return BadPlace(path, 1, 1, "no header: want a line with the names of the columns");
  TRY(table.Split(*header));
  table.columns_ = std::move(table.fields_);
  table.fields_.clear();
  for (std::size_t i = 0; i < table.columns_.size(); ++i) {
    const auto first = std::find(table.columns_.begin(), table.columns_.end(), table.columns_[i]);
    if (first != table.columns_.begin() + static_cast<std::ptrdiff_t>(i)) {
      return BadPlace(path,
                      table.line_,
                      table.places_[i],
                      fmt::format("column {} is named twice", Quoted(table.columns_[i])));
    }
  }
  return table;
}

bool Table::Has(std::string_view column) const {
  return IndexOf(column).has_value();
}

Result<bool> Table::Next() {
  const auto line = NextLine();
  if (!line) return false;
  TRY(Split(*line));
  if (fields_.size() != columns_.size()) {
    return BadPlace(
        path_,
        line_,
        1,
        fmt::format("want {} fields, as in the header, found {}", columns_.size(), fields_.size()));
  }
  return true;
}

std::optional<std::string_view> Table::NextLine() {
  while (at_ < text_.size()) {
    const std::size_t end = std::min(text_.find('\n', at_), text_.size());
    std::string_view line = text_.substr(at_, end - at_);
    at_ = end + 1;
    ++line_;
    if (line_ == 1 && line.starts_with("\xEF\xBB\xBF")) line.remove_prefix(3);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.starts_with('#')) comments_.emplace_back(line);
    if (!line.empty() && !line.starts_with('#')) return line;
  }
  return std::nullopt;
}

Status Table::Split(std::string_view line) {
  fields_.clear();
  places_.clear();
  std::size_t at = 0;
  while (true) {
    places_.push_back(at + 1);
    std::string& field = fields_.emplace_back();
    if (at < line.size() && line[at] == '"') {
      const std::size_t opened = at++;
      while (true) {
        const std::size_t quote = line.find('"', at);
        if (quote == std::string_view::npos) {
          return BadPlace(path_, line_, opened + 1, "a quote that is not closed on its line");
        }
        field.append(line, at, quote - at);
        at = quote + 1;
        if (at >= line.size() || line[at] != '"') break;
        field += '"';
        ++at;
      }
      if (at < line.size() && line[at] != ',') {
        return BadPlace(path_, line_, at + 1, "want a comma after the closing quote");
      }
    } else {
      const std::size_t end = std::min(line.find(',', at), line.size());
      field.assign(line, at, end - at);
      at = end;
    }
    if (at >= line.size()) return {};
    ++at;  // the comma
  }
}

std::optional<std::size_t> Table::IndexOf(std::string_view column) const {
  const auto found = std::find(columns_.begin(), columns_.end(), column);
  if (found == columns_.end()) return std::nullopt;
  return static_cast<std::size_t>(found - columns_.begin());
}

std::string_view Table::Text(std::string_view column) const {
  const auto index = IndexOf(column);
  return index ? std::string_view(fields_[*index]) : std::string_view();
}

Result<std::int32_t> Table::Count(std::string_view column, std::int32_t least) const {
  const auto number = ParseCount(Text(column));
  if (!number || *number < least) {
    return Want(column, fmt::format("a whole number from {} to {}", least, kMaxCount));
  }
  return *number;
}

Result<Millis> Table::Seconds(std::string_view column) const {
  const auto time = ParseSeconds(Text(column));
  if (!time) return Want(column, fmt::format("seconds from 0 to {}", kMaxSeconds));
  return *time;
}

Result<Millis> Table::Moment(std::string_view column) const {
  const auto time = ParseMoment(Text(column));
  if (!time) return Want(column, "a time such as 2017-10-03 05:07:15");
  return *time;
}

tl::unexpected<Error> Table::Bad(std::string_view column, std::string_view message) const {
  const auto index = IndexOf(column);
  return BadPlace(
      path_, line_, index ? places_[*index] : 1, fmt::format("column {}: {}", column, message));
}

tl::unexpected<Error> Table::Want(std::string_view column, std::string_view wanted) const {
  return Bad(column, fmt::format("want {}, found {}", wanted, Quoted(Text(column))));
}

}  // namespace strata::replay
