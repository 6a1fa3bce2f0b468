#include "apiserver/request/query.h"

#include <charconv>

#include <fmt/format.h>

#include "apiserver/request/request_path.h"
#include "base/ascii.h"

namespace strata::apiserver {

std::optional<Query> Query::Parse(std::string_view text) {
  Query query;
  if (text.empty()) return query;
  for (const std::string_view part : Split(text, '&')) {
    if (part.empty()) continue;
    const std::size_t sign = part.find('=');
    std::optional<std::string> name = PercentDecode(part.substr(0, sign), Decode::kQuery);
    std::optional<std::string> value =
        PercentDecode(sign == std::string_view::npos ? std::string_view() : part.substr(sign + 1),
                      Decode::kQuery);
    if (!name || !value) return std::nullopt;
    query.pairs_.emplace_back(std::move(*name), std::move(*value));
  }
  return query;
}

std::string_view Query::Get(std::string_view name) const {
  for (const auto& [key, value] : pairs_) {
    if (key == name) return value;
  }
  return {};
}

bool Query::Has(std::string_view name) const {
  for (const auto& [key, value] : pairs_) {
    if (key == name) return true;
  }
  return false;
}

std::vector<std::string> Query::All(std::string_view name) const {
  std::vector<std::string> values;
  for (const auto& [key, value] : pairs_) {
    if (key == name) values.push_back(value);
  }
  return values;
}

bool Query::Flag(std::string_view name) const {
  if (!Has(name)) return false;
  const std::string value = LowerCase(Get(name));
  return value != "false" && value != "0";
}

ApiResult<std::optional<std::int64_t>> Query::Number(std::string_view name) const {
  const std::string_view text = Get(name);
  if (text.empty()) return std::optional<std::int64_t>();
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc{} && end == text.data() + text.size()) return std::optional(number);
  const std::string_view why =
      error == std::errc::result_out_of_range ? "value out of range" : "invalid syntax";
  return tl::unexpected(BadRequest(fmt::format("strconv.ParseInt: parsing \"{}\": {}", text, why)));
}

}  // namespace strata::apiserver
