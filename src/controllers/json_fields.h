#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

// Reading of objects that came from the API server, which need not be what they should be: whatever
// is missing or of another type is nothing.
namespace strata::controllers {

using Path = std::initializer_list<std::string_view>;

// The value there, or nullptr.
[[nodiscard]] const nlohmann::json* FieldAt(const nlohmann::json& object, Path path);
// "" for what is no text.
[[nodiscard]] const std::string& TextAt(const nlohmann::json& object, Path path);
// 0 for what is no integer.
[[nodiscard]] std::int64_t IntegerAt(const nlohmann::json& object, Path path);
[[nodiscard]] bool FlagAt(const nlohmann::json& object, Path path);
// An empty list for what is none.
[[nodiscard]] const nlohmann::json& ListAt(const nlohmann::json& object, Path path);
// An empty object for what is none.
[[nodiscard]] const nlohmann::json& ObjectAt(const nlohmann::json& object, Path path);

[[nodiscard]] bool IsBeingDeleted(const nlohmann::json& object);
// Compact; what is no UTF-8 is replaced.
[[nodiscard]] std::string TextOf(const nlohmann::json& value);
// null for what is no JSON.
[[nodiscard]] nlohmann::json ParseText(std::string_view text);

// The uid of the owner that has controller=true, "" when there is none.
[[nodiscard]] const std::string& ControllerUidOf(const nlohmann::json& object);

}  // namespace strata::controllers
