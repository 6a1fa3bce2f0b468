#include "json/parse.h"

#include <simdjson.h>

#include <cstddef>
#include <optional>
#include <string>
#include <utility>

#include <nlohmann/json.hpp>

#include "json/error.h"

namespace strata {
namespace {

using nlohmann::json;
using simdjson::dom::element_type;

// A parser keeps the memory that its largest text needed: larger texts get a parser of their own.
constexpr std::size_t kMaxKeptParserText = 256UL * 1024;

// Copies a parsed value; false when it is nested too deeply.
// `levels`: how many may be below this value.
bool Copy(simdjson::dom::element from, std::size_t levels, json& to) {
  switch (from.type()) {
    case element_type::ARRAY: {
      const simdjson::dom::array list(from);
      if (levels == 0 && list.begin() != list.end()) return false;
      json::array_t items;
      items.reserve(list.size());
      for (const simdjson::dom::element item : list) {
        if (!Copy(item, levels - 1, items.emplace_back())) return false;
      }
      to = std::move(items);
      return true;
    }
    case element_type::OBJECT: {
      const simdjson::dom::object object(from);
      if (levels == 0 && object.begin() != object.end()) return false;
      json::object_t members;
      for (const simdjson::dom::key_value_pair member : object) {
        // Stored objects have their keys in order.
        const auto at = members.try_emplace(members.end(), std::string(member.key));
        if (!Copy(member.value, levels - 1, at->second)) return false;
      }
      to = std::move(members);
      return true;
    }
    case element_type::STRING:
      to = std::string(std::string_view(from));
      return true;
    case element_type::INT64: {
      // As nlohmann reads it: a number is unsigned unless it has a sign.
      const std::int64_t number(from);
      if (number >= 0) {
        to = static_cast<std::uint64_t>(number);
      } else {
        to = number;
      }
      return true;
    }
    case element_type::UINT64:
      to = std::uint64_t(from);
      return true;
    case element_type::DOUBLE:
      to = double(from);
      return true;
    case element_type::BOOL:
      to = bool(from);
      return true;
    case element_type::NULL_VALUE:
      to = nullptr;
      return true;
  }
  return false;
}

// Whether brackets outside strings nest too deeply.
bool TooDeep(std::string_view text, std::size_t max_depth) {
  std::size_t depth = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      if (c == '\\') ++i;
      quoted = c != '"';
    } else if (c == '"') {
      quoted = true;
    } else if (c == '{' || c == '[') {
      if (++depth > max_depth) return true;
    } else if (depth > 0 && (c == '}' || c == ']')) {
      --depth;
    }
  }
  return false;
}

std::optional<json> ParseWith(simdjson::dom::parser& parser,
                              std::string_view text,
                              std::size_t max_depth) {
  simdjson::dom::element root;
  if (parser.parse(text.data(), text.size()).get(root) != simdjson::SUCCESS) return std::nullopt;
  std::optional<json> value(std::in_place);
  if (!Copy(root, max_depth, *value)) return std::nullopt;
  return value;
}

// None when simdjson rejects `text`, or when it is too deep. That need not be an error: simdjson
// also rejects integers beyond 64 bits.
std::optional<json> ParseFast(std::string_view text, std::size_t max_depth) {
  if (text.size() > kMaxKeptParserText) {
    simdjson::dom::parser parser;
    return ParseWith(parser, text, max_depth);
  }
  static thread_local simdjson::dom::parser parser;
  return ParseWith(parser, text, max_depth);
}

}  // namespace

Result<json> ParseJson(std::string_view text, std::size_t max_depth) {
  if (text.empty()) return Fail(Code::kInvalidArgument, "unexpected end of JSON input");
  if (std::optional<json> fast = ParseFast(text, max_depth)) return *std::move(fast);
  if (TooDeep(text, max_depth)) return Fail(Code::kInvalidArgument, "exceeded max depth");
  json value = json::parse(text, nullptr, false);
  if (value.is_discarded()) return Fail(Code::kInvalidArgument, DescribeJsonError(text));
  return value;
}

json ParseJsonOrNull(std::string_view text) {
  if (text.empty()) return {};
  if (std::optional<json> fast = ParseFast(text, kMaxJsonDepth)) return *std::move(fast);
  json value = json::parse(text, nullptr, false);
  return value.is_discarded() ? json() : value;
}

nlohmann::ordered_json ParseOrderedJsonOrNull(std::string_view text) {
  auto value = nlohmann::ordered_json::parse(text, nullptr, false);
  return value.is_discarded() ? nlohmann::ordered_json() : value;
}

}  // namespace strata
