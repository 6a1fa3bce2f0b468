#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "schema/check.h"
#include "schema/path.h"

namespace strata::schema {
namespace {

constexpr std::size_t kMaxUnknown = 100;

void FindUnknown(const Schema& schema,
                 const nlohmann::json& value,
                 const Path& path,
                 UnknownPaths& unknown) {
  if (value.is_array()) {
    if (schema.type != Type::kArray || schema.items == nullptr) return;
    for (std::size_t i = 0; i < value.size(); ++i) {
      FindUnknown(*schema.items, value[i], path.Index(i), unknown);
    }
    return;
  }
  if (!value.is_object()) return;
  for (const auto& [key, member] : value.get_ref<const nlohmann::json::object_t&>()) {
    const Path at = path.Key(key);
    if (const Field* field = schema.Find(key)) {
      FindUnknown(*field->schema, member, at, unknown);
    } else if (schema.type == Type::kMap && schema.items != nullptr) {
      FindUnknown(*schema.items, member, at, unknown);
    } else if (schema.type == Type::kObject && !schema.preserve_unknown) {
      if (unknown.first.size() < kMaxUnknown) {
        unknown.first.push_back(at.ToString());
      } else {
        ++unknown.more;
      }
    }
  }
}

}  // namespace

UnknownPaths UnknownFields(const Schema& schema, const nlohmann::json& object) {
  UnknownPaths unknown;
  FindUnknown(schema, object, Path(), unknown);
  return unknown;
}

}  // namespace strata::schema
