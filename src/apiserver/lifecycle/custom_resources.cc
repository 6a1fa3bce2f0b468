#include "apiserver/lifecycle/custom_resources.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "apiserver/lifecycle/deletion.h"
#include "apiserver/lifecycle/object_write.h"
#include "apiserver/lifecycle/retry.h"
#include "apiserver/resources/definition_rows.h"
#include "base/ascii.h"
#include "json/access.h"
#include "json/dump.h"
#include "schema/catalog.h"
#include "schema/problems.h"

namespace strata::apiserver {
namespace {

using nlohmann::json;
using schema::Problem;

constexpr std::size_t kMaxVersions = 100;
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
    problems.push_back({"spec.group",
                        "FieldValueInvalid",
                        fmt::format("Invalid value: {}: should be a domain with at least one dot",
                                    DumpJson(group))});
  }
  for (const char* key : {"kind", "plural"}) {
    if (!TextAt(object, {"spec", "names", key}).empty()) continue;
    problems.push_back({fmt::format("spec.names.{}", key), "FieldValueRequired", "Required value"});
  }
  if (!group.empty() && !plural.empty() && name != plural + "." + group) {
    problems.push_back({"metadata.name",
                        "FieldValueInvalid",
                        fmt::format("Invalid value: {}: must be spec.names.plural+\".\"+spec.group",
                                    DumpJson(name))});
  }
  const std::string& scope = TextAt(object, {"spec", "scope"});
  if (scope != "Namespaced" && scope != "Cluster") {
    problems.push_back({"spec.scope",
                        "FieldValueNotSupported",
                        fmt::format("Unsupported value: {}: supported values: \"Cluster\", "
                                    "\"Namespaced\"",
                                    DumpJson(scope))});
  }
}

