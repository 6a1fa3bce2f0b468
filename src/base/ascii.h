#pragma once

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace strata {

// Unlike std::isdigit: the same in every locale, and defined for every char.
[[nodiscard]] constexpr bool IsDigit(char c) {
  return c >= '0' && c <= '9';
}

// `text` without the blanks and line ends around it.
[[nodiscard]] constexpr std::string_view Trim(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r\n";
  const std::size_t begin = text.find_first_not_of(kBlank);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlank) - begin + 1);
}

// The parts of `text` between separators; one, which may be empty, when there is none.
[[nodiscard]] inline std::vector<std::string_view> Split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t at = text.find(separator);
    parts.push_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

// `text`, all of it, as a number from 0 to `max`; none when it is anything else.
[[nodiscard]] inline std::optional<std::int64_t> WholeNumber(std::string_view text,
                                                             std::int64_t max) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool good = error == std::errc{} && end == text.data() + text.size();
  return good && number >= 0 && number <= max ? std::optional(number) : std::nullopt;
}

// `text` with A to Z as a to z; other bytes stay.
[[nodiscard]] inline std::string LowerCase(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lower;
}

}  // namespace strata
