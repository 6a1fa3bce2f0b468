#include "controllers/plan.h"

#include <utility>

#include <nlohmann/json.hpp>

#include "controllers/object_meta.h"
#include "json/access.h"
#include "json/dump.h"

namespace strata::controllers {
namespace {

using nlohmann::json;

Write WriteTo(Write::Verb verb, const kube::Resource& resource, const json& object) {
  Write write;
  write.verb = verb;
  write.resource = resource;
  write.ns = TextAt(object, {"metadata", "namespace"});
  write.name = TextAt(object, {"metadata", "name"});
  return write;
}

}  // namespace

void AddStep(Plan& plan, std::vector<Write> writes) {
  if (!writes.empty()) plan.steps.push_back(std::move(writes));
}

Write CreateOf(const kube::Resource& resource, const json& object, const std::string& owner_uid) {
  Write write = WriteTo(Write::Verb::kCreate, resource, object);
  write.body = DumpJson(object);
  write.uid = owner_uid;
  return write;
}

Write DeleteOf(const kube::Resource& resource, const json& seen) {
  Write write = WriteTo(Write::Verb::kDelete, resource, seen);
  write.uid = TextAt(seen, {"metadata", "uid"});
  return write;
}

Write PatchOf(const kube::Resource& resource, const json& seen, const json& patch) {
  Write write = WriteTo(Write::Verb::kPatch, resource, seen);
  write.body = DumpJson(patch);
  return write;
}

json MergePatchTo(const json& value, const json* old) {
  if (old == nullptr || !old->is_object() || !value.is_object()) return value;
  json patch = value;
  for (const auto& [key, member] : old->items()) {
    if (!value.contains(key)) patch[key] = nullptr;
  }
  return patch;
}

Write DeleteOf(const PodSeen& pod) {
  Write write;
  write.verb = Write::Verb::kDelete;
  write.resource = kube::kPods;
  write.ns = pod.key.ns;
  write.name = pod.key.name;
  write.uid = pod.uid;
  return write;
}

Write MarkOf(const PodSeen& pod) {
  Write write = DeleteOf(pod);
  write.verb = Write::Verb::kPatch;
  write.body = DumpJson(
      {{"metadata", {{"uid", pod.uid}, {"annotations", {{std::string(kOutOfSyncKey), "true"}}}}}});
  return write;
}

Write StatusOf(const kube::Resource& resource, const json& seen, const json& status) {
  Write write = WriteTo(Write::Verb::kReplace, resource, seen);
  write.subresource = "status";
  json object = seen;
  object["status"] = status;
  write.body = DumpJson(object);
  return write;
}

kube::ObjectReference ReferenceTo(const kube::Resource& resource, const json& seen) {
  return {.kind = std::string(resource.kind),
          .api_version = kube::ApiVersion(resource),
          .ns = TextAt(seen, {"metadata", "namespace"}),
          .name = TextAt(seen, {"metadata", "name"}),
          .uid = TextAt(seen, {"metadata", "uid"}),
          .version = TextAt(seen, {"metadata", "resourceVersion"})};
}

}  // namespace strata::controllers
