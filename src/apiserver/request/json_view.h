#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

// Reading and filling in objects whose shape nobody promised: a value that is missing, null or of
// another type is the same as none.
namespace strata::apiserver {

using Path = std::initializer_list<std::string_view>;

// nullptr when something on the way is missing, null or no object.
[[nodiscard]] const nlohmann::json* FindAt(const nlohmann::json& object, Path path);
[[nodiscard]] nlohmann::json* FindAt(nlohmann::json& object, Path path);

// "" when there is no string.
[[nodiscard]] const std::string& TextAt(const nlohmann::json& object, Path path);
[[nodiscard]] std::int64_t IntegerAt(const nlohmann::json& object,
                                     Path path,
                                     std::int64_t otherwise = 0);
[[nodiscard]] bool BoolAt(const nlohmann::json& object, Path path);
// An empty one when there is none.
[[nodiscard]] const nlohmann::json& ListAt(const nlohmann::json& object, Path path);
[[nodiscard]] const nlohmann::json& ObjectAt(const nlohmann::json& object, Path path);

// The member `key`, put in as {} (or []) when there is none.
// REQUIRES: `object` is an object or null.
nlohmann::json& ObjectIn(nlohmann::json& object, std::string_view key);
nlohmann::json& ListIn(nlohmann::json& object, std::string_view key);
// Puts `value` in where nothing, null or "" is.
void SetDefault(nlohmann::json& object, std::string_view key, nlohmann::json value);

// A JSON text that a message can show, whatever bytes are in it.
[[nodiscard]] std::string Shown(const nlohmann::json& value);

}  // namespace strata::apiserver
