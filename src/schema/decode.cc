#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/ascii.h"
#include "json/dump.h"
#include "schema/check.h"
#include "schema/go_scalars.h"
#include "schema/go_time.h"
#include "schema/type_words.h"

namespace strata::schema {
namespace {

// Where Go's decoder is: the struct it fills, and the names of the fields on the way there. Lists
// and maps leave no trace.
struct Place {
  std::string_view go_struct;
  const Place* parent = nullptr;
  std::string_view field;
};

std::string FieldPath(const Place* place) {
  std::string path;
  for (; place != nullptr; place = place->parent) {
    if (place->field.empty()) continue;
    if (!path.empty()) path.insert(0, 1, '.');
    path.insert(0, place->field);
  }
  return path;
}

// "v1.PodSpec", "[]v1.Container", "map[string]string".
std::string GoType(const Schema& schema) {
  if (schema.type == Type::kObject) {
    const std::vector<std::string_view> parts = Split(schema.type_name, '.');
    if (parts.size() < 2) return "map[string]interface {}";
    return fmt::format("{}.{}", parts[parts.size() - 2], schema.go_name);
  }
  if (!schema.go_name.empty()) return schema.go_name;
  switch (schema.type) {
    case Type::kArray:
      return "[]" + (schema.items == nullptr ? "interface {}" : GoType(*schema.items));
    case Type::kMap:
      return "map[string]" + (schema.items == nullptr ? "interface {}" : GoType(*schema.items));
    case Type::kInteger:
      return schema.format.empty() ? "int" : schema.format;
    case Type::kNumber:
      return "float64";
    case Type::kBoolean:
      return "bool";
    case Type::kBytes:
      return "[]uint8";
    default:
      return "string";
  }
}

Status Mismatch(std::string_view value, const std::string& type, const Place& place) {
  const std::string path = FieldPath(&place);
  return Fail(Code::kInvalidArgument,
              path.empty()
                  ? fmt::format("json: cannot unmarshal {} into Go value of type {}", value, type)
                  : fmt::format("json: cannot unmarshal {} into Go struct field {}.{} of type {}",
                                value,
                                place.go_struct,
                                path,
                                type));
}

bool FitsInteger(const Schema& schema, const nlohmann::json& value) {
  if (!value.is_number_integer()) return false;
  if (value.is_number_unsigned() &&
      value.get<std::uint64_t>() > std::uint64_t{std::numeric_limits<std::int64_t>::max()}) {
    return false;
  }
  const auto number = value.get<std::int64_t>();
  return schema.format != "int32" || (number >= std::numeric_limits<std::int32_t>::min() &&
                                      number <= std::numeric_limits<std::int32_t>::max());
}

Status CheckInteger(const Schema& schema, const nlohmann::json& value, const Place& place) {
  if (FitsInteger(schema, value)) return {};
  const std::string shown =
      value.is_number() ? "number " + DumpJson(value) : std::string(GoWordOf(value));
  return Mismatch(shown, GoType(schema), place);
}

// Ok for an empty reason.
Status Because(std::string why) {
  if (why.empty()) return {};
  return Fail(Code::kInvalidArgument, std::move(why));
}

Status CheckQuantity(const nlohmann::json& value) {
  if (const auto* text = value.get_ptr<const std::string*>()) return Because(WhyNoQuantity(*text));
  return Because(WhyNoQuantity(value.is_number() ? DumpJson(value) : ""));
}

Status CheckTime(const Schema& schema, const nlohmann::json& value, const Place& place) {
  const auto* text = value.get_ptr<const std::string*>();
  if (text == nullptr) return Mismatch(GoWordOf(value), "string", place);
  const auto layout = schema.type == Type::kMicroTime ? TimeLayout::kMicro : TimeLayout::kSeconds;
  return Because(WhyNoTime(*text, layout));
}

Status CheckScalar(const Schema& schema, const nlohmann::json& value, const Place& place) {
  switch (schema.type) {
    case Type::kString:
      return value.is_string() ? Status() : Mismatch(GoWordOf(value), GoType(schema), place);
    case Type::kBoolean:
      return value.is_boolean() ? Status() : Mismatch(GoWordOf(value), GoType(schema), place);
    case Type::kNumber:
      return value.is_number() ? Status() : Mismatch(GoWordOf(value), GoType(schema), place);
    case Type::kInteger:
      return CheckInteger(schema, value, place);
    case Type::kQuantity:
      return CheckQuantity(value);
    case Type::kTime:
    case Type::kMicroTime:
      return CheckTime(schema, value, place);
    case Type::kBytes:
      if (!value.is_string()) return Mismatch(GoWordOf(value), GoType(schema), place);
      return Because(WhyNoBase64(value.get_ref<const std::string&>()));
    case Type::kIntOrString: {
      Schema number;
      number.type = Type::kInteger;
      number.format = "int32";
      return value.is_string() ? Status() : CheckInteger(number, value, place);
    }
    default:
      return {};
  }
}

Status Check(const Schema& schema, const nlohmann::json& value, const Place& place) {
  if (schema.type == Type::kAny || value.is_null()) return {};
  if (schema.type == Type::kArray) {
    if (!value.is_array()) return Mismatch(GoWordOf(value), GoType(schema), place);
    if (schema.items == nullptr) return {};
    for (const nlohmann::json& item : value) TRY(Check(*schema.items, item, place));
    return {};
  }
  if (schema.type != Type::kObject && schema.type != Type::kMap) {
    return CheckScalar(schema, value, place);
  }
  if (!value.is_object()) return Mismatch(GoWordOf(value), GoType(schema), place);
  for (const auto& [key, member] : value.get_ref<const nlohmann::json::object_t&>()) {
    if (const Field* field = schema.Find(key)) {
      TRY(Check(*field->schema, member, Place{schema.go_name, &place, field->name}));
    } else if (schema.type == Type::kMap && schema.items != nullptr) {
      TRY(Check(*schema.items, member, place));
    }
  }
  return {};
}

}  // namespace

Status CheckDecodes(const Schema& schema, const nlohmann::json& object) {
  return Check(schema, object, Place{});
}

}  // namespace strata::schema
