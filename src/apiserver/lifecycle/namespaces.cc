#include "apiserver/lifecycle/namespaces.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "apiserver/lifecycle/deletion.h"
#include "apiserver/lifecycle/object_write.h"
#include "apiserver/lifecycle/retry.h"
#include "json/access.h"

namespace strata::apiserver {
namespace {

using nlohmann::json;

std::vector<ObjectKey> ContentsOf(const ServerState& state,
                                  const Resource& resource,
                                  const std::string& ns) {
  std::vector<ObjectKey> keys;
  state.store.VisitLatest(resource.FullName(), ns, [&](const StoredObject& object) {
    keys.push_back(KeyOf(resource, object.ns, object.name));
    return true;
  });
  return keys;
}

bool HoldsAnything(const ServerState& state, const std::string& ns) {
  bool found = false;
  for (const ResourceRef& resource : state.table.rows()) {
    if (!resource->namespaced || resource->read_only || found) continue;
    state.store.VisitLatest(resource->FullName(), ns, [&](const StoredObject&) {
      found = true;
      return false;
    });
  }
  return found;
}

}  // namespace

bool IsTerminatingNamespace(const StoredObject& ns) {
  return std::any_of(ns.fields.begin(), ns.fields.end(), [](const auto& field) {
    return field.first == "status.phase" && field.second == "Terminating";
  });
}

void HoldNamespace(json& object) {
  ObjectIn(object, "status")["phase"] = "Terminating";
}

void EmptyNamespace(ServerState& state, const std::string& ns) {
  const ResourceRef namespaces = state.table.Find("", "v1", "namespaces");
  const ObjectRef dying = state.store.GetLatest(KeyOf(*namespaces, "", ns));
  if (dying == nullptr || !IsTerminatingNamespace(*dying)) return;
  const RetryRef retry = RetryInASecond(state, [&state, ns] { EmptyNamespace(state, ns); });
  const std::vector<ResourceRef> rows = state.table.rows();  // a definition may go meanwhile
  for (const ResourceRef& resource : rows) {
    if (!resource->namespaced || resource->read_only) continue;
    for (const ObjectKey& key : ContentsOf(state, *resource, ns)) {
      if (const ObjectRef live = state.store.GetLatest(key)) {
        DeleteObject(
            state, resource, live, WithItsHome(), [retry](const ApiResult<Deleted>& deleted) {
              if (!deleted && deleted.error().code >= 500) retry->Ask();
            });
      }
    }
  }
  FinishNamespace(state, ns);
}

void FinishNamespace(ServerState& state, const std::string& ns) {
  const ResourceRef resource = state.table.Find("", "v1", "namespaces");
  const ObjectRef live = state.store.GetLatest(KeyOf(*resource, "", ns));
  if (live == nullptr || !IsTerminatingNamespace(*live) || HoldsAnything(state, ns)) return;
  json object = ParseWithKind(*resource, *live);
  ObjectIn(object, "spec").erase("finalizers");
  if (!ReadyToGo(*resource, object)) return;  // finalizers of others
  RemoveObject(state,
               resource,
               live->version,
               std::move(object),
               [retry = RetryInASecond(state, [&state, ns] { FinishNamespace(state, ns); })](
                   const ApiResult<ObjectRef>& removed) {
                 if (!removed && removed.error().code >= 500) retry->Ask();
               });
}

}  // namespace strata::apiserver
