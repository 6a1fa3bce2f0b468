#include "apiserver/verbs/update.h"

#include <string>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "admission/admission.h"
#include "apiserver/lifecycle/custom_resources.h"
#include "apiserver/lifecycle/object_write.h"
#include "apiserver/request/body.h"
#include "apiserver/views/answer.h"
#include "json/access.h"
#include "patch/managed_fields.h"

namespace strata::apiserver {
namespace {

using nlohmann::json;

void CopyMember(const json& from, const char* key, json& to) {
  const auto found = from.find(key);
  if (found == from.end()) {
    to.erase(key);
  } else {
    to[key] = *found;
  }
}

// Puts back what this request may not change: all but the status through /status (and for
// built-in kinds the metadata), the status otherwise.
void KeepOtherParts(const Call& call, const json& before, json& after) {
  const Resource& resource = *call.resource;
  if (call.path.subresource != "status") {
    if (resource.has_status) CopyMember(before, "status", after);
    return;
  }
  json kept = before;
  CopyMember(after, "status", kept);
  if (resource.custom) {
    CopyMember(ObjectAt(after, {"metadata"}), "managedFields", kept["metadata"]);
  } else {
    CopyMember(after, "metadata", kept);
    CopyMember(ObjectAt(before, {"metadata"}), "ownerReferences", kept["metadata"]);
  }
  after = std::move(kept);
}

void KeepSystemMetadata(const json& before, json& after) {
  json& meta = ObjectIn(after, "metadata");
  const json& old = ObjectAt(before, {"metadata"});
  for (const char* key : {"resourceVersion",
                          "generation",
                          "uid",
                          "creationTimestamp",
                          "name",
                          "namespace",
                          "deletionTimestamp",
                          "deletionGracePeriodSeconds"}) {
    const bool given = FindAt(meta, {key}) != nullptr;
    const bool ours = std::string_view(key) == "resourceVersion" ||
                      std::string_view(key) == "generation" || !given;
    if (ours) CopyMember(old, key, meta);
  }
  meta.erase("selfLink");
  if (!meta.contains("managedFields")) CopyMember(old, "managedFields", meta);
}

ApiResult<void> PrepareUpdate(ServerState& state,
                              Call& call,
                              Edition& edition,
                              const WriteOptions& options) {
  const Resource& resource = *call.resource;
  json& after = edition.after;
  const json& before = edition.before;
  KeepOtherParts(call, before, after);
  KeepSystemMetadata(before, after);
  if (!resource.namespaced) after["metadata"].erase("namespace");
  TRY_API(ApplySchema(resource, &before, after));
  TRY_API(admission::AdmitUpdate(
      {resource, state.store, call.now}, before, after, call.path.subresource));
  if (resource.kind == "CustomResourceDefinition") {
    TRY_API(PrepareDefinition(state, &before, after));
  }
  if (CountsForGeneration(resource, before, after)) {
    after["metadata"]["generation"] = IntegerAt(before, {"metadata", "generation"}) + 1;
  }
  if (edition.managed == ManagedFields::kRecord) {
    patch::RecordUpdate(*resource.schema, &before, after, WriterOf(call, options));
  }
  return {};
}

// The version and uid that a PUT was made from are preconditions.
ApiResult<void> CheckPreconditions(const Call& call, const StoredObject& live, const json& object) {
  const Resource& resource = *call.resource;
  const std::string& version = TextAt(object, {"metadata", "resourceVersion"});
  if (version.empty() && !resource.unconditional_update) {
    ApiError error = Invalid(resource,
                             live.name,
                             {{"metadata.resourceVersion",
                               "FieldValueInvalid",
                               "Invalid value: 0: must be specified for an update"}});
    error.kind = resource.plural;
    error.message = fmt::format("{} \"{}\" is invalid: metadata.resourceVersion: {}",
                                resource.FullName(),
                                live.name,
                                error.causes[0].message);
    return tl::unexpected(std::move(error));
  }
  const std::string& uid = TextAt(object, {"metadata", "uid"});
  if (!uid.empty() && uid != live.uid) {
    return tl::unexpected(
        Conflict(resource,
                 live.name,
                 fmt::format("Precondition failed: UID in precondition: {}, UID in object meta: {}",
                             uid,
                             live.uid)));
  }
  if (!version.empty() && version != fmt::format("{}", live.version)) {
    return tl::unexpected(Conflict(resource, live.name, StaleVersion()));
  }
  return {};
}

void AnswerUnchanged(ServerState& state, const CallRef& call, const ObjectRef& live) {
  state.store.WhenDurable([call, live](Status durable) {
    if (!durable) {
      return AnswerError(*call, FromStore(*call->resource, live->name, durable.error()));
    }
    AnswerStored(*call, 200, *live);
  });
}

}  // namespace

ApiResult<void> PutNames(const Call& call, json& object) {
  json& meta = ObjectIn(object, "metadata");
  const std::string& name = TextAt(meta, {"name"});
  if (name.empty()) {
    meta["name"] = call.path.name;
  } else if (name != call.path.name) {
    return tl::unexpected(BadRequest(
        fmt::format("the name of the object ({}) does not match the name on the URL ({})",
                    name,
                    call.path.name)));
  }
  const std::string& ns = TextAt(meta, {"namespace"});
  if (call.resource->namespaced && !ns.empty() && ns != call.path.ns) {
    return tl::unexpected(BadRequest(
        "the namespace of the provided object does not match the namespace sent on the request"));
  }
  if (call.resource->namespaced) meta["namespace"] = call.path.ns;
  return {};
}

void UpdateObject(ServerState& state,
                  const CallRef& call,
                  Edition edition,
                  const WriteOptions& options) {
  if (auto ready = PrepareUpdate(state, *call, edition, options); !ready) {
    return AnswerError(*call, ready.error());
  }
  if (edition.after == edition.before) return AnswerUnchanged(state, call, edition.live);
  if (options.dry_run) return AnswerObject(*call, 200, edition.after);
  const std::int64_t expected = edition.live->version;
  if (ReadyToGo(*call->resource, edition.after)) {
    // The answer shows the object at its old version, as in Kubernetes.
    json shown = edition.after;
    return RemoveObject(state,
                        call->resource,
                        expected,
                        std::move(edition.after),
                        [call, shown = std::move(shown)](const ApiResult<ObjectRef>& gone) {
                          if (!gone) return AnswerError(*call, gone.error());
                          AnswerObject(*call, 200, shown);
                        });
  }
  WriteObject(state,
              call->resource,
              expected,
              std::move(edition.after),
              [call](ApiResult<ObjectRef> written) {
                if (!written) return AnswerError(*call, written.error());
                AnswerStored(*call, 200, **written);
              });
}

void HandleUpdate(ServerState& state, const CallRef& call) {
  const ApiResult<WriteOptions> options = ReadWriteOptions(call->query, "UpdateOptions");
  if (!options) return AnswerError(*call, options.error());
  ApiResult<json> object = ReadObject(*call, options->field_validation);
  if (!object) return AnswerError(*call, object.error());
  if (auto named = PutNames(*call, *object); !named) return AnswerError(*call, named.error());

  const Resource& resource = *call->resource;
  ObjectRef live = state.store.GetLatest(KeyOf(resource, call->path.ns, call->path.name));
  if (live == nullptr) {
    if (!resource.create_on_update || !call->path.subresource.empty()) {
      return AnswerError(*call, NotFound(resource, call->path.name));
    }
    return CreateObject(state, call, std::move(*object), *options, ManagedFields::kRecord);
  }
  if (auto met = CheckPreconditions(*call, *live, *object); !met) {
    return AnswerError(*call, met.error());
  }
  json before = ParseWithKind(resource, *live);
  UpdateObject(state, call, {std::move(live), std::move(before), std::move(*object)}, *options);
}

}  // namespace strata::apiserver
