#include "apiserver/views/openapi_paths.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "base/ascii.h"
#include "base/check.h"

namespace strata::apiserver {
namespace {

using nlohmann::json;

struct NamedQuery {
  std::string_view name;
  QueryParameter parameter;
};

constexpr std::array kQueries = {
    NamedQuery{"allowWatchBookmarks",
               {"boolean", "allowWatchBookmarks requests watch events with type \"BOOKMARK\"."}},
    NamedQuery{"continue",
               {"string", "The continue token of the previous page, to continue after it."}},
    NamedQuery{"dryRun",
               {"string",
                "When present, indicates that modifications should not be persisted. The one valid "
                "value is All."}},
    NamedQuery{"fieldManager",
               {"string",
                "fieldManager is a name associated with the actor that is making these "
                "changes."}},
    NamedQuery{"fieldSelector",
               {"string", "A selector to restrict the list of returned objects by their fields."}},
    NamedQuery{"fieldValidation",
               {"string", "What to do about unknown or duplicate fields: Ignore, Warn or Strict."}},
    NamedQuery{
        "force",
        {"boolean", "Force re-acquires fields that other managers own; apply patches only."}},
    NamedQuery{"gracePeriodSeconds",
               {"integer", "The duration in seconds before the object should be deleted."}},
    NamedQuery{"labelSelector",
               {"string", "A selector to restrict the list of returned objects by their labels."}},
    NamedQuery{"limit", {"integer", "The maximum number of items to return in one response."}},
    NamedQuery{"pretty", {"string", "If 'true', then the output is pretty printed."}},
    NamedQuery{"propagationPolicy",
               {"string", "Whether and how garbage collection will be performed."}},
    NamedQuery{"resourceVersion",
               {"string", "What resource versions a request may be served from."}},
    NamedQuery{"resourceVersionMatch", {"string", "How resourceVersion is applied to list calls."}},
    NamedQuery{"sendInitialEvents",
               {"boolean", "Begin a watch with the existing objects, followed by a bookmark."}},
    NamedQuery{"timeoutSeconds", {"integer", "Timeout for the list or watch call."}},
    NamedQuery{
        "watch",
        {"boolean", "Watch for changes to the described resources and return them as a stream."}},
};

using QueryNames = std::span<const std::string_view>;
using Places = std::vector<std::string_view>;

constexpr std::array<std::string_view, 11> kListQuery = {"allowWatchBookmarks",
                                                         "continue",
                                                         "fieldSelector",
                                                         "labelSelector",
                                                         "limit",
                                                         "pretty",
                                                         "resourceVersion",
                                                         "resourceVersionMatch",
                                                         "sendInitialEvents",
                                                         "timeoutSeconds",
                                                         "watch"};
constexpr std::array<std::string_view, 1> kReadQuery = {"pretty"};
constexpr std::array<std::string_view, 4> kWriteQuery = {
    "dryRun", "fieldManager", "fieldValidation", "pretty"};
constexpr std::array<std::string_view, 5> kPatchQuery = {
    "dryRun", "fieldManager", "fieldValidation", "force", "pretty"};
constexpr std::array<std::string_view, 4> kDeleteQuery = {
    "dryRun", "gracePeriodSeconds", "pretty", "propagationPolicy"};

std::string Capital(std::string_view text) {
  std::string word(text);
  if (!word.empty() && word[0] >= 'a' && word[0] <= 'z') {
    word[0] = static_cast<char>(word[0] - 'a' + 'A');
  }
  return word;
}

// "BatchVolcanoShV1alpha1", "CoreV1".
std::string GroupWord(const Resource& row) {
  if (row.group.empty()) return "Core" + Capital(row.version);
  std::string word;
  for (const std::string_view part : Split(row.group, '.')) word += Capital(part);
  return word + Capital(row.version);
}

// Makes the operations of one path.
class Operations {
 public:
  Operations(const Resource& row, std::string suffix) : row_(row), suffix_(std::move(suffix)) {}

  void Add(std::string_view method,
           std::string_view action,
           QueryNames query,
           Body takes,
           Body answers) {
    const std::string_view verb = Verb(action);
    ApiOperation& operation = all_.emplace_back();
    operation.method = method;
    operation.action = action;
    operation.id = fmt::format("{}{}{}{}{}",
                               verb,
                               GroupWord(row_),
                               action == "deletecollection" ? "Collection" : "",
                               row_.kind,
                               suffix_);
    operation.description = fmt::format("{} {}", verb, row_.kind);
    operation.query = query;
    operation.takes = takes;
    operation.answers = answers;
  }
  [[nodiscard]] std::vector<ApiOperation> Take() { return std::move(all_); }

 private:
  static std::string_view Verb(std::string_view action) {
    if (action == "get") return "read";
    if (action == "post") return "create";
    if (action == "put") return "replace";
    return action == "deletecollection" ? "delete" : action;
  }

