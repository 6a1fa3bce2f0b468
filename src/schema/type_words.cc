#include "schema/type_words.h"

#include <nlohmann/json.hpp>

namespace strata::schema {

using nlohmann::json;

std::string_view TypeWord(Type type) {
  switch (type) {
    case Type::kObject:
    case Type::kMap:
      return "object";
    case Type::kArray:
      return "array";
    case Type::kInteger:
      return "integer";
    case Type::kNumber:
      return "number";
    case Type::kBoolean:
      return "boolean";
    case Type::kString:
    case Type::kTime:
    case Type::kMicroTime:
    case Type::kBytes:
      return "string";
    case Type::kAny:
    case Type::kQuantity:
    case Type::kIntOrString:
      return "";
  }
  return "";
}

Type TypeOfWord(std::string_view word) {
  for (const Type type : {Type::kObject,
                          Type::kArray,
                          Type::kString,
                          Type::kInteger,
                          Type::kNumber,
                          Type::kBoolean}) {
    if (TypeWord(type) == word) return type;
  }
  return Type::kAny;
}

std::string_view WordOf(const json& value) {
  switch (value.type()) {
    case json::value_t::object:
      return TypeWord(Type::kObject);
    case json::value_t::array:
      return TypeWord(Type::kArray);
    case json::value_t::string:
      return TypeWord(Type::kString);
    case json::value_t::boolean:
      return TypeWord(Type::kBoolean);
    case json::value_t::null:
      return "null";
    case json::value_t::number_float:
      return TypeWord(Type::kNumber);
    default:
      return TypeWord(Type::kInteger);
  }
}

std::string_view GoWordOf(const json& value) {
  if (value.is_boolean()) return "bool";
  const bool is_numeric = value.is_number() || value.is_null();
  return is_numeric ? "number" : WordOf(value);
}

}  // namespace strata::schema
