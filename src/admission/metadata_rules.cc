#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "admission/kind_rules.h"
#include "admission/name_rules.h"
#include "base/ascii.h"
#include "json/access.h"
#include "json/dump.h"

namespace strata::admission {
namespace {

using nlohmann::json;

constexpr std::int64_t kMaxAnnotations = 256 << 10;

void CheckName(const ResourceInfo& resource, const json& object, Problems& problems) {
  const std::string& name = TextAt(object, {"metadata", "name"});
  if (name.empty()) {
    return problems.Required("metadata.name", "name or generateName is required");
  }
  std::string error;
  if (resource.group.empty() && resource.kind == "Namespace") {
    error = DnsLabelError(name);
  } else if (resource.group.empty() && resource.kind == "Service") {
    error = Dns1035LabelError(name);
  } else {
    error = DnsSubdomainError(name);
  }
  if (!error.empty()) problems.Invalid("metadata.name", name, error);
}

// A custom kind takes any qualified name; a built-in one wants a domain or one of its own names.
void CheckFinalizers(const ResourceInfo& resource, const json& finalizers, Problems& problems) {
  std::size_t index = 0;
  std::size_t propagation = 0;
  for (const json& item : finalizers) {
    const std::string field = fmt::format("metadata.finalizers[{}]", index++);
    const std::string name = item.is_string() ? item.get<std::string>() : "";
    const bool standard = name == "kubernetes" || name == "orphan" || name == "foregroundDeletion";
    propagation += name == "orphan" || name == "foregroundDeletion" ? 1U : 0U;
    const std::string error = QualifiedNameError(name);
    if (!error.empty()) {
      problems.Invalid(field, name, error);
    } else if (!resource.custom && !standard && name.find('/') == std::string::npos) {
      problems.Invalid(
          field, name, "name is neither a standard finalizer name nor is it fully qualified");
    }
  }
  if (propagation > 1) {
    problems.Invalid("metadata.finalizers",
                     finalizers,
                     "finalizer orphan and foregroundDeletion cannot be both set");
  }
}

void CheckOwners(const json& owners, Problems& problems) {
  std::size_t index = 0;
  std::string controller;
  bool told = false;
  for (const json& owner : owners) {
    const std::string field = fmt::format("metadata.ownerReferences[{}]", index++);
    for (const std::string_view part : {"apiVersion", "kind", "name", "uid"}) {
      if (!TextAt(owner, {part}).empty()) continue;
      const std::string_view what = part == "apiVersion" ? "version" : part;
      problems.Invalid(
          fmt::format("{}.{}", field, part), "", fmt::format("{} must not be empty", what));
    }
    if (!BoolAt(owner, {"controller"})) continue;
    // The message holds the whole list: once is enough.
    if (!controller.empty() && !std::exchange(told, true)) {
      problems.Invalid("metadata.ownerReferences",
                       owners,
                       fmt::format("Only one reference can have Controller set to true. Found "
                                   "\"true\" in references for {} and {}",
                                   controller,
                                   TextAt(owner, {"kind"})));
    }
    controller = TextAt(owner, {"kind"});
  }
}

void CheckBoth(const ResourceInfo& resource, const json& object, Problems& problems) {
  CheckLabels(ObjectAt(object, {"metadata", "labels"}), "metadata.labels", problems);
  CheckAnnotations(ObjectAt(object, {"metadata", "annotations"}), problems);
  CheckFinalizers(resource, ListAt(object, {"metadata", "finalizers"}), problems);
  CheckOwners(ListAt(object, {"metadata", "ownerReferences"}), problems);
}

// A terminating object accepts no new finalizers: their authors could not rely on them.
void CheckNewFinalizers(const Edit& edit, Problems& problems) {
  if (FindAt(edit.before, {"metadata", "deletionTimestamp"}) == nullptr) return;
  const json& old = ListAt(edit.before, {"metadata", "finalizers"});
  const std::set<json> before(old.begin(), old.end());
  std::string added;
  for (const json& name : ListAt(edit.after, {"metadata", "finalizers"})) {
    if (before.contains(name)) continue;
    added += (added.empty() ? "" : ", ") + DumpJson(name);
  }
  if (added.empty()) return;
  problems.Forbidden("metadata.finalizers",
                     fmt::format("no new finalizers can be added if the object is being deleted, "
                                 "found new finalizers []string{{{}}}",
                                 added));
}

}  // namespace

void CheckAnnotations(const json& annotations, Problems& problems) {
  std::int64_t total = 0;
  for (const auto& [key, value] : annotations.items()) {
    const std::string error = QualifiedNameError(LowerCase(key));
    if (!error.empty()) problems.Invalid("metadata.annotations", key, error);
    total += static_cast<std::int64_t>(key.size());
    if (value.is_string()) {
      total += static_cast<std::int64_t>(value.get_ref<const std::string&>().size());
    }
  }
  if (total > kMaxAnnotations) problems.TooLong("metadata.annotations", kMaxAnnotations);
}

void CheckLabels(const json& labels, const std::string& field, Problems& problems) {
  for (const auto& [key, value] : labels.items()) {
    if (const std::string error = QualifiedNameError(key); !error.empty()) {
      problems.Invalid(field, key, error);
    }
    const std::string text = value.is_string() ? value.get<std::string>() : "";
    if (const std::string error = LabelValueError(text); !error.empty()) {
      problems.Invalid(field, text, error);
    }
  }
}

void CheckNewMetadata(const ResourceInfo& resource, const json& object, Problems& problems) {
  CheckName(resource, object, problems);
  CheckBoth(resource, object, problems);
}

void CheckChangedMetadata(const ResourceInfo& resource, const Edit& edit, Problems& problems) {
  json& meta = ObjectIn(edit.after, "metadata");
  for (const std::string_view key : {"name",
                                     "namespace",
                                     "uid",
                                     "creationTimestamp",
                                     "deletionTimestamp",
                                     "deletionGracePeriodSeconds"}) {
    const json* before = FindAt(edit.before, {"metadata", key});
    const json* after = FindAt(edit.after, {"metadata", key});
    if (after == nullptr) {
      // Leaving a field of the server's out means to keep it.
      if (before != nullptr) meta[std::string(key)] = *before;
    } else if (before == nullptr || *before != *after) {
      problems.Immutable(fmt::format("metadata.{}", key), *after);
    }
  }
  CheckNewFinalizers(edit, problems);
  CheckBoth(resource, edit.after, problems);
}

}  // namespace strata::admission
