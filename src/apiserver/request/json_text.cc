#include "apiserver/request/json_text.h"

#include <simdjson.h>

#include <cstddef>
#include <optional>
#include <string>
#include <utility>

#include <nlohmann/json.hpp>

#include "objects/json_error.h"

namespace strata::apiserver {
namespace {

using nlohmann::json;
using simdjson::dom::element_type;

constexpr int kDeepest = 200;
// A parser keeps as much memory as its largest text asked for.
constexpr std::size_t kKeptParser = 256UL * 1024;

// Copies what was parsed; false when it is nested too deeply.
bool Copy(simdjson::dom::element from, int depth, json& to) {
  if (depth > kDeepest) return false;
  switch (from.type()) {
    case element_type::ARRAY: {
      const simdjson::dom::array list(from);
      json::array_t items;
      items.reserve(list.size());
      for (const simdjson::dom::element item : list) {
        if (!Copy(item, depth + 1, items.emplace_back())) return false;
      }
      to = std::move(items);
      return true;
    }
    case element_type::OBJECT: {
      json::object_t members;
      for (const simdjson::dom::key_value_pair member : simdjson::dom::object(from)) {
        // Stored objects have their keys in order.
        const auto at = members.try_emplace(members.end(), std::string(member.key));
        if (!Copy(member.value, depth + 1, at->second)) return false;
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
bool TooDeep(std::string_view text) {
  int depth = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      if (c == '\\') ++i;
      quoted = c != '"';
    } else if (c == '"') {
      quoted = true;
    } else if (c == '{' || c == '[') {
      if (++depth > kDeepest) return true;
    } else if (c == '}' || c == ']') {
      --depth;
    }
  }
  return false;
}

std::optional<json> ParseFast(simdjson::dom::parser& parser, std::string_view text) {
  simdjson::dom::element root;
  if (parser.parse(text.data(), text.size()).get(root) != simdjson::SUCCESS) return std::nullopt;
  std::optional<json> value(std::in_place);
  if (!Copy(root, 0, *value)) return std::nullopt;
  return value;
}

}  // namespace

Result<json> ParseJson(std::string_view text) {
  if (text.empty()) return Fail(Code::kInvalidArgument, "unexpected end of JSON input");
  std::optional<json> fast;
  if (text.size() <= kKeptParser) {
    static thread_local simdjson::dom::parser parser;
    fast = ParseFast(parser, text);
  } else {
    simdjson::dom::parser parser;
    fast = ParseFast(parser, text);
  }
  if (fast) return std::move(*fast);
  // What simdjson refuses need not be wrong: a whole number beyond 64 bits is a double.
  if (TooDeep(text)) return Fail(Code::kInvalidArgument, "exceeded max depth");
  json value = json::parse(text, nullptr, false);
  if (value.is_discarded()) {
    return Fail(Code::kInvalidArgument, objects::DescribeJsonError(text));
  }
  return value;
}

}  // namespace strata::apiserver
