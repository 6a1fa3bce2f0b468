#include "apiserver/resources/custom_resources.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "apiserver/request/json_view.h"
#include "apiserver/resources/definition_rows.h"
#include "apiserver/verbs/deletion.h"
#include "apiserver/verbs/object_write.h"
#include "base/ascii.h"
#include "schema/catalog.h"

namespace strata::apiserver {
namespace {

using nlohmann::json;
using schema::Problem;

constexpr std::string_view kCleanup = "customresourcecleanup.apiextensions.k8s.io";

ResourceRef DefinitionResource(const ServerState& state) {
  return state.table.Find("apiextensions.k8s.io", "v1", "customresourcedefinitions");
}

void CheckNames(const json& object, std::vector<Problem>& problems) {
  const std::string& group = TextAt(object, {"spec", "group"});
  const std::string& plural = TextAt(object, {"spec", "names", "plural"});
  const std::string& name = TextAt(object, {"metadata", "name"});
  if (group.empty()) {
    problems.push_back({"spec.group", "FieldValueRequired", "Required value"});
  } else if (group.find('.') == std::string::npos) {
    problems.push_back(
        {"spec.group",
         "FieldValueInvalid",
         fmt::format("Invalid value: {}: should be a domain with at least one dot", Shown(group))});
  }
  for (const char* key : {"kind", "plural"}) {
    if (!TextAt(object, {"spec", "names", key}).empty()) continue;
    problems.push_back({fmt::format("spec.names.{}", key), "FieldValueRequired", "Required value"});
  }
  if (!group.empty() && !plural.empty() && name != plural + "." + group) {
    problems.push_back({"metadata.name",
                        "FieldValueInvalid",
                        fmt::format("Invalid value: {}: must be spec.names.plural+\".\"+spec.group",
                                    Shown(name))});
  }
  const std::string& scope = TextAt(object, {"spec", "scope"});
  if (scope != "Namespaced" && scope != "Cluster") {
    problems.push_back({"spec.scope",
                        "FieldValueNotSupported",
                        fmt::format("Unsupported value: {}: supported values: \"Cluster\", "
                                    "\"Namespaced\"",
                                    Shown(scope))});
  }
}

void CheckVersions(const json& object, std::vector<Problem>& problems) {
  const json& versions = ListAt(object, {"spec", "versions"});
  int stored = 0;
  for (std::size_t i = 0; i < versions.size(); ++i) {
    const std::string at = fmt::format("spec.versions[{}]", i);
    if (TextAt(versions[i], {"name"}).empty()) {
      problems.push_back({at + ".name", "FieldValueRequired", "Required value"});
    }
    if (BoolAt(versions[i], {"storage"})) ++stored;
    const json* open_api = FindAt(versions[i], {"schema", "openAPIV3Schema"});
    if (open_api == nullptr) {
      problems.push_back({at + ".schema.openAPIV3Schema",
                          "FieldValueRequired",
                          "Required value: schemas are required"});
      continue;
    }
    std::vector<Problem> wrong = schema::SchemaProblems(*open_api, at + ".schema.openAPIV3Schema");
    std::move(wrong.begin(), wrong.end(), std::back_inserter(problems));
  }
  if (stored != 1) {
    problems.push_back({"spec.versions",
                        "FieldValueInvalid",
                        "Invalid value: must have exactly one version marked as storage version"});
  }
}

json Condition(const char* type, const char* reason, const char* message, Time now) {
  return {{"type", type},
          {"status", "True"},
          {"reason", reason},
          {"message", message},
          {"lastTransitionTime", Stamp(now)}};
}

void FillNames(json& names) {
  const std::string kind = TextAt(names, {"kind"});
  SetDefault(names, "singular", LowerCase(kind));
  SetDefault(names, "listKind", kind + "List");
}

void FillStatus(const ServerState& state, json& object) {
  json& status = ObjectIn(object, "status");
  status["acceptedNames"] = ObjectAt(object, {"spec", "names"});
  json& stored = ListIn(status, "storedVersions");
  for (const json& version : ListAt(object, {"spec", "versions"})) {
    const std::string& name = TextAt(version, {"name"});
    if (BoolAt(version, {"storage"}) &&
        std::find(stored.begin(), stored.end(), json(name)) == stored.end()) {
      stored.push_back(name);
    }
  }
  json& conditions = ListIn(status, "conditions");
  if (!conditions.empty()) return;
  conditions.push_back(
      Condition("NamesAccepted", "NoConflicts", "no conflicts found", state.now()));
  conditions.push_back(Condition(
      "Established", "InitialNamesAccepted", "the initial names have been accepted", state.now()));
}

std::vector<ObjectKey> ObjectsOf(const ServerState& state, const std::string& resource) {
  std::vector<ObjectKey> keys;
  state.store.VisitLatest(resource, "", [&](const StoredObject& object) {
    keys.push_back({resource, object.ns, object.name});
    return true;
  });
  return keys;
}

// The row by which the objects of a definition are deleted: any version will do.
ResourceRef RowOf(const ServerState& state, const std::string& name) {
  for (const ResourceRef& row : state.table.rows()) {
    if (row->custom && row->FullName() == name) return row;
  }
  return nullptr;
}

}  // namespace

ApiResult<void> PrepareDefinition(const ServerState& state, json& object) {
  std::vector<Problem> problems;
  CheckNames(object, problems);
  CheckVersions(object, problems);
  const ResourceRef definitions = DefinitionResource(state);
  if (!problems.empty()) {
    return tl::unexpected(
        Invalid(*definitions, TextAt(object, {"metadata", "name"}), std::move(problems)));
  }
  const std::string& group = TextAt(object, {"spec", "group"});
  for (const ResourceRef& row : state.table.rows()) {
    if (!row->custom && row->group == group) {
      return tl::unexpected(Forbidden(*definitions,
                                      TextAt(object, {"metadata", "name"}),
                                      fmt::format("the group {} is built in", group)));
    }
  }
  FillNames(ObjectIn(ObjectIn(object, "spec"), "names"));
  SetDefault(ObjectIn(object["spec"], "conversion"), "strategy", "None");
  FillStatus(state, object);
  return {};
}

void ServeDefinition(ServerState& state, const json& object) {
  const std::string& name = TextAt(object, {"metadata", "name"});
  const std::int64_t generation = IntegerAt(object, {"metadata", "generation"}, 1);
  const auto served = state.definitions.find(name);
  if (served != state.definitions.end() && served->second == generation) return;
  std::vector<Resource> rows = DefinitionRows(object);
  if (rows.empty()) return;
  std::vector<std::string> fields;
  for (const Resource& row : rows) {
    for (const std::string& field : row.selectable_fields) {
      if (std::find(fields.begin(), fields.end(), field) == fields.end()) fields.push_back(field);
    }
  }
  state.store.SetSelectableFields(name, std::move(fields));
  state.table.RemoveGroupResource(rows[0].group, rows[0].plural);
  for (Resource& row : rows) state.table.Put(std::move(row));
  state.definitions[name] = generation;
}

void ForgetDefinition(ServerState& state, const std::string& name) {
  state.definitions.erase(name);
  if (const ResourceRef row = RowOf(state, name)) {
    state.table.RemoveGroupResource(row->group, row->plural);
  }
}

void HoldDefinition(const ServerState& state, json& object) {
  const std::string& name = TextAt(object, {"metadata", "name"});
  if (ObjectsOf(state, name).empty()) return;
  json& finalizers = ListIn(object["metadata"], "finalizers");
  if (std::find(finalizers.begin(), finalizers.end(), json(kCleanup)) != finalizers.end()) return;
  finalizers.push_back(kCleanup);
  ListIn(ObjectIn(object, "status"), "conditions")
      .push_back(Condition("Terminating",
                           "InstanceDeletionPending",
                           "CustomResourceDefinition marked for deletion; CustomResource deletion "
                           "will begin soon",
                           state.now()));
}

void EmptyDefinition(ServerState& state, const std::string& name) {
  const ResourceRef row = RowOf(state, name);
  if (row == nullptr) return;
  for (const ObjectKey& key : ObjectsOf(state, name)) {
    if (const ObjectRef live = state.store.GetLatest(key)) {
      DeleteObject(state, row, live, InBackground(), [](const ApiResult<Deleted>&) {});
    }
  }
  FinishDefinition(state, *row);
}

void FinishDefinition(ServerState& state, const Resource& resource) {
  const ResourceRef definitions = DefinitionResource(state);
  const std::string name = resource.FullName();
  const ObjectRef live = state.store.GetLatest(KeyOf(*definitions, "", name));
  if (live == nullptr || live->body.find("\"deletionTimestamp\"") == std::string::npos) return;
  if (!ObjectsOf(state, name).empty()) return;
  json object = ParseWithKind(*definitions, *live);
  json& finalizers = ListIn(object["metadata"], "finalizers");
  finalizers.erase(std::remove(finalizers.begin(), finalizers.end(), json(kCleanup)),
                   finalizers.end());
  if (ReadyToGo(*definitions, object)) {
    RemoveObject(
        state, definitions, live->version, std::move(object), [](const ApiResult<ObjectRef>&) {});
  }
}

}  // namespace strata::apiserver
