#include <string>
#include <string_view>
#include <utility>

#include "apiserver/views/openapi_paths.h"
#include "apiserver/views/views.h"

namespace strata::apiserver {
namespace {

using nlohmann::json;

json DefinitionRef(const std::string& type) {
  return {{"$ref", "#/definitions/" + type}};
}

json BodyParameter(const std::string& type) {
  return {{"name", "body"}, {"in", "body"}, {"required", true}, {"schema", DefinitionRef(type)}};
}

json OperationV2(const Resource& row, const ApiOperation& operation, const KindTypes& types) {
  json parameters = json::array();
  if (operation.takes == Body::kObject) parameters.push_back(BodyParameter(types.object));
  if (operation.takes == Body::kPatch) parameters.push_back(BodyParameter(types.patch));
  for (const std::string_view name : operation.query) {
    const QueryParameter query = DescribeQuery(name);
    parameters.push_back({{"name", name},
                          {"in", "query"},
                          {"type", query.type},
                          {"description", query.description},
                          {"uniqueItems", true}});
  }
  json consumes = {"*/*"};
  if (operation.takes == Body::kPatch) {
    consumes = {"application/json-patch+json", "application/merge-patch+json"};
    if (!row.custom) consumes.push_back("application/strategic-merge-patch+json");
    consumes.push_back("application/apply-patch+yaml");
  }
  const std::string& answer = operation.answers == Body::kList ? types.list : types.object;
  return {{"description", operation.description},
          {"operationId", operation.id},
          {"consumes", std::move(consumes)},
          {"produces", {"application/json"}},
          {"schemes", {"https"}},
          {"parameters", std::move(parameters)},
          {"responses", {{"200", {{"description", "OK"}, {"schema", DefinitionRef(answer)}}}}},
          {"x-kubernetes-action", operation.action},
          {"x-kubernetes-group-version-kind", GroupVersionKind(row)}};
}

}  // namespace

json OpenApiV2(const ResourceTable& table) {
  json paths = json::object();
  schema::OpenApiTypes types;
  for (const ResourceRef& row : table.rows()) {
    const KindTypes names = AddKind(*row, schema::OpenApiVersion::kV2, types);
    for (const ApiPath& path : PathsOf(*row)) {
      json& item = paths[path.path];
      for (const ApiOperation& operation : path.operations) {
        item[std::string(operation.method)] = OperationV2(*row, operation, names);
      }
      for (const std::string_view place : path.places) {
        item["parameters"].push_back({{"name", place},
                                      {"in", "path"},
                                      {"required", true},
                                      {"type", "string"},
                                      {"uniqueItems", true}});
      }
    }
  }
  json definitions = json::object();
  for (auto& [name, type] : types) definitions[name] = std::move(type);
  return {{"swagger", "2.0"},
          {"info", {{"title", "Kubernetes"}, {"version", "v1"}}},
          {"paths", std::move(paths)},
          {"definitions", std::move(definitions)}};
}

}  // namespace strata::apiserver