  const Resource& row_;
  std::string suffix_;
  std::vector<ApiOperation> all_;
};

ApiPath CollectionPath(const Resource& row, std::string path, Places places) {
  Operations operations(row, row.namespaced ? "InNamespace" : "");
  if (!row.read_only) operations.Add("get", "list", kListQuery, Body::kNone, Body::kList);
  operations.Add("post", "post", kWriteQuery, Body::kObject, Body::kObject);
  if (!row.read_only) {
    operations.Add("delete", "deletecollection", kDeleteQuery, Body::kNone, Body::kList);
  }
  return {std::move(path), std::move(places), operations.Take()};
}

ApiPath ObjectPath(const Resource& row, std::string path, Places places) {
  Operations operations(row, row.namespaced ? "InNamespace" : "");
  operations.Add("get", "get", kReadQuery, Body::kNone, Body::kObject);
  operations.Add("put", "put", kWriteQuery, Body::kObject, Body::kObject);
  operations.Add("delete", "delete", kDeleteQuery, Body::kNone, Body::kObject);
  operations.Add("patch", "patch", kPatchQuery, Body::kPatch, Body::kObject);
  return {std::move(path), std::move(places), operations.Take()};
}

ApiPath StatusPath(const Resource& row, std::string path, Places places) {
  Operations operations(row, row.namespaced ? "StatusInNamespace" : "Status");
  operations.Add("get", "get", kReadQuery, Body::kNone, Body::kObject);
  operations.Add("put", "put", kWriteQuery, Body::kObject, Body::kObject);
  operations.Add("patch", "patch", kPatchQuery, Body::kPatch, Body::kObject);
  return {std::move(path), std::move(places), operations.Take()};
}

// A custom kind's type is named after its group, turned round: "sh.volcano.batch.v1alpha1.Job".
std::string TypeName(const Resource& row) {
  if (!row.schema->type_name.empty()) return row.schema->type_name;
  auto parts = Split(row.group, '.');
  std::reverse(parts.begin(), parts.end());
  return fmt::format("{}.{}.{}", fmt::join(parts, "."), row.version, row.kind);
}

json Reference(schema::OpenApiVersion version, const std::string& type) {
  const bool v3 = version == schema::OpenApiVersion::kV3;
  return {{"$ref", (v3 ? "#/components/schemas/" : "#/definitions/") + type}};
}

json ListType(const Resource& row, schema::OpenApiVersion version, const std::string& object) {
  json kind = GroupVersionKind(row);
  kind["kind"] = row.kind + "List";
  return {{"description", fmt::format("{}List is a list of {}", row.kind, row.kind)},
          {"type", "object"},
          {"required", {"items"}},
          {"properties",
           {{"apiVersion", {{"type", "string"}}},
            {"kind", {{"type", "string"}}},
            {"metadata", {{"type", "object"}}},
            {"items", {{"type", "array"}, {"items", Reference(version, object)}}}}},
          {"x-kubernetes-group-version-kind", json::array({std::move(kind)})}};
}

}  // namespace

std::vector<ApiPath> PathsOf(const Resource& row) {
  const std::string base =
      row.group.empty() ? "/api/" + row.version : "/apis/" + row.group + "/" + row.version;
  const std::string all = base + "/" + row.plural;
  const std::string collection =
      row.namespaced ? base + "/namespaces/{namespace}/" + row.plural : all;
  Places places;
  if (row.namespaced) places.emplace_back("namespace");
  std::vector<ApiPath> paths = {CollectionPath(row, collection, places)};
  if (row.read_only) return paths;
  if (row.namespaced) {
    Operations operations(row, "ForAllNamespaces");
    operations.Add("get", "list", kListQuery, Body::kNone, Body::kList);
    paths.push_back({all, {}, operations.Take()});
  }
  places.insert(places.begin(), "name");
  paths.push_back(ObjectPath(row, collection + "/{name}", places));
  if (row.has_status) paths.push_back(StatusPath(row, collection + "/{name}/status", places));
  return paths;
}

QueryParameter DescribeQuery(std::string_view name) {
  const auto found = std::find_if(kQueries.begin(), kQueries.end(), [&](const NamedQuery& query) {
    return query.name == name;
  });
  CHECK(found != kQueries.end());
  return found->parameter;
}

KindTypes AddKind(const Resource& row,
                  schema::OpenApiVersion version,
                  schema::OpenApiTypes& types) {
  KindTypes names{
      TypeName(row), TypeName(row) + "List", "io.k8s.apimachinery.pkg.apis.meta.v1.Patch"};
  json made = schema::ToOpenApi(*row.schema, version, types);
  json& object = types[names.object];
  if (!made.contains("$ref")) object = std::move(made);
  object["x-kubernetes-group-version-kind"] = json::array({GroupVersionKind(row)});
  types[names.list] = ListType(row, version, names.object);
  types[names.patch] = {
      {"type", "object"},
      {"description",
       "Patch is provided to give a concrete name and type to the Kubernetes PATCH "
       "request body."}};
  return names;
}

json GroupVersionKind(const Resource& row) {
  return {{"group", row.group}, {"version", row.version}, {"kind", row.kind}};
}

}  // namespace strata::apiserver
