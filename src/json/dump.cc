#include "json/dump.h"

#include <nlohmann/json.hpp>

namespace strata {
namespace {

constexpr int kOneLine = -1;
constexpr int kIndent = 2;

template <typename Json>
std::string DumpWith(int indent, const Json& value) {
  return value.dump(indent, ' ', /*ensure_ascii=*/false, Json::error_handler_t::replace);
}

}  // namespace

std::string DumpJson(const nlohmann::json& value) {
  return DumpWith(kOneLine, value);
}

std::string DumpPrettyJson(const nlohmann::json& value) {
  return DumpWith(kIndent, value);
}

template <std::same_as<nlohmann::ordered_json> Json>
std::string DumpJson(const Json& value) {
  return DumpWith(kOneLine, value);
}

template <std::same_as<nlohmann::ordered_json> Json>
std::string DumpPrettyJson(const Json& value) {
  return DumpWith(kIndent, value);
}

template std::string DumpJson(const nlohmann::ordered_json& value);
template std::string DumpPrettyJson(const nlohmann::ordered_json& value);

}  // namespace strata
