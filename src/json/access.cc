#include "json/access.h"

#include <utility>

#include <nlohmann/json.hpp>

namespace strata {

using nlohmann::json;

const json* FindAt(const json& object, KeyPath path) {
  const json* at = &object;
  for (const std::string_view key : path) {
    if (!at->is_object()) return nullptr;
    const auto member = at->find(key);
    if (member == at->end() || member->is_null()) return nullptr;
    at = &*member;
  }
  return at;
}

json* FindAt(json& object, KeyPath path) {
  return const_cast<json*>(FindAt(std::as_const(object), path));  // NOLINT(*-const-cast)
}

const std::string& TextAt(const json& object, KeyPath path) {
  static const std::string none;
  const json* at = FindAt(object, path);
  return at != nullptr && at->is_string() ? at->get_ref<const std::string&>() : none;
}

std::int64_t IntegerAt(const json& object, KeyPath path, std::int64_t otherwise) {
  const json* at = FindAt(object, path);
  return at != nullptr && at->is_number_integer() ? at->get<std::int64_t>() : otherwise;
}

bool BoolAt(const json& object, KeyPath path) {
  const json* at = FindAt(object, path);
  return at != nullptr && at->is_boolean() && at->get<bool>();
}

const json& ListAt(const json& object, KeyPath path) {
  static const json none = json::array();
  const json* at = FindAt(object, path);
  return at != nullptr && at->is_array() ? *at : none;
}

const json& ObjectAt(const json& object, KeyPath path) {
  static const json none = json::object();
  const json* at = FindAt(object, path);
  return at != nullptr && at->is_object() ? *at : none;
}

json& ObjectIn(json& object, std::string_view key) {
  json& member = object[std::string(key)];
  if (!member.is_object()) member = json::object();
  return member;
}

json& ListIn(json& object, std::string_view key) {
  json& member = object[std::string(key)];
  if (!member.is_array()) member = json::array();
  return member;
}

void SetDefault(json& object, std::string_view key, json value) {
  json& member = object[std::string(key)];
  const bool unset =
      member.is_null() || (member.is_string() && member.get_ref<const std::string&>().empty());
  if (unset) member = std::move(value);
}

}  // namespace strata
