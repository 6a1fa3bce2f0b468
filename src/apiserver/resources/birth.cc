#include "apiserver/resources/birth.h"

#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "apiserver/request/body.h"
#include "apiserver/request/json_view.h"
#include "apiserver/resources/custom_resources.h"
#include "apiserver/resources/namespaces.h"
#include "apiserver/verbs/object_write.h"
#include "schema/catalog.h"

namespace strata::apiserver {
namespace {

using nlohmann::json;

constexpr const char* kDefinitions = "customresourcedefinitions.apiextensions.k8s.io";
constexpr const char* kNamespaces[] = {
    "default", "kube-system", "kube-public", "kube-node-lease", "volcano-system"};

void SetBirthMeta(ServerState& state, const Resource& resource, json& object) {
  json& meta = ObjectIn(object, "metadata");
  meta["uid"] = NewUid(state.random);
  meta["creationTimestamp"] = Stamp(state.now());
  if (resource.generation != Generation::kNone) meta["generation"] = 1;
}

// Writes `object` unless there is one of its name.
void Bear(ServerState& state, const ResourceRef& resource, json object) {
  if (resource == nullptr) return;
  const std::string& name = TextAt(object, {"metadata", "name"});
  if (state.store.GetLatest(KeyOf(*resource, "", name)) != nullptr) return;
  SetBirthMeta(state, *resource, object);
  WriteObject(state, resource, 0, std::move(object), [](const ApiResult<ObjectRef>&) {});
}

void BearNamespaces(ServerState& state) {
  const ResourceRef resource = state.table.Find("", "v1", "namespaces");
  for (const char* name : kNamespaces) {
    Bear(state,
         resource,
         {{"metadata", {{"name", name}, {"labels", {{"kubernetes.io/metadata.name", name}}}}},
          {"spec", {{"finalizers", {"kubernetes"}}}},
          {"status", {{"phase", "Active"}}}});
  }
}

void BearPriorityClasses(ServerState& state) {
  const ResourceRef resource = state.table.Find("scheduling.k8s.io", "v1", "priorityclasses");
  const auto bear = [&](const char* name, std::int64_t value, const char* description) {
    Bear(state,
         resource,
         {{"metadata", {{"name", name}}},
          {"value", value},
          {"description", description},
          {"preemptionPolicy", "PreemptLowerPriority"}});
  };
  bear("system-cluster-critical",
       2000000000,
       "Used for system critical pods that must run in the cluster, but can be moved to another "
       "node if necessary.");
  bear("system-node-critical",
       2000001000,
       "Used for system critical pods that must not be moved from their current node.");
}

void BearQueues(ServerState& state) {
  const ResourceRef resource = state.table.Find("scheduling.volcano.sh", "v1beta1", "queues");
  if (resource == nullptr) return;
  for (const char* name : {"root", "default"}) {
    json spec = {{"reclaimable", std::string_view(name) == "default"}, {"weight", 1}};
    if (std::string_view(name) == "default") spec["parent"] = "root";
    json queue = {
        {"metadata", {{"name", name}}}, {"spec", std::move(spec)}, {"status", {{"state", "Open"}}}};
    Bear(state, resource, std::move(queue));
  }
}

Status BearDefinition(ServerState& state, const ResourceRef& resource, json object) {
  const std::string name = TextAt(object, {"metadata", "name"});
  if (state.store.GetLatest(KeyOf(*resource, "", name)) != nullptr) return {};
  object.erase("apiVersion");
  object.erase("kind");
  if (auto fine = PrepareDefinition(state, nullptr, object); !fine) {
    return Fail(Code::kInternal, fine.error().message);
  }
  SetBirthMeta(state, *resource, object);
  ServeDefinition(state, object);
  WriteObject(state, resource, 0, std::move(object), [](const ApiResult<ObjectRef>&) {});
  return {};
}

Status BearDefinitions(ServerState& state) {
  const ResourceRef resource =
      state.table.Find("apiextensions.k8s.io", "v1", "customresourcedefinitions");
  for (const std::string_view text : schema::OwnDefinitions()) {
    TRY_ASSIGN(json object, ParseYaml(text));
    TRY(BearDefinition(state, resource, std::move(object)));
  }
  return {};
}

// What a server that ended in the middle of a deletion had begun.
void ResumeDeletions(ServerState& state) {
  std::vector<std::string> dying;
  state.store.VisitLatest("namespaces", "", [&](const StoredObject& object) {
    if (IsTerminating(object)) dying.push_back(object.name);
    return true;
  });
  for (const std::string& name : dying) EmptyNamespace(state, name);
  dying.clear();
  state.store.VisitLatest(kDefinitions, "", [&](const StoredObject& object) {
    if (IsDying(object)) dying.push_back(object.name);
    return true;
  });
  for (const std::string& name : dying) EmptyDefinition(state, name);
}

}  // namespace

Status Begin(ServerState& state) {
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
  TRY(BearDefinitions(state));
  BearNamespaces(state);
  BearPriorityClasses(state);
  BearQueues(state);
  ResumeDeletions(state);
  return {};
}

}  // namespace strata::apiserver
