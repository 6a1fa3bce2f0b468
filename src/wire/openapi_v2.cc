#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include <nlohmann/json.hpp>

#include "json/access.h"
#include "json/dump.h"
#include "wire/proto/openapi_v2.pb.h"
#include "wire/protobuf_body.h"

namespace strata::wire {
namespace {

using Json = nlohmann::json;

// Clients stop at 100 messages inside each other, of which a level has up to three (the schema, its
// properties, the one of a name). What is deeper can be anything.
constexpr std::size_t kMaxSchemaDepth = 30;

template <typename Number>
Number NumberAt(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_number() ? found->get<Number>() : Number{};
}

const Json& At(const Json& object, const char* key) {
  static const Json none;
  const auto found = object.find(key);
  return found == object.end() ? none : *found;
}

template <typename Strings>
void AddTexts(const Json& list, Strings& out) {
  if (!list.is_array()) return;
  for (const Json& item : list) {
    if (item.is_string()) out.Add(item.get<std::string>());
  }
}

template <typename Message>
void AddExtensions(const Json& object, Message& out) {
  for (const auto& [key, value] : object.items()) {
    if (!key.starts_with("x-")) continue;
    openapi::NamedAny& extension = *out.add_vendor_extension();
    extension.set_name(key);
    extension.mutable_value()->set_yaml(DumpJson(value));
  }
}

Status WriteSchema(const Json& schema, std::size_t levels, openapi::Schema& out);

Status WriteNamed(const Json& schemas, std::size_t levels, openapi::Definitions& out) {
  for (const auto& [name, schema] : schemas.items()) {
    openapi::NamedSchema& named = *out.add_named();
    named.set_name(name);
    TRY(WriteSchema(schema, levels, *named.mutable_value()));
  }
  return {};
}

void WriteLimits(const Json& schema, openapi::Schema& out) {
  out.set_multiple_of(NumberAt<double>(schema, "multipleOf"));
  out.set_maximum(NumberAt<double>(schema, "maximum"));
  out.set_exclusive_maximum(BoolAt(schema, {"exclusiveMaximum"}));
  out.set_minimum(NumberAt<double>(schema, "minimum"));
  out.set_exclusive_minimum(BoolAt(schema, {"exclusiveMinimum"}));
  out.set_max_length(NumberAt<std::int64_t>(schema, "maxLength"));
  out.set_min_length(NumberAt<std::int64_t>(schema, "minLength"));
  out.set_pattern(TextAt(schema, {"pattern"}));
  out.set_max_items(NumberAt<std::int64_t>(schema, "maxItems"));
  out.set_min_items(NumberAt<std::int64_t>(schema, "minItems"));
  out.set_unique_items(BoolAt(schema, {"uniqueItems"}));
  out.set_max_properties(NumberAt<std::int64_t>(schema, "maxProperties"));
  out.set_min_properties(NumberAt<std::int64_t>(schema, "minProperties"));
  out.set_read_only(BoolAt(schema, {"readOnly"}));
}

// The schemas inside a schema.
Status WriteInner(const Json& schema, std::size_t levels, openapi::Schema& out) {
  if (const Json& more = At(schema, "additionalProperties"); more.is_boolean()) {
    out.mutable_additional_properties()->set_any(more.get<bool>());
  } else if (more.is_object()) {
    TRY(WriteSchema(more, levels, *out.mutable_additional_properties()->mutable_schema()));
  }
  if (const Json& items = At(schema, "items"); items.is_object()) {
    TRY(WriteSchema(items, levels, *out.mutable_items()->add_schema()));
  }
  if (const Json& all = At(schema, "allOf"); all.is_array()) {
    for (const Json& one : all) TRY(WriteSchema(one, levels, *out.add_all_of()));
  }
  if (const Json& properties = At(schema, "properties"); properties.is_object()) {
    TRY(WriteNamed(properties, levels, *out.mutable_properties()));
  }
  return {};
}

Status WriteSchema(const Json& schema, std::size_t levels, openapi::Schema& out) {
  if (levels == 0) return {};
  if (!schema.is_object()) return Fail(Code::kInvalidArgument, "a schema that is not an object");
  out.set_ref(TextAt(schema, {"$ref"}));
  out.set_format(TextAt(schema, {"format"}));
  out.set_title(TextAt(schema, {"title"}));
  out.set_description(TextAt(schema, {"description"}));
  if (schema.contains("default")) {
    out.mutable_default_value()->set_yaml(DumpJson(At(schema, "default")));
  }
  if (const std::string type = TextAt(schema, {"type"}); !type.empty()) {
    out.mutable_type()->add_value(type);
  }
  AddTexts(At(schema, "required"), *out.mutable_required());
  if (const Json& values = At(schema, "enum"); values.is_array()) {
    for (const Json& value : values) out.add_enum_values()->set_yaml(DumpJson(value));
  }
  WriteLimits(schema, out);
  AddExtensions(schema, out);
  return WriteInner(schema, levels - 1, out);
}

template <typename Message>
void WriteSimpleParameter(const Json& parameter, Message& out) {
  out.set_required(BoolAt(parameter, {"required"}));
  out.set_in(TextAt(parameter, {"in"}));
  out.set_description(TextAt(parameter, {"description"}));
  out.set_name(TextAt(parameter, {"name"}));
  out.set_type(TextAt(parameter, {"type"}));
  out.set_format(TextAt(parameter, {"format"}));
  out.set_unique_items(BoolAt(parameter, {"uniqueItems"}));
}

// Parameters of the header and of forms are left out: Kubernetes has none.
template <typename Message>
Status AddParameters(const Json& parameters, Message& out) {
  if (!parameters.is_array()) return {};
  for (const Json& parameter : parameters) {
    const std::string& in = TextAt(parameter, {"in"});
    if (in == "body") {
      openapi::BodyParameter& body = *out.add_parameters()->mutable_parameter()->mutable_body();
      body.set_description(TextAt(parameter, {"description"}));
      body.set_name(TextAt(parameter, {"name"}));
      body.set_in(in);
      body.set_required(BoolAt(parameter, {"required"}));
      if (parameter.contains("schema")) {
        TRY(WriteSchema(At(parameter, "schema"), kMaxSchemaDepth, *body.mutable_schema()));
      }
    } else if (in == "query" || in == "path") {
      openapi::NonBodyParameter& elsewhere =
          *out.add_parameters()->mutable_parameter()->mutable_elsewhere();
      if (in == "query") {
        WriteSimpleParameter(parameter, *elsewhere.mutable_query());
      } else {
        WriteSimpleParameter(parameter, *elsewhere.mutable_path());
      }
    }
  }
  return {};
}

Status WriteResponses(const Json& responses, openapi::Responses& out) {
  if (!responses.is_object()) return {};
  for (const auto& [code, response] : responses.items()) {
    openapi::NamedResponse& named = *out.add_code();
    named.set_name(code);
    openapi::Response& value = *named.mutable_value()->mutable_response();
    if (!response.is_object()) continue;
    value.set_description(TextAt(response, {"description"}));
    if (response.contains("schema")) {
      TRY(WriteSchema(
          At(response, "schema"), kMaxSchemaDepth, *value.mutable_schema()->mutable_schema()));
    }
  }
  return {};
}

Status WriteOperation(const Json& operation, openapi::Operation& out) {
  AddTexts(At(operation, "tags"), *out.mutable_tags());
  out.set_summary(TextAt(operation, {"summary"}));
  out.set_description(TextAt(operation, {"description"}));
  out.set_operation_id(TextAt(operation, {"operationId"}));
  AddTexts(At(operation, "produces"), *out.mutable_produces());
  AddTexts(At(operation, "consumes"), *out.mutable_consumes());
  AddTexts(At(operation, "schemes"), *out.mutable_schemes());
  AddExtensions(operation, out);
  TRY(AddParameters(At(operation, "parameters"), out));
  return WriteResponses(At(operation, "responses"), *out.mutable_responses());
}

// The operation of an HTTP method; nullptr where a path has no such method.
openapi::Operation* OperationOf(std::string_view method, openapi::PathItem& item) {
  if (method == "get") return item.mutable_get();
  if (method == "put") return item.mutable_put();
  if (method == "post") return item.mutable_post();
  if (method == "delete") return item.mutable_delete_it();
  if (method == "options") return item.mutable_options();
  if (method == "head") return item.mutable_head();
  if (method == "patch") return item.mutable_patch();
  return nullptr;
}

Status WritePath(const Json& path, openapi::PathItem& out) {
  if (!path.is_object()) return Fail(Code::kInvalidArgument, "a path that is not an object");
  for (const auto& [method, operation] : path.items()) {
    openapi::Operation* target = operation.is_object() ? OperationOf(method, out) : nullptr;
    if (target != nullptr) TRY(WriteOperation(operation, *target));
  }
  AddExtensions(path, out);
  return AddParameters(At(path, "parameters"), out);
}

}  // namespace

Result<std::string> OpenApiV2ToProtobuf(const Json& document) {
  if (!document.is_object()) {
    return Fail(Code::kInvalidArgument, "a document that is not an object");
  }
  openapi::Document out;
  out.set_swagger(TextAt(document, {"swagger"}));
  if (const Json& info = At(document, "info"); info.is_object()) {
    out.mutable_info()->set_title(TextAt(info, {"title"}));
    out.mutable_info()->set_version(TextAt(info, {"version"}));
    out.mutable_info()->set_description(TextAt(info, {"description"}));
  }
  if (const Json& paths = At(document, "paths"); paths.is_object()) {
    for (const auto& [name, path] : paths.items()) {
      openapi::NamedPathItem& item = *out.mutable_paths()->add_path();
      item.set_name(name);
      TRY(WritePath(path, *item.mutable_value()));
    }
  }
  if (const Json& definitions = At(document, "definitions"); definitions.is_object()) {
    TRY(WriteNamed(definitions, kMaxSchemaDepth, *out.mutable_definitions()));
  }
  AddExtensions(document, out);
  std::string bytes;
  if (!out.SerializeToString(&bytes)) return Fail(Code::kInternal, "a document too large");
  return bytes;
}

}  // namespace strata::wire