void CheckVersions(const json& object, std::vector<Problem>& problems) {
  const json& versions = ListAt(object, {"spec", "versions"});
  if (versions.size() > kMaxVersions) {
    return problems.push_back(
        schema::TooMany("spec.versions", static_cast<std::int64_t>(versions.size()), kMaxVersions));
  }
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

// What objects that are there already rely on.
void CheckKept(const json& before, const json& object, std::vector<Problem>& problems) {
  const auto check = [&](const char* field, const std::string& was, const std::string& is) {
    if (was != is) problems.push_back(schema::InvalidValue(field, is, "field is immutable"));
  };
  check("spec.scope", TextAt(before, {"spec", "scope"}), TextAt(object, {"spec", "scope"}));
  check("spec.names.kind",
        TextAt(before, {"spec", "names", "kind"}),
        TextAt(object, {"spec", "names", "kind"}));
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

bool HasObjects(const ServerState& state, const std::string& resource) {
  bool any = false;
  state.store.VisitLatest(resource, "", [&](const StoredObject&) {
    any = true;
    return false;
  });
  return any;
}

std::int64_t GenerationOf(const json& definition) {
  return IntegerAt(definition, {"metadata", "generation"}, 1);
}

ObjectRef LatestDefinition(const ServerState& state, const std::string& name) {
  return state.store.GetLatest(KeyOf(*DefinitionResource(state), "", name));
}

// The row by which the objects of a definition are deleted: any version will do.
ResourceRef RowOf(const ServerState& state, const std::string& name) {
  for (const ResourceRef& row : state.table.rows()) {
    if (row->custom && row->FullName() == name) return row;
  }
  return nullptr;
}

}  // namespace

ApiResult<void> PrepareDefinition(const ServerState& state, const json* before, json& object) {
  std::vector<Problem> problems;
  CheckNames(object, problems);
  CheckVersions(object, problems);
  if (before != nullptr) CheckKept(*before, object, problems);
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
  CompleteDefinition(state, object);
  return {};
}

void CompleteDefinition(const ServerState& state, json& object) {
  FillNames(ObjectIn(ObjectIn(object, "spec"), "names"));
  SetDefault(ObjectIn(object["spec"], "conversion"), "strategy", "None");
  FillStatus(state, object);
}

ApiResult<void> CheckDefinition(const ServerState& state, const Resource& resource) {
  if (!resource.custom) return {};
  const ObjectRef definition = LatestDefinition(state, resource.FullName());
  if (definition == nullptr) return tl::unexpected(NoSuchResource());
  if (!IsTerminatingDefinition(*definition)) return {};
  ApiError error = MethodNotAllowed();
  error.message = "create not allowed while custom resource definition is terminating";
  return tl::unexpected(std::move(error));
}

void ServeDefinition(ServerState& state, const json& object) {
  const auto served = state.definitions.find(TextAt(object, {"metadata", "name"}));
  if (served != state.definitions.end() && served->second == GenerationOf(object)) return;
  ServeDefinition(state, object, DefinitionRows(object));
}

void ServeDefinition(ServerState& state, const json& object, std::vector<Resource> rows) {
  const std::string& name = TextAt(object, {"metadata", "name"});
  std::set<std::string> fields;
  for (const Resource& row : rows) {
    fields.insert(row.selectable_fields.begin(), row.selectable_fields.end());
  }
  state.store.SetSelectableFields(name, {fields.begin(), fields.end()});
  state.table.RemoveGroupResource(TextAt(object, {"spec", "group"}),
                                  TextAt(object, {"spec", "names", "plural"}));
  for (Resource& row : rows) state.table.Put(std::move(row));
  state.definitions[name] = GenerationOf(object);
  state.table_listeners.Tell();
}

void ForgetDefinition(ServerState& state, const std::string& name) {
  state.definitions.erase(name);
  if (const ResourceRef row = RowOf(state, name)) {
    state.table.RemoveGroupResource(row->group, row->plural);
  }
  state.table_listeners.Tell();
}

bool IsTerminatingDefinition(const StoredObject& definition) {
  return std::any_of(definition.fields.begin(), definition.fields.end(), [](const auto& field) {
    return field.first == kDeletionPath;
  });
}

void HoldDefinition(const ServerState& state, json& object) {
  const std::string& name = TextAt(object, {"metadata", "name"});
  if (!HasObjects(state, name)) return;
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
  const ObjectRef definition = LatestDefinition(state, name);
  if (definition == nullptr || !IsTerminatingDefinition(*definition)) return;
  // Not served in any version: its objects cannot be named, and go with it.
  const ResourceRef row = RowOf(state, name);
  const RetryRef retry = RetryInASecond(state, [&state, name] { EmptyDefinition(state, name); });
  for (const ObjectKey& key : ObjectsOf(state, name)) {
    const ObjectRef live = state.store.GetLatest(key);
    if (live == nullptr || row == nullptr) continue;
    DeleteObject(state, row, live, WithItsHome(), [retry](const ApiResult<Deleted>& deleted) {
      if (!deleted && deleted.error().code >= 500) retry->Ask();
    });
  }
  FinishDefinition(state, name);
}

void FinishDefinition(ServerState& state, const std::string& name) {
  const ResourceRef definitions = DefinitionResource(state);
  const ObjectRef live = LatestDefinition(state, name);
  if (live == nullptr || !IsTerminatingDefinition(*live) || HasObjects(state, name)) return;
  json object = ParseWithKind(*definitions, *live);
  json& finalizers = ListIn(object["metadata"], "finalizers");
  const auto kept = std::remove(finalizers.begin(), finalizers.end(), json(kCleanup));
  const bool held = kept != finalizers.end();
  finalizers.erase(kept, finalizers.end());
  const bool goes = ReadyToGo(*definitions, object);
  if (!goes && !held) return;  // finalizers of others
  const auto write = goes ? RemoveObject : WriteObject;
  write(state,
        definitions,
        live->version,
        std::move(object),
        [retry = RetryInASecond(state, [&state, name] { FinishDefinition(state, name); })](
            const ApiResult<ObjectRef>& written) {
          if (!written && written.error().code >= 500) retry->Ask();
        });
}

}  // namespace strata::apiserver
