#include "schema/openapi.h"

#include <cmath>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "schema/type_words.h"

namespace strata::schema {
namespace {

using nlohmann::json;

const char* PatchWord(PatchStrategy strategy) {
  switch (strategy) {
    case PatchStrategy::kMerge:
      return "merge";
    case PatchStrategy::kRetainKeys:
      return "retainKeys";
    case PatchStrategy::kMergeRetainKeys:
      return "merge,retainKeys";
    default:
      return nullptr;
  }
}

template <typename T>
void Put(json& out, const char* key, const std::optional<T>& value) {
  if (value) out[key] = *value;
}

// A bound without its fraction where it has none: 1, not 1.0.
void PutNumber(json& out, const char* key, const std::optional<double>& value) {
  if (!value) return;
  constexpr double kTwoTo63 = 9223372036854775808.0;
  const bool whole = *value >= -kTwoTo63 && *value < kTwoTo63 && std::trunc(*value) == *value;
  out[key] = whole ? json(static_cast<std::int64_t>(*value)) : json(*value);
}

void PutText(json& out, const char* key, const std::string& value) {
  if (!value.empty()) out[key] = value;
}

void PutFlag(json& out, const char* key, bool value) {
  if (value) out[key] = true;
}

void PutLimits(const Schema& schema, json& out) {
  PutText(out, "format", schema.format);
  PutText(out, "pattern", schema.pattern);
  PutNumber(out, "minimum", schema.minimum);
  PutNumber(out, "maximum", schema.maximum);
  PutNumber(out, "multipleOf", schema.multiple_of);
  PutFlag(out, "exclusiveMinimum", schema.exclusive_minimum);
  PutFlag(out, "exclusiveMaximum", schema.exclusive_maximum);
  Put(out, "minLength", schema.min_length);
  Put(out, "maxLength", schema.max_length);
  Put(out, "minItems", schema.min_items);
  Put(out, "maxItems", schema.max_items);
  Put(out, "minProperties", schema.min_properties);
  Put(out, "maxProperties", schema.max_properties);
  if (!schema.enum_values.empty()) out["enum"] = schema.enum_values;
}

// How lists and objects are merged; also beside a reference.
void PutMerging(const Schema& schema, json& out) {
  if (schema.type == Type::kArray) {
    const bool map = schema.list_type == ListType::kMap;
    out["x-kubernetes-list-type"] = map                                  ? "map"
                                    : schema.list_type == ListType::kSet ? "set"
                                                                         : "atomic";
    if (map) out["x-kubernetes-list-map-keys"] = schema.list_map_keys;
  }
  if (schema.atomic) out["x-kubernetes-map-type"] = "atomic";
  if (const char* word = PatchWord(schema.patch_strategy)) {
    out["x-kubernetes-patch-strategy"] = word;
    PutText(out, "x-kubernetes-patch-merge-key", schema.patch_merge_key);
  }
}

class Writer {
 public:
  Writer(OpenApiVersion version, OpenApiTypes& types) : version_(version), types_(types) {}

  json Refer(const Schema& schema) {
    if (schema.type_name.empty()) return Define(schema);
    if (!types_.contains(schema.type_name)) {
      types_[schema.type_name] = nullptr;  // on its way
      Schema plain = schema;
      plain.default_value.reset();  // belongs to the place, not to the type
      types_[schema.type_name] = Define(plain);
    }
    const bool v3 = version_ == OpenApiVersion::kV3;
    return {{"$ref", (v3 ? "#/components/schemas/" : "#/definitions/") + schema.type_name}};
  }

 private:
  json Define(const Schema& schema) {
    json out = json::object();
    PutText(out, "description", schema.description);
    if (schema.default_value) out["default"] = *schema.default_value;
    PutFlag(out, "x-kubernetes-preserve-unknown-fields", schema.preserve_unknown);
    if (schema.nullable && version_ == OpenApiVersion::kV2) return out;
    PutFlag(out, "nullable", schema.nullable);
    if (const std::string_view word = TypeWord(schema.type); !word.empty()) out["type"] = word;
    PutLimits(schema, out);
    PutMerging(schema, out);
    PutTwoTypes(schema, out);
    PutParts(schema, out);
    PutRules(schema, out);
    if (version_ == OpenApiVersion::kV3) PutAlternatives(schema, out);
    return out;
  }

  void PutTwoTypes(const Schema& schema, json& out) {
    const bool quantity = schema.type == Type::kQuantity;
    if (!quantity && schema.type != Type::kIntOrString) return;
    if (schema.type_name.empty()) {
      out["x-kubernetes-int-or-string"] = true;
    } else if (version_ == OpenApiVersion::kV2) {
      out["type"] = "string";
    } else if (quantity) {
      out["oneOf"] = {{{"type", "string"}}, {{"type", "number"}}};
    } else {
      out["oneOf"] = {{{"type", "integer"}}, {{"type", "string"}}};
    }
  }

  void PutParts(const Schema& schema, json& out) {
    if (schema.type == Type::kMap) {
      out["additionalProperties"] = schema.items == nullptr ? json(true) : Refer(*schema.items);
    } else if (schema.items != nullptr) {
      out["items"] = Refer(*schema.items);
    }
    // kubectl would warn of fields that the schema means to allow.
    if (schema.preserve_unknown && version_ == OpenApiVersion::kV2) return;
    for (const Field& field : schema.fields) {
      out["properties"][field.name] = Property(field);
      if (field.required) out["required"].push_back(field.name);
    }
  }

  json Property(const Field& field) {
    const Schema& schema = *field.schema;
    json out = Refer(schema);
    if (out.contains("$ref")) {
      json merging = json::object();
      if (schema.type != Type::kArray) PutMerging(schema, merging);
      merging.erase("x-kubernetes-map-type");  // the type's own
      if (schema.default_value) merging["default"] = *schema.default_value;
      PutText(merging, "description", schema.as_sent ? schema.description : field.description);
      if (merging.empty()) return out;
      if (version_ == OpenApiVersion::kV3) {
        merging["allOf"] = json::array({std::move(out)});
        return merging;
      }
      merging.update(out);
      return merging;
    }
    PutText(out, "description", field.description);
    return out;
  }

  static void PutRules(const Schema& schema, json& out) {
    for (const Rule& rule : schema.rules) {
      json one = {{"rule", rule.rule}};
      PutText(one, "message", rule.message);
      PutText(one, "reason", rule.reason);
      PutText(one, "fieldPath", rule.field_path);
      out["x-kubernetes-validations"].push_back(std::move(one));
    }
  }

  void PutAlternatives(const Schema& schema, json& out) {
    if (schema.alternatives == nullptr) return;
    const Alternatives& all = *schema.alternatives;
    for (const SchemaRef& part : all.all_of) out["allOf"].push_back(Refer(*part));
    for (const SchemaRef& part : all.any_of) out["anyOf"].push_back(Refer(*part));
    for (const SchemaRef& part : all.one_of) out["oneOf"].push_back(Refer(*part));
    if (all.none_of != nullptr) out["not"] = Refer(*all.none_of);
  }

  OpenApiVersion version_;
  OpenApiTypes& types_;
};

}  // namespace

json ToOpenApi(const Schema& schema, OpenApiVersion version, OpenApiTypes& types) {
  return Writer(version, types).Refer(schema);
}

}  // namespace strata::schema
