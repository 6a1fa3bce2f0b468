#pragma once

#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include "schema/schema.h"

// The names of types, as OpenAPI, validators and Go have them.
namespace strata::schema {

// What `type` says in OpenAPI: "object", "string"; "" for a type that is none or several of these.
[[nodiscard]] std::string_view TypeWord(Type type);
// The type that OpenAPI calls so; kAny when it calls none so.
[[nodiscard]] Type TypeOfWord(std::string_view word);

// What a value is in OpenAPI's words: "integer", "null".
[[nodiscard]] std::string_view WordOf(const nlohmann::json& value);
// What a value is to a Go decoder: "bool", "number".
[[nodiscard]] std::string_view GoWordOf(const nlohmann::json& value);

}  // namespace strata::schema
