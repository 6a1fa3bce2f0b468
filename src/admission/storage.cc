#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "admission/kind_rules.h"
#include "admission/object_reading.h"
#include "json/access.h"

namespace strata::admission {
namespace {

using nlohmann::json;

void CheckModes(const json& spec, Problems& problems) {
  if (ListAt(spec, {"accessModes"}).empty()) {
    problems.Required("spec.accessModes", "at least 1 access mode is required");
  }
}

}  // namespace

ApiResult<void> CreateVolume(const AdmissionContext& /*context*/,
                             json& object,
                             Problems& problems) {
  json& spec = ObjectIn(object, "spec");
  object["status"] = {{"phase", "Available"}};
  if (ObjectAt(spec, {"capacity"}).empty()) problems.Required("spec.capacity");
  CheckModes(spec, problems);
  CheckByReader<objects::PersistentVolume>(object, problems);
  return {};
}

ApiResult<void> UpdateVolume(const AdmissionContext& /*context*/,
                             const Edit& edit,
                             Problems& problems) {
  json& spec = ObjectIn(edit.after, "spec");
  if (TextAt(edit.before, {"spec", "volumeMode"}) != TextAt(spec, {"volumeMode"})) {
    problems.Immutable("spec.volumeMode", spec["volumeMode"]);
  }
  CheckModes(spec, problems);
  CheckByReader<objects::PersistentVolume>(edit.after, problems);
  return {};
}

ApiResult<void> CreateClaim(const AdmissionContext& /*context*/, json& object, Problems& problems) {
  json& spec = ObjectIn(object, "spec");
  object["status"] = {{"phase", "Pending"}};
  CheckModes(spec, problems);
  if (FindAt(spec, {"resources", "requests", "storage"}) == nullptr) {
    problems.Required("spec.resources[storage]");
  }
  CheckByReader<objects::PersistentVolumeClaim>(object, problems);
  return {};
}

ApiResult<void> UpdateClaim(const AdmissionContext& /*context*/,
                            const Edit& edit,
                            Problems& problems) {
  json& spec = ObjectIn(edit.after, "spec");
  json mixed = spec;
  const json& before = ObjectAt(edit.before, {"spec"});
  // These may be filled in once, when the claim is bound; and it may ask for more.
  for (const std::string_view key : {"volumeName", "storageClassName"}) {
    if (TextAt(before, {key}).empty()) mixed.erase(std::string(key));
  }
  mixed["resources"] = ObjectAt(before, {"resources"});
  json old = before;
  for (const std::string_view key : {"volumeName", "storageClassName"}) {
    if (TextAt(old, {key}).empty()) old.erase(std::string(key));
  }
  old["resources"] = mixed["resources"];
  if (mixed != old) {
    problems.Forbidden("spec",
                       "spec is immutable after creation except resources.requests and "
                       "volumeAttributesClassName for bound claims");
  }
  CheckByReader<objects::PersistentVolumeClaim>(edit.after, problems);
  return {};
}

ApiResult<void> CreateStorageClass(const AdmissionContext& /*context*/,
                                   json& object,
                                   Problems& problems) {
  if (TextAt(object, {"provisioner"}).empty()) {
    problems.Required("provisioner");
  } else {
    CheckByReader<objects::StorageClass>(object, problems);
  }
  return {};
}

ApiResult<void> UpdateStorageClass(const AdmissionContext& /*context*/,
                                   const Edit& edit,
                                   Problems& problems) {
  for (const std::string_view key : {"parameters", "provisioner", "reclaimPolicy"}) {
    const json* before = FindAt(edit.before, {key});
    const json* after = FindAt(std::as_const(edit.after), {key});
    const bool same = before == nullptr || after == nullptr ? before == after : *before == *after;
    if (same) continue;
    problems.Forbidden(std::string(key), fmt::format("updates to {} are forbidden.", key));
  }
  if (TextAt(edit.before, {"volumeBindingMode"}) != TextAt(edit.after, {"volumeBindingMode"})) {
    problems.Immutable("volumeBindingMode", edit.after["volumeBindingMode"]);
  }
  CheckByReader<objects::StorageClass>(edit.after, problems);
  return {};
}

}  // namespace strata::admission
