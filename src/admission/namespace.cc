#include <string>

#include <nlohmann/json.hpp>

#include "admission/kind_rules.h"
#include "json/access.h"

namespace strata::admission {
namespace {

using nlohmann::json;

constexpr const char* kNameLabel = "kubernetes.io/metadata.name";

void SetNameLabel(json& object) {
  json& meta = ObjectIn(object, "metadata");
  ObjectIn(meta, "labels")[kNameLabel] = TextAt(object, {"metadata", "name"});
}

}  // namespace

ApiResult<void> CreateNamespace(const AdmissionContext& /*context*/,
                                json& object,
                                Problems& /*problems*/) {
  SetNameLabel(object);
  json& finalizers = ListIn(ObjectIn(object, "spec"), "finalizers");
  if (finalizers.empty()) finalizers.push_back("kubernetes");
  object["status"] = {{"phase", "Active"}};
  return {};
}

ApiResult<void> UpdateNamespace(const AdmissionContext& /*context*/,
                                const Edit& edit,
                                Problems& /*problems*/) {
  SetNameLabel(edit.after);
  // They are changed by the finalize subresource alone.
  edit.after["spec"] = ObjectAt(edit.before, {"spec"});
  // Only the deletion removes it.
  ObjectIn(edit.after, "status")["phase"] = TextAt(edit.before, {"status", "phase"});
  return {};
}

ApiResult<void> DeleteNamespace(const AdmissionContext& context, const json& object) {
  const std::string& name = TextAt(object, {"metadata", "name"});
  if (name != "default" && name != "kube-system" && name != "kube-public") return {};
  return tl::unexpected(Forbidden(context.resource, name, "this namespace may not be deleted"));
}

ApiResult<void> CreateEvent(const AdmissionContext& /*context*/, json& object, Problems& problems) {
  const std::string& ns = TextAt(object, {"metadata", "namespace"});
  const std::string& involved = TextAt(object, {"involvedObject", "namespace"});
  // Events about cluster-scoped objects are kept in these two.
  const bool cluster = involved.empty() && (ns == "default" || ns == "kube-system");
  if (involved != ns && !cluster) {
    problems.Invalid("involvedObject.namespace", involved, "does not match event.namespace");
  }
  return {};
}

}  // namespace strata::admission
