#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

// Reading and filling in objects that came from outside: a value that is missing, null or of
// another type reads as an empty one. Returned references live as long as `object`, empty ones
// forever.
namespace strata {

// The keys from an object down to a value: {"metadata", "labels", "app"}.
using KeyPath = std::initializer_list<std::string_view>;

// nullptr when a value on the path is missing or null, or when one above it is not an object.
[[nodiscard]] const nlohmann::json* FindAt(const nlohmann::json& object, KeyPath path);
[[nodiscard]] nlohmann::json* FindAt(nlohmann::json& object, KeyPath path);

// "" unless there is a string.
[[nodiscard]] const std::string& TextAt(const nlohmann::json& object, KeyPath path);
// `otherwise` unless there is an integer.
[[nodiscard]] std::int64_t IntegerAt(const nlohmann::json& object,
                                     KeyPath path,
                                     std::int64_t otherwise = 0);
// Whether there is the value true.
[[nodiscard]] bool BoolAt(const nlohmann::json& object, KeyPath path);
// [] unless there is a list, {} unless there is an object.
[[nodiscard]] const nlohmann::json& ListAt(const nlohmann::json& object, KeyPath path);
[[nodiscard]] const nlohmann::json& ObjectAt(const nlohmann::json& object, KeyPath path);

// The member `key`, for writing into; set to {} (or []) first unless it is an object (a list).
// REQUIRES: `object` is an object or null.
nlohmann::json& ObjectIn(nlohmann::json& object, std::string_view key);
nlohmann::json& ListIn(nlohmann::json& object, std::string_view key);
// Sets the member `key` if it is missing, null or "".
// REQUIRES: `object` is an object or null.
void SetDefault(nlohmann::json& object, std::string_view key, nlohmann::json value);

}  // namespace strata
