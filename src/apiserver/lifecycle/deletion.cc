#include "apiserver/lifecycle/deletion.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "admission/admission.h"
#include "apiserver/lifecycle/custom_resources.h"
#include "apiserver/lifecycle/namespaces.h"
#include "apiserver/lifecycle/object_write.h"
#include "apiserver/request/call.h"
#include "json/access.h"

namespace strata::apiserver {
namespace {

using nlohmann::json;

constexpr std::int64_t kDefaultGrace = 30;
constexpr std::int64_t kLongestGrace = 1000000000;

bool IsPod(const Resource& resource) {
  return resource.kind == "Pod" && resource.group.empty();
}

// Only a pod that a kubelet may be running needs time to end.
std::int64_t GraceOf(const Resource& resource, const json& object, const DeleteOptions& options) {
  if (!IsPod(resource)) return 0;
  const std::string& phase = TextAt(object, {"status", "phase"});
  if (TextAt(object, {"spec", "nodeName"}).empty() || phase == "Succeeded" || phase == "Failed") {
    return 0;
  }
  const std::int64_t grace = options.grace_seconds.value_or(
      IntegerAt(object, {"spec", "terminationGracePeriodSeconds"}, kDefaultGrace));
  return grace < 0 ? 1 : std::min(grace, kLongestGrace);
}

void SetPropagation(Propagation propagation, json& object) {
  if (propagation == Propagation::kDefault) return;
  json& finalizers = ListIn(object["metadata"], "finalizers");
  json kept = json::array();
  for (const json& name : finalizers) {
    if (name != "foregroundDeletion" && name != "orphan") kept.push_back(name);
  }
  if (propagation == Propagation::kForeground) kept.push_back("foregroundDeletion");
  if (propagation == Propagation::kOrphan) kept.push_back("orphan");
  finalizers = std::move(kept);
  if (finalizers.empty()) object["metadata"].erase("finalizers");
}

// Marks the object as terminating. A later call can only shorten its grace period.
void Mark(const ServerState& state, const Resource& resource, std::int64_t grace, json& object) {
  json& meta = object["metadata"];
  const bool dying = FindAt(meta, {"deletionTimestamp"}) != nullptr;
  if (dying && IntegerAt(meta, {"deletionGracePeriodSeconds"}) <= grace) return;
  meta["deletionTimestamp"] = Stamp(state.now() + std::chrono::seconds(grace));
  meta["deletionGracePeriodSeconds"] = grace;
  if (!dying && resource.generation != Generation::kNone) {
    meta["generation"] = IntegerAt(meta, {"generation"}) + 1;
  }
}

bool IsNamespace(const Resource& resource) {
  return resource.kind == "Namespace" && resource.group.empty();
}

bool IsDefinition(const Resource& resource) {
  return resource.kind == "CustomResourceDefinition" && resource.group == "apiextensions.k8s.io";
}

// Removes it for good; `last` is how it was.
void Remove(ServerState& state,
            const ResourceRef& resource,
            std::int64_t expected,
            const json& last,
            DeleteDone done) {
  RemoveObject(state,
               resource,
               expected,
               last,
               [done = std::move(done), last](const ApiResult<ObjectRef>& removed) {
                 if (!removed) return done(tl::unexpected(removed.error()));
                 done(Deleted{.object = last, .gone = true});
               });
}

// Writes the mark; the object waits.
void Wait(ServerState& state,
          const ResourceRef& resource,
          std::int64_t expected,
          json marked,
          DeleteDone done) {
  WriteObject(state,
              resource,
              expected,
              std::move(marked),
              [done = std::move(done)](const ApiResult<ObjectRef>& stored) {
                if (!stored) return done(tl::unexpected(stored.error()));
                done(Deleted{.object = ParseStored(**stored), .gone = false});
              });
}

// The end of a pod is two writes: kubelets and schedulers see it marked, then gone.
void RemovePod(ServerState& state,
               const ResourceRef& resource,
               const StoredObject& live,
               json marked,
               DeleteDone done) {
  WriteObject(state, resource, live.version, marked, [](const ApiResult<ObjectRef>&) {});
  const ObjectRef latest = state.store.GetLatest(KeyOf(*resource, live.ns, live.name));
  if (latest == nullptr) {
    return done(tl::unexpected(InternalError("the pod was removed while it was deleted")));
  }
  marked["metadata"]["resourceVersion"] = fmt::format("{}", latest->version);
  Remove(state, resource, latest->version, marked, std::move(done));
}

}  // namespace

ApiResult<void> CheckDeletePreconditions(const Resource& resource,
                                         const StoredObject& live,
                                         const DeleteOptions& options) {
  const auto failed = [&](std::string why) {
    ApiError error = Conflict(resource, live.name, "");
    error.kind = resource.kind;
    error.message = fmt::format(
        "Operation cannot be fulfilled on {} \"{}\": {}", resource.kind, live.name, why);
    return tl::unexpected(std::move(error));
  };
  if (!options.uid.empty() && options.uid != live.uid) {
    return failed(
        fmt::format("the UID in the precondition ({}) does not match the UID in record "
                    "({}). The object might have been deleted and then recreated",
                    options.uid,
                    live.uid));
  }
  const std::string version = fmt::format("{}", live.version);
  if (!options.resource_version.empty() && options.resource_version != version) {
    return failed(
        fmt::format("the ResourceVersion in the precondition ({}) does not match the "
                    "ResourceVersion in record ({}). The object might have been modified",
                    options.resource_version,
                    version));
  }
  return {};
}

void DeleteObject(ServerState& state,
                  const ResourceRef& resource,
                  const ObjectRef& live,
                  const DeleteOptions& options,
                  DeleteDone done) {
  if (auto met = CheckDeletePreconditions(*resource, *live, options); !met) {
    return done(tl::unexpected(met.error()));
  }
  json object = ParseWithKind(*resource, *live);
  if (!options.with_its_home) {
    if (auto fine = admission::AdmitDelete({*resource, state.store, state.now()}, object); !fine) {
      return done(tl::unexpected(fine.error()));
    }
  }
  const json before = object;
  SetPropagation(options.propagation, object);
  if (IsNamespace(*resource)) HoldNamespace(object);
  if (IsDefinition(*resource)) HoldDefinition(state, object);
  Mark(state, *resource, GraceOf(*resource, object, options), object);
  if (options.dry_run) {
    const bool gone = ReadyToGo(*resource, object);
    return done(Deleted{.object = std::move(object), .gone = gone});
  }
  const bool goes = ReadyToGo(*resource, object);
  if (goes && IsPod(*resource)) {
    return RemovePod(state, resource, *live, std::move(object), std::move(done));
  }
  if (goes) return Remove(state, resource, live->version, before, std::move(done));
  if (object == before) {
    state.store.WhenDurable(
        [done, resource, name = live->name, object = std::move(object)](const Status& durable) {
          if (!durable) return done(tl::unexpected(FromStore(*resource, name, durable.error())));
          done(Deleted{.object = object, .gone = false});
        });
  } else {
    Wait(state, resource, live->version, std::move(object), std::move(done));
  }
  // Also when it was terminating before: the previous attempt may have failed.
  if (IsNamespace(*resource)) EmptyNamespace(state, live->name);
  if (IsDefinition(*resource)) EmptyDefinition(state, live->name);
}

}  // namespace strata::apiserver
