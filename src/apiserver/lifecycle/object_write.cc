#include "apiserver/lifecycle/object_write.h"

#include <array>
#include <chrono>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "apiserver/lifecycle/custom_resources.h"
#include "apiserver/lifecycle/namespaces.h"
#include "base/timestamp.h"
#include "json/access.h"
#include "schema/check.h"

namespace strata::apiserver {
namespace {

using nlohmann::json;

// What lives on an object that was written or removed.
void Follow(ServerState& state, const Resource& resource, const StoredObject& object, bool gone) {
  if (resource.kind == "CustomResourceDefinition") {
    if (gone) return ForgetDefinition(state, object.name);
    ServeDefinition(state, ParseStored(object));
    return FinishDefinition(state, object.name);
  }
  if (!gone) {
    if (resource.kind == "Namespace") FinishNamespace(state, object.name);
    return;
  }
  if (!object.ns.empty()) FinishNamespace(state, object.ns);
  if (resource.custom) FinishDefinition(state, resource.FullName());
}

ObjectStore::Done Forward(
    ServerState& state, const ResourceRef& resource, std::string name, bool gone, WriteDone done) {
  return [&state, resource, name = std::move(name), gone, done = std::move(done)](
             Result<ObjectRef> written) {
    if (!written) return done(tl::unexpected(FromStore(*resource, name, written.error())));
    Follow(state, *resource, **written, gone);
    done(std::move(*written));
  };
}

ObjectKey KeyOfObject(const Resource& resource, const json& object) {
  return KeyOf(resource,
               resource.namespaced ? TextAt(object, {"metadata", "namespace"}) : "",
               TextAt(object, {"metadata", "name"}));
}

}  // namespace

std::string FieldManager(const Call& call, const WriteOptions& options) {
  if (!options.field_manager.empty()) return options.field_manager;
  const std::string_view agent = call.exchange->request().HeaderValue("User-Agent");
  const std::string_view first = agent.substr(0, agent.find('/'));
  return first.empty() ? "unknown" : std::string(first.substr(0, 128));
}

patch::Writer WriterOf(const Call& call, const WriteOptions& options) {
  return {.manager = FieldManager(call, options),
          .api_version = call.resource->ApiVersion(),
          .subresource = call.path.subresource,
          .now = call.now};
}

std::string Stamp(Time time) {
  return FormatTimestamp(std::chrono::floor<std::chrono::seconds>(time));
}

std::string NewUid(RandomSource& random) {
  std::uint64_t high = random.Next();
  std::uint64_t low = random.Next();
  high = (high & ~0xF000ULL) | 0x4000ULL;                       // version 4
  low = (low & 0x3FFFFFFFFFFFFFFFULL) | 0x8000000000000000ULL;  // variant 1
  return fmt::format("{:08x}-{:04x}-{:04x}-{:04x}-{:012x}",
                     high >> 32U,
                     (high >> 16U) & 0xFFFFU,
                     high & 0xFFFFU,
                     low >> 48U,
                     low & 0xFFFFFFFFFFFFULL);
}

ApiResult<void> ApplySchema(const Resource& resource, const json* before, json& object) {
  schema::ApplyDefaults(*resource.schema, object);
  schema::Normalize(*resource.schema, object);
  if (!resource.custom) {
    if (!object.contains("metadata")) object["metadata"] = json::object();
    return {};
  }
  std::vector<schema::Problem> problems = schema::Validate(*resource.schema, object, before);
  if (problems.empty()) return {};
  return tl::unexpected(
      Invalid(resource, TextAt(object, {"metadata", "name"}), std::move(problems)));
}

bool CountsForGeneration(const Resource& resource, const json& before, const json& after) {
  if (resource.generation == Generation::kNone) return false;
  if (resource.generation == Generation::kPod) {
    return ObjectAt(before, {"spec"}) != ObjectAt(after, {"spec"});
  }
  const auto differs = [&](const json& one, const json& other) {
    for (const auto& [key, value] : one.items()) {
      if (key == "metadata" || key == "apiVersion" || key == "kind") continue;
      if (key == "status" && resource.has_status) continue;
      const auto found = other.find(key);
      if (found == other.end() || *found != value) return true;
    }
    return false;
  };
  return differs(before, after) || differs(after, before);
}

bool ReadyToGo(const Resource& resource, const json& object) {
  if (FindAt(object, {"metadata", "deletionTimestamp"}) == nullptr) return false;
  const bool holds_content = resource.kind == "Namespace" && resource.group.empty() &&
                             !ListAt(object, {"spec", "finalizers"}).empty();
  if (holds_content) return false;
  return ListAt(object, {"metadata", "finalizers"}).empty() &&
         IntegerAt(object, {"metadata", "deletionGracePeriodSeconds"}) <= 0;
}

void WriteObject(ServerState& state,
                 const ResourceRef& resource,
                 std::int64_t expected,
                 json object,
                 WriteDone done) {
  ObjectKey key = KeyOfObject(*resource, object);
  std::string name = key.name;
  state.store.Put(key,
                  expected,
                  std::move(object),
                  Forward(state, resource, std::move(name), false, std::move(done)));
}

void RemoveObject(ServerState& state,
                  const ResourceRef& resource,
                  std::int64_t expected,
                  json last,
                  WriteDone done) {
  ObjectKey key = KeyOfObject(*resource, last);
  std::string name = key.name;
  state.store.Delete(key,
                     expected,
                     std::move(last),
                     Forward(state, resource, std::move(name), true, std::move(done)));
}

}  // namespace strata::apiserver
