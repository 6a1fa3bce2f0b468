#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "schema/check.h"

// Problems in the words of a Kubernetes API server.
namespace strata::schema {

// As Go's %q: "a\"b\n".
[[nodiscard]] std::string GoQuote(std::string_view text);

// A value as messages show it: strings quoted, scalars plain, the rest as JSON.
[[nodiscard]] std::string ShowValue(const nlohmann::json& value);

[[nodiscard]] Problem RequiredValue(std::string field, std::string_view detail = "");
[[nodiscard]] Problem InvalidValue(std::string field,
                                   const nlohmann::json& value,
                                   std::string_view detail);
// Without the value: for objects and lists, which are too long to show.
[[nodiscard]] Problem InvalidValueOmitted(std::string field, std::string_view detail);
[[nodiscard]] Problem TypeInvalid(std::string field,
                                  std::string_view found,
                                  std::string_view detail);
[[nodiscard]] Problem UnsupportedValue(std::string field,
                                       const nlohmann::json& value,
                                       const std::vector<nlohmann::json>& supported);
[[nodiscard]] Problem DuplicateValue(std::string field, const nlohmann::json& value);
[[nodiscard]] Problem TooLong(std::string field, std::int64_t most);
[[nodiscard]] Problem TooMany(std::string field, std::int64_t found, std::int64_t most);
[[nodiscard]] Problem ForbiddenField(std::string field, std::string_view detail);

}  // namespace strata::schema
