#include <string>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "admission/kind_rules.h"
#include "admission/name_rules.h"
#include "apiserver/lifecycle/object_write.h"
#include "apiserver/request/body.h"
#include "apiserver/request/query_options.h"
#include "apiserver/verbs/subresources.h"
#include "json/access.h"
#include "json/dump.h"

namespace strata::apiserver {
namespace {

using nlohmann::json;

ApiError BindingConflict(const std::string& pod, std::string_view why) {
  ApiError error;
  error.code = 409;
  error.reason = "Conflict";
  error.name = pod;
  error.kind = "pods/binding";
  error.message = fmt::format("Operation cannot be fulfilled on pods/binding \"{}\": {}", pod, why);
  return error;
}

ApiError BadTarget(std::string message) {
  ApiError error;
  error.code = 422;
  error.reason = "Invalid";
  error.message = std::move(message);
  return error;
}

ApiResult<void> CheckBinding(const Call& call, const json& binding) {
  const std::string& name = TextAt(binding, {"metadata", "name"});
  if (!name.empty() && name != call.path.name) {
    return tl::unexpected(BadRequest(
        fmt::format("the name of the object ({}) does not match the name on the URL ({})",
                    name,
                    call.path.name)));
  }
  const std::string& kind = TextAt(binding, {"target", "kind"});
  if (!kind.empty() && kind != "Node") {
    return tl::unexpected(BadTarget(
        fmt::format("target.kind: Unsupported value: {}: supported values: \"Node\", \"<empty>\"",
                    DumpJson(kind))));
  }
  const std::string& node = TextAt(binding, {"target", "name"});
  if (node.empty()) return tl::unexpected(BadTarget("target.name: Required value"));
  if (const std::string wrong = admission::DnsSubdomainError(node); !wrong.empty()) {
    return tl::unexpected(
        BadTarget(fmt::format("target.name: Invalid value: {}: {}", DumpJson(node), wrong)));
  }
  return {};
}

ApiResult<void> CheckPod(const json& binding, const StoredObject& live, const json& pod) {
  const std::string& uid = TextAt(binding, {"metadata", "uid"});
  if (!uid.empty() && uid != live.uid) {
    return tl::unexpected(BindingConflict(
        live.name,
        fmt::format("Precondition failed: UID in precondition: {}, UID in object meta: "
                    "{}",
                    uid,
                    live.uid)));
  }
  const std::string& version = TextAt(binding, {"metadata", "resourceVersion"});
  if (!version.empty() && version != fmt::format("{}", live.version)) {
    return tl::unexpected(BindingConflict(
        live.name,
        fmt::format("Precondition failed: ResourceVersion in precondition: {}, ResourceVersion in "
                    "object meta: {}",
                    version,
                    live.version)));
  }
  if (FindAt(pod, {"metadata", "deletionTimestamp"}) != nullptr) {
    return tl::unexpected(BindingConflict(
        live.name,
        fmt::format("pod {} is being deleted, cannot be assigned to a host", live.name)));
  }
  const std::string& node = TextAt(pod, {"spec", "nodeName"});
  if (!node.empty()) {
    return tl::unexpected(BindingConflict(
        live.name, fmt::format("pod {} is already assigned to node \"{}\"", live.name, node)));
  }
  if (!ListAt(pod, {"spec", "schedulingGates"}).empty()) {
    return tl::unexpected(BindingConflict(
        live.name, fmt::format("pod {} has non-empty .spec.schedulingGates", live.name)));
  }
  return {};
}

// What the binding's labels and annotations made of the pod's.
ApiResult<void> CheckBound(const Resource& resource, const json& pod) {
  admission::Problems problems;
  admission::CheckLabels(ObjectAt(pod, {"metadata", "labels"}), "metadata.labels", problems);
  admission::CheckAnnotations(ObjectAt(pod, {"metadata", "annotations"}), problems);
  if (problems.empty()) return {};
  return tl::unexpected(Invalid(resource, TextAt(pod, {"metadata", "name"}), problems.Take()));
}

void SetScheduled(const Call& call, json& pod) {
  json& conditions = ListIn(ObjectIn(pod, "status"), "conditions");
  json scheduled = {{"type", "PodScheduled"},
                    {"status", "True"},
                    {"lastProbeTime", nullptr},
                    {"lastTransitionTime", Stamp(call.now)}};
  if (const json* generation = FindAt(pod, {"metadata", "generation"})) {
    scheduled["observedGeneration"] = *generation;
  }
  for (json& condition : conditions) {
    if (TextAt(condition, {"type"}) != "PodScheduled") continue;
    if (TextAt(condition, {"status"}) == "True") {
      scheduled["lastTransitionTime"] = condition.value("lastTransitionTime", json());
    }
    condition = std::move(scheduled);
    return;
  }
  conditions.push_back(std::move(scheduled));
}

void Bind(const Call& call, const json& binding, json& pod) {
  ObjectIn(pod, "spec")["nodeName"] = TextAt(binding, {"target", "name"});
  for (const char* key : {"annotations", "labels"}) {
    const json& given = ObjectAt(binding, {"metadata", key});
    if (given.empty()) continue;
    json& own = ObjectIn(pod["metadata"], key);
    for (const auto& [name, value] : given.items()) {
      if (value.is_string()) own[name] = value;
    }
  }
  SetScheduled(call, pod);
}

}  // namespace

void HandleBinding(ServerState& state, const CallRef& call) {
  const ApiResult<WriteOptions> options = ReadWriteOptions(call->query, "CreateOptions");
  if (!options) return AnswerError(*call, options.error());
  const ApiResult<json> binding = ReadOther(*call, "Binding");
  if (!binding) return AnswerError(*call, binding.error());
  if (auto fine = CheckBinding(*call, *binding); !fine) return AnswerError(*call, fine.error());

  const ObjectRef live =
      state.store.GetLatest(KeyOf(*call->resource, call->path.ns, call->path.name));
  if (live == nullptr) return AnswerError(*call, NotFound(*call->resource, call->path.name));
  json pod = ParseWithKind(*call->resource, *live);
  if (auto fine = CheckPod(*binding, *live, pod); !fine) return AnswerError(*call, fine.error());
  const json before = pod;
  Bind(*call, *binding, pod);
  if (auto fine = CheckBound(*call->resource, pod); !fine) return AnswerError(*call, fine.error());
  patch::RecordUpdate(*call->resource->schema, &before, pod, WriterOf(*call, *options));
  if (options->dry_run) return AnswerCreated(*call);
  WriteObject(state,
              call->resource,
              live->version,
              std::move(pod),
              [call](const ApiResult<ObjectRef>& written) {
                if (!written) return AnswerError(*call, written.error());
                AnswerCreated(*call);
              });
}

}  // namespace strata::apiserver
