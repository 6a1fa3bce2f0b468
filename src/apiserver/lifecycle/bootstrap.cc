#include "apiserver/lifecycle/bootstrap.h"

#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "apiserver/lifecycle/custom_resources.h"
#include "apiserver/lifecycle/namespaces.h"
#include "apiserver/lifecycle/object_write.h"
#include "apiserver/request/body.h"
#include "apiserver/resources/definition_rows.h"
#include "json/access.h"
#include "schema/catalog.h"

namespace strata::apiserver {
namespace {

using nlohmann::json;

constexpr const char* kDefinitions = "customresourcedefinitions.apiextensions.k8s.io";
constexpr const char* kNamespaces[] = {
    "default", "kube-system", "kube-public", "kube-node-lease", "volcano-system"};

void SetNewMeta(ServerState& state, const Resource& resource, json& object) {
  json& meta = ObjectIn(object, "metadata");
  meta["uid"] = NewUid(state.random);
  meta["creationTimestamp"] = Stamp(state.now());
  if (resource.generation != Generation::kNone) meta["generation"] = 1;
}

// Writes `object` unless one of its name exists.
void EnsureObject(ServerState& state, const ResourceRef& resource, json object) {
  if (resource == nullptr) return;
  const std::string& name = TextAt(object, {"metadata", "name"});
  if (state.store.GetLatest(KeyOf(*resource, "", name)) != nullptr) return;
  SetNewMeta(state, *resource, object);
  WriteObject(state, resource, 0, std::move(object), [](const ApiResult<ObjectRef>&) {});
}

void EnsureNamespaces(ServerState& state) {
  const ResourceRef resource = state.table.Find("", "v1", "namespaces");
  for (const char* name : kNamespaces) {
    EnsureObject(
        state,
        resource,
        {{"metadata", {{"name", name}, {"labels", {{"kubernetes.io/metadata.name", name}}}}},
         {"spec", {{"finalizers", {"kubernetes"}}}},
         {"status", {{"phase", "Active"}}}});
  }
}

void EnsurePriorityClasses(ServerState& state) {
  const ResourceRef resource = state.table.Find("scheduling.k8s.io", "v1", "priorityclasses");
  const auto ensure = [&](const char* name, std::int64_t value, const char* description) {
    EnsureObject(state,
                 resource,
                 {{"metadata", {{"name", name}}},
                  {"value", value},
                  {"description", description},
                  {"preemptionPolicy", "PreemptLowerPriority"}});
  };
  ensure("system-cluster-critical",
         2000000000,
         "Used for system critical pods that must run in the cluster, but can be moved to another "
         "node if necessary.");
  ensure("system-node-critical",
         2000001000,
         "Used for system critical pods that must not be moved from their current node.");
}

void EnsureQueues(ServerState& state) {
  const ResourceRef resource = state.table.Find("scheduling.volcano.sh", "v1beta1", "queues");
  if (resource == nullptr) return;
  for (const char* name : {"root", "default"}) {
    json spec = {{"reclaimable", std::string_view(name) == "default"}, {"weight", 1}};
    if (std::string_view(name) == "default") spec["parent"] = "root";
    json queue = {
        {"metadata", {{"name", name}}}, {"spec", std::move(spec)}, {"status", {{"state", "Open"}}}};
    EnsureObject(state, resource, std::move(queue));
  }
}

// A definition of our own as it is in every cluster, and what it serves.
struct OwnDefinition {
  json object;
  std::vector<Resource> rows;
};

Result<std::vector<OwnDefinition>> ReadOwnDefinitions(const ServerState& state) {
  std::vector<OwnDefinition> definitions;
  for (const std::string_view text : schema::OwnDefinitions()) {
    TRY_ASSIGN(json object, ParseYaml(text));
    object.erase("apiVersion");
    object.erase("kind");
    if (auto fine = PrepareDefinition(state, nullptr, object); !fine) {
      return Fail(Code::kInternal, fine.error().message);
    }
    object.erase("status");  // of this cluster
    std::vector<Resource> rows = DefinitionRows(object);
    definitions.push_back({std::move(object), std::move(rows)});
  }
  return definitions;
}

void EnsureDefinition(ServerState& state,
                      const ResourceRef& resource,
                      const OwnDefinition& definition) {
  const std::string& name = TextAt(definition.object, {"metadata", "name"});
  if (state.store.GetLatest(KeyOf(*resource, "", name)) != nullptr) return;
  json object = definition.object;
  CompleteDefinition(state, object);
  SetNewMeta(state, *resource, object);
  ServeDefinition(state, object, definition.rows);
  WriteObject(state, resource, 0, std::move(object), [](const ApiResult<ObjectRef>&) {});
}

Status EnsureDefinitions(ServerState& state) {
  // Constants of the program: reading them takes most of the time of a start.
  static const Result<std::vector<OwnDefinition>> definitions = ReadOwnDefinitions(state);
  if (!definitions) return tl::unexpected(definitions.error());
  const ResourceRef resource =
      state.table.Find("apiextensions.k8s.io", "v1", "customresourcedefinitions");
  for (const OwnDefinition& definition : *definitions) {
    EnsureDefinition(state, resource, definition);
  }
  return {};
}

// Continues deletions that were under way when the previous process ended.
void ResumeDeletions(ServerState& state) {
  std::vector<std::string> terminating;
  state.store.VisitLatest("namespaces", "", [&](const StoredObject& object) {
    if (IsTerminatingNamespace(object)) terminating.push_back(object.name);
    return true;
  });
  for (const std::string& name : terminating) EmptyNamespace(state, name);
  terminating.clear();
  state.store.VisitLatest(kDefinitions, "", [&](const StoredObject& object) {
    if (IsTerminatingDefinition(object)) terminating.push_back(object.name);
    return true;
  });
  for (const std::string& name : terminating) EmptyDefinition(state, name);
}

}  // namespace

Status Bootstrap(ServerState& state) {
  for (const ResourceRef& row : state.table.rows()) {
    state.store.SetSelectableFields(row->FullName(), row->selectable_fields);
  }
  std::vector<json> definitions;
  state.store.SetSelectableFields(kDefinitions, {kDeletionPath});
  state.store.VisitLatest(kDefinitions, "", [&](const StoredObject& object) {
    definitions.push_back(ParseStored(object));
    return true;
  });
  for (const json& definition : definitions) ServeDefinition(state, definition);
  TRY(EnsureDefinitions(state));
  EnsureNamespaces(state);
  EnsurePriorityClasses(state);
  EnsureQueues(state);
  ResumeDeletions(state);
  return {};
}

}  // namespace strata::apiserver
