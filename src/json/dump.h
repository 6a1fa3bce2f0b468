#pragma once

#include <concepts>
#include <string>

#include <nlohmann/json_fwd.hpp>

// JSON values as text: the only place that writes JSON.
//
// * Members of nlohmann::json are sorted by key, those of ordered_json stay in the order in which
//   they were added. Equal values of equal types give
//   equal bytes.
// * Bytes that are not UTF-8 become U+FFFD: names and messages come from outside and may hold
//   anything. Nothing here fails or throws.
// * Escaped are `"`, `\` and control characters only. Go also escapes <, > and &; every reader of
//   JSON takes both forms, so no wire format needs that.
namespace strata {

// In one line, without spaces.
[[nodiscard]] std::string DumpJson(const nlohmann::json& value);

// Indented by two spaces per level; no newline at the end.
[[nodiscard]] std::string DumpPrettyJson(const nlohmann::json& value);

// The same for ordered values; templates, so that DumpJson({{"a", 1}}) is not ambiguous.
template <std::same_as<nlohmann::ordered_json> Json>
[[nodiscard]] std::string DumpJson(const Json& value);
template <std::same_as<nlohmann::ordered_json> Json>
[[nodiscard]] std::string DumpPrettyJson(const Json& value);

}  // namespace strata
