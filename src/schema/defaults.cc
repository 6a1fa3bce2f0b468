#include <cstdint>
#include <iterator>
#include <string>

#include <nlohmann/json.hpp>

#include "schema/check.h"

namespace strata::schema {
namespace {

bool IsEmpty(const nlohmann::json& value) {
  return value.is_string() ? value.get_ref<const std::string&>().empty() : value == 0;
}

void FillIn(const Schema& schema, nlohmann::json::object_t& object) {
  for (const Field& field : schema.fields) {
    const Schema& type = *field.schema;
    if (!type.default_value) continue;
    const auto found = object.find(field.name);
    if (found == object.end()) {
      object.emplace(field.name, *type.default_value);
    } else if ((found->second.is_null() && !type.nullable) ||
               (type.default_if_empty && IsEmpty(found->second))) {
      found->second = *type.default_value;
    }
  }
}

// The schema of a member; nullptr when nothing is known of it.
const Schema* MemberOf(const Schema& schema, const std::string& name) {
  if (const Field* field = schema.Find(name)) return field->schema.get();
  return schema.type == Type::kMap ? schema.items.get() : nullptr;
}

enum class Fill : std::uint8_t { kDefaults, kNothing };

void WalkDefaults(const Schema& schema, nlohmann::json& value, Fill fill) {
  if (schema.as_sent) fill = Fill::kNothing;
  if (auto* list = value.get_ptr<nlohmann::json::array_t*>()) {
    if (schema.type != Type::kArray || schema.items == nullptr) return;
    for (nlohmann::json& item : *list) WalkDefaults(*schema.items, item, fill);
    return;
  }
  auto* members = value.get_ptr<nlohmann::json::object_t*>();
  if (members == nullptr) return;
  if (fill == Fill::kDefaults) FillIn(schema, *members);
  for (auto at = members->begin(); at != members->end();) {
    const Schema* type = MemberOf(schema, at->first);
    if (type != nullptr && at->second.is_null() && !type->nullable && type->type != Type::kAny) {
      at = members->erase(at);
      continue;
    }
    if (type != nullptr) WalkDefaults(*type, at->second, fill);
    ++at;
  }
}

}  // namespace

void ApplyDefaults(const Schema& schema, nlohmann::json& object) {
  WalkDefaults(schema, object, Fill::kDefaults);
}

void DropNulls(nlohmann::json& value) {
  if (value.is_array()) {
    for (nlohmann::json& item : value) DropNulls(item);
  }
  if (!value.is_object()) return;
  for (auto field = value.begin(); field != value.end();) {
    DropNulls(*field);
    field = field->is_null() ? value.erase(field) : std::next(field);
  }
}

}  // namespace strata::schema
