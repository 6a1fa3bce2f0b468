#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

namespace strata::schema {

// A value of nlohmann's for schema/walk.h. Must not outlive it.
class JsonNode {
 public:
  explicit JsonNode(const nlohmann::json& value) : value_(&value) {}

  [[nodiscard]] bool IsArray() const { return value_->is_array(); }
  [[nodiscard]] bool IsObject() const { return value_->is_object(); }
  template <typename Visit>
  void ForEachItem(const Visit& visit) const {
    for (const nlohmann::json& item : *value_) visit(JsonNode(item));
  }
  template <typename Visit>
  void ForEachMember(const Visit& visit) const {
    for (const auto& [key, member] : value_->get_ref<const nlohmann::json::object_t&>()) {
      visit(std::string_view(key), JsonNode(member));
    }
  }
  // The text of a string; none of any other value.
  [[nodiscard]] std::optional<std::string_view> Text() const {
    const auto* text = value_->get_ptr<const std::string*>();
    return text == nullptr ? std::nullopt : std::optional<std::string_view>(*text);
  }

 private:
  const nlohmann::json* value_;
};

}  // namespace strata::schema
