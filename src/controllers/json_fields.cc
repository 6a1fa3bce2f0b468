#include "controllers/json_fields.h"

#include <nlohmann/json.hpp>

namespace strata::controllers {

using nlohmann::json;

const json* FieldAt(const json& object, Path path) {
  const json* at = &object;
  for (const std::string_view key : path) {
    if (!at->is_object()) return nullptr;
    const auto found = at->find(key);
    if (found == at->end()) return nullptr;
    at = &*found;
  }
  return at;
}

const std::string& TextAt(const json& object, Path path) {
  static const std::string none;
  const json* value = FieldAt(object, path);
  return value != nullptr && value->is_string() ? value->get_ref<const std::string&>() : none;
}

std::int64_t IntegerAt(const json& object, Path path) {
  const json* value = FieldAt(object, path);
  return value != nullptr && value->is_number_integer() ? value->get<std::int64_t>() : 0;
}

bool FlagAt(const json& object, Path path) {
  const json* value = FieldAt(object, path);
  return value != nullptr && value->is_boolean() && value->get<bool>();
}

const json& ListAt(const json& object, Path path) {
  static const json none = json::array();
  const json* value = FieldAt(object, path);
  return value != nullptr && value->is_array() ? *value : none;
}

const json& ObjectAt(const json& object, Path path) {
  static const json none = json::object();
  const json* value = FieldAt(object, path);
  return value != nullptr && value->is_object() ? *value : none;
}

bool IsBeingDeleted(const json& object) {
  return FieldAt(object, {"metadata", "deletionTimestamp"}) != nullptr;
}

std::string TextOf(const json& value) {
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

json ParseText(std::string_view text) {
  json parsed = json::parse(text, nullptr, false);
  return parsed.is_discarded() ? json() : parsed;
}

const std::string& ControllerUidOf(const json& object) {
  static const std::string none;
  for (const json& owner : ListAt(object, {"metadata", "ownerReferences"})) {
    if (FlagAt(owner, {"controller"})) return TextAt(owner, {"uid"});
  }
  return none;
}

}  // namespace strata::controllers
