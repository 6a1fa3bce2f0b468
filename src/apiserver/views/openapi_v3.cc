#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "apiserver/views/openapi_paths.h"
#include "apiserver/views/views.h"
#include "json/dump.h"

namespace strata::apiserver {
namespace {

using nlohmann::json;

json Content(const std::string& media_type, const std::string& type) {
  return {{media_type, {{"schema", {{"$ref", "#/components/schemas/" + type}}}}}};
}

json PatchContent(const Resource& row, const std::string& type) {
  json content = json::object();
  for (const char* media_type : {"application/json-patch+json",
                                 "application/merge-patch+json",
                                 "application/strategic-merge-patch+json",
                                 "application/apply-patch+yaml"}) {
    if (row.custom && std::string_view(media_type).find("strategic") != std::string_view::npos) {
      continue;
    }
    content.update(Content(media_type, type));
  }
  return content;
}

json OperationV3(const Resource& row, const ApiOperation& operation, const KindTypes& types) {
  const std::string& answer = operation.answers == Body::kList ? types.list : types.object;
  json out = {
      {"description", operation.description},
      {"operationId", operation.id},
      {"responses",
       {{"200", {{"description", "OK"}, {"content", Content("application/json", answer)}}}}},
      {"x-kubernetes-action", operation.action},
      {"x-kubernetes-group-version-kind", GroupVersionKind(row)}};
  for (const std::string_view name : operation.query) {
    const QueryParameter query = DescribeQuery(name);
    out["parameters"].push_back({{"name", name},
                                 {"in", "query"},
                                 {"description", query.description},
                                 {"schema", {{"type", query.type}, {"uniqueItems", true}}}});
  }
  if (operation.takes == Body::kObject) {
    out["requestBody"] = {{"required", true}, {"content", Content("*/*", types.object)}};
  } else if (operation.takes == Body::kPatch) {
    out["requestBody"] = {{"required", true}, {"content", PatchContent(row, types.patch)}};
  }
  return out;
}

// kubectl explain takes an empty schema for a missing one, so "anything" gets a word.
void DescribeAnything(json& schema) {
  if (!schema.is_object()) return;
  if (schema.empty()) schema["description"] = "Any value.";
  for (const char* key : {"items", "additionalProperties"}) {
    if (const auto part = schema.find(key); part != schema.end()) DescribeAnything(*part);
  }
  const auto properties = schema.find("properties");
  if (properties == schema.end() || !properties->is_object()) return;
  for (json& property : *properties) DescribeAnything(property);
}

std::string PathOf(const Resource& row) {
  return row.group.empty() ? "api/" + row.version : "apis/" + row.group + "/" + row.version;
}

// Clients keep a document for good under the address with its hash.
std::string ContentHash(const std::string& text) {
  std::uint64_t hash = 14695981039346656037U;  // FNV-1a
  for (const char c : text) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211U;
  }
  return fmt::format("{:016X}", hash);
}

}  // namespace

json OpenApiV3Index(const ResourceTable& table) {
  json paths = json::object();
  for (const ResourceRef& row : table.rows()) {
    const std::string path = PathOf(*row);
    if (paths.contains(path)) continue;
    const std::string text = DumpJson(OpenApiV3(table, path));
    paths[path] = {
        {"serverRelativeURL", fmt::format("/openapi/v3/{}?hash={}", path, ContentHash(text))}};
  }
  return {{"paths", std::move(paths)}};
}

json OpenApiV3(const ResourceTable& table, std::string_view path) {
  json paths = json::object();
  schema::OpenApiTypes types;
  for (const ResourceRef& row : table.rows()) {
    if (PathOf(*row) != path) continue;
    const KindTypes names = AddKind(*row, schema::OpenApiVersion::kV3, types);
    for (const ApiPath& api_path : PathsOf(*row)) {
      json& item = paths[api_path.path];
      for (const ApiOperation& operation : api_path.operations) {
        item[std::string(operation.method)] = OperationV3(*row, operation, names);
      }
      for (const std::string_view place : api_path.places) {
        item["parameters"].push_back({{"name", place},
                                      {"in", "path"},
                                      {"required", true},
                                      {"schema", {{"type", "string"}, {"uniqueItems", true}}}});
      }
    }
  }
  if (paths.empty()) return nullptr;
  json schemas = json::object();
  for (auto& [name, type] : types) {
    DescribeAnything(type);
    schemas[name] = std::move(type);
  }
  return {{"openapi", "3.0.0"},
          {"info", {{"title", "Kubernetes"}, {"version", "v1"}}},
          {"paths", std::move(paths)},
          {"components", {{"schemas", std::move(schemas)}}}};
}

}  // namespace strata::apiserver
