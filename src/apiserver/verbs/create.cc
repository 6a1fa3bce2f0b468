#include "apiserver/verbs/create.h"

#include <string>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "admission/admission.h"
#include "apiserver/lifecycle/custom_resources.h"
#include "apiserver/lifecycle/namespaces.h"
#include "apiserver/lifecycle/object_write.h"
#include "apiserver/request/body.h"
#include "apiserver/views/answer.h"
#include "json/access.h"
#include "patch/managed_fields.h"

namespace strata::apiserver {
namespace {

using nlohmann::json;

constexpr std::string_view kNameLetters = "bcdfghjklmnpqrstvwxz2456789";
constexpr std::size_t kLongestBase = 58;
constexpr int kNameTries = 8;

ApiResult<void> CheckNamespace(const ServerState& state, const Call& call, const json& object) {
  const Resource& resource = *call.resource;
  if (!resource.namespaced) return {};
  const std::string& ns = call.path.ns;
  const ResourceRef namespaces = state.table.Find("", "v1", "namespaces");
  const ObjectRef found = state.store.GetLatest(KeyOf(*namespaces, "", ns));
  if (found == nullptr) return tl::unexpected(NotFound(*namespaces, ns));
  if (!IsTerminatingNamespace(*found)) return {};
  ApiError error = Forbidden(
      resource,
      TextAt(object, {"metadata", "name"}),
      fmt::format("unable to create new content in namespace {} because it is being terminated",
                  ns));
  error.causes.push_back({"metadata.namespace",
                          "NamespaceTerminating",
                          fmt::format("namespace {} is being terminated", ns)});
  return tl::unexpected(std::move(error));
}

// The namespace of the body is the one of the path, or none.
ApiResult<void> SetNamespace(const Call& call, json& object) {
  json& meta = ObjectIn(object, "metadata");
  if (!call.resource->namespaced) {
    meta.erase("namespace");
    return {};
  }
  const std::string& given = TextAt(meta, {"namespace"});
  if (!given.empty() && given != call.path.ns) {
    return tl::unexpected(BadRequest(
        "the namespace of the provided object does not match the namespace sent on the request"));
  }
  meta["namespace"] = call.path.ns;
  return {};
}

void GenerateName(ServerState& state, const Call& call, json& meta) {
  const std::string base = TextAt(meta, {"generateName"}).substr(0, kLongestBase);
  for (int i = 0; i < kNameTries; ++i) {
    std::string name = base;
    for (int letter = 0; letter < 5; ++letter) {
      name += kNameLetters[state.random.Next() % kNameLetters.size()];
    }
    meta["name"] = name;
    if (state.store.GetLatest(KeyOf(*call.resource, call.path.ns, name)) == nullptr) return;
  }
}

void SetSystemFields(ServerState& state, const Call& call, json& object) {
  json& meta = object["metadata"];
  for (const char* key : {"deletionTimestamp",
                          "deletionGracePeriodSeconds",
                          "selfLink",
                          "resourceVersion",
                          "generation"}) {
    meta.erase(key);
  }
  meta["uid"] = NewUid(state.random);
  meta["creationTimestamp"] = Stamp(call.now);
  if (call.resource->generation != Generation::kNone) meta["generation"] = 1;
  if (TextAt(meta, {"name"}).empty() && !TextAt(meta, {"generateName"}).empty()) {
    GenerateName(state, call, meta);
  }
}

// The creator of an object does not own its initial status: that belongs to the client that will
// write it through /status.
void RecordCreation(const Call& call, const WriteOptions& options, json& object) {
  const auto found = call.resource->has_status ? object.find("status") : object.end();
  json status;
  if (found != object.end()) {
    status = std::move(*found);
    object.erase(found);
  }
  patch::RecordUpdate(*call.resource->schema, nullptr, object, WriterOf(call, options));
  if (!status.is_null()) object["status"] = std::move(status);
}

ApiError AlreadyThere(const Call& call, const StoredObject& live) {
  ApiError error = AlreadyExists(*call.resource, live.name);
  if (FindAt(ParseStored(live), {"metadata", "deletionTimestamp"}) != nullptr) {
    error.message = "object is being deleted: " + error.message;
  }
  return error;
}

ApiResult<void> Prepare(ServerState& state,
                        Call& call,
                        json& object,
                        const WriteOptions& options,
                        ManagedFields managed) {
  const Resource& resource = *call.resource;
  if (!TextAt(object, {"metadata", "resourceVersion"}).empty()) {
    return tl::unexpected(BadRequest("resourceVersion should not be set on objects to be created"));
  }
  TRY_API(CheckDefinition(state, resource));
  TRY_API(SetNamespace(call, object));
  SetSystemFields(state, call, object);
  if (managed == ManagedFields::kRecord) object["metadata"].erase("managedFields");
  // A Node is created together with its status.
  if (resource.has_status && resource.kind != "Node") object.erase("status");
  TRY_API(ApplySchema(resource, nullptr, object));
  TRY_API(CheckNamespace(state, call, object));
  TRY_API(admission::AdmitCreate({resource, state.store, call.now}, object));
  if (resource.kind == "CustomResourceDefinition") {
    TRY_API(PrepareDefinition(state, nullptr, object));
  }
  if (managed == ManagedFields::kRecord && state.options.records_owners) {
    RecordCreation(call, options, object);
  }
  const std::string& name = TextAt(object, {"metadata", "name"});
  if (const ObjectRef live = state.store.GetLatest(KeyOf(resource, call.path.ns, name))) {
    return tl::unexpected(AlreadyThere(call, *live));
  }
  return {};
}

}  // namespace

void CreateObject(ServerState& state,
                  const CallRef& call,
                  json object,
                  const WriteOptions& options,
                  ManagedFields managed) {
  if (auto ready = Prepare(state, *call, object, options, managed); !ready) {
    return AnswerError(*call, ready.error());
  }
  if (options.dry_run) return AnswerObject(*call, 201, object);
  WriteObject(state, call->resource, 0, std::move(object), [call](ApiResult<ObjectRef> written) {
    if (!written) return AnswerError(*call, written.error());
    AnswerStored(*call, 201, **written);
  });
}

void HandleCreate(ServerState& state, const CallRef& call) {
  const ApiResult<WriteOptions> options = ReadWriteOptions(call->query, "CreateOptions");
  if (!options) return AnswerError(*call, options.error());
  ApiResult<json> object = ReadObject(*call, options->field_validation);
  if (!object) return AnswerError(*call, object.error());
  CreateObject(state, call, std::move(*object), *options, ManagedFields::kRecord);
}

}  // namespace strata::apiserver
