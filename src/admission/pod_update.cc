#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "admission/kind_rules.h"
#include "admission/pod_rules.h"
#include "json/access.h"

namespace strata::admission {
namespace {

using nlohmann::json;

constexpr std::string_view kMayChange =
    "pod updates may not change fields other than `spec.containers[*].image`,"
    "`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only "
    "additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set "
    "to 1 if it was previously negative)";

constexpr std::size_t kMaxShown = 4096;

json WithoutSeconds(json toleration) {
  if (toleration.is_object()) toleration.erase("tolerationSeconds");
  return toleration;
}

void CheckKeptTolerations(const json& before, const json& after, Problems& problems) {
  std::set<json> kept;
  for (const json& toleration : after) kept.insert(WithoutSeconds(toleration));
  for (const json& old : before) {
    if (kept.contains(WithoutSeconds(old))) continue;
    return problems.Forbidden("spec.tolerations",
                              "existing toleration can not be modified except its "
                              "tolerationSeconds");
  }
}

void CheckDeadline(const json& before, const json& after, Problems& problems) {
  const json* old = FindAt(before, {"activeDeadlineSeconds"});
  if (old == nullptr) return;
  const json* changed = FindAt(after, {"activeDeadlineSeconds"});
  if (changed == nullptr) {
    return problems.Invalid("spec.activeDeadlineSeconds",
                            nullptr,
                            "must not update from a positive integer to nil value");
  }
  if (IntegerAt(after, {"activeDeadlineSeconds"}) > IntegerAt(before, {"activeDeadlineSeconds"})) {
    problems.Invalid(
        "spec.activeDeadlineSeconds", *changed, "must be less than or equal to previous value");
  }
}

void CheckRemovedGates(const json& before, const json& after, Problems& problems) {
  const json& gates = ListAt(before, {"schedulingGates"});
  const std::set<json> old(gates.begin(), gates.end());
  std::size_t index = 0;
  for (const json& gate : ListAt(after, {"schedulingGates"})) {
    const std::string field = fmt::format("spec.schedulingGates[{}]", index++);
    if (old.contains(gate)) continue;
    problems.Forbidden(
        field,
        "only deletion is allowed, but found new scheduling gate '" + TextAt(gate, {"name"}) + "'");
  }
}

// A pod that may not be scheduled yet takes further node selectors.
bool OnlyNarrowsNodes(const json& before, const json& after) {
  if (ListAt(before, {"schedulingGates"}).empty()) return false;
  const json& selected = ObjectAt(after, {"nodeSelector"});
  for (const auto& [key, value] : ObjectAt(before, {"nodeSelector"}).items()) {
    const auto same = selected.find(key);
    if (same == selected.end() || *same != value) return false;
  }
  return true;
}

// `key` of `to` as `from` has it, null included.
void CopyMember(const json& from, json& to, std::string_view key) {
  const auto value = from.find(key);
  if (value != from.end()) {
    to[std::string(key)] = *value;
  } else {
    to.erase(std::string(key));
  }
}

// `after` with everything put back that may change: equal to `before` when nothing else did.
json PutBack(const json& before, const json& after) {
  json mixed = after;
  for (const std::string_view key : {"activeDeadlineSeconds", "tolerations", "schedulingGates"}) {
    CopyMember(before, mixed, key);
  }
  if (IntegerAt(before, {"terminationGracePeriodSeconds"}) < 0 &&
      IntegerAt(after, {"terminationGracePeriodSeconds"}) == 1) {
    CopyMember(before, mixed, "terminationGracePeriodSeconds");
  }
  if (OnlyNarrowsNodes(before, after)) CopyMember(before, mixed, "nodeSelector");
  for (const std::string_view list : {"containers", "initContainers"}) {
    const json& old = ListAt(before, {list});
    json* containers = FindAt(mixed, {list});
    if (containers == nullptr || !containers->is_array() || containers->size() != old.size()) {
      continue;
    }
    for (std::size_t i = 0; i < old.size(); ++i) {
      if ((*containers)[i].is_object()) CopyMember(old[i], (*containers)[i], "image");
    }
  }
  return mixed;
}

bool CheckSameContainers(const json& before, const json& after, Problems& problems) {
  for (const std::string_view list : {"containers", "initContainers"}) {
    if (ListAt(before, {list}).size() == ListAt(after, {list}).size()) continue;
    problems.Forbidden(fmt::format("spec.{}", list),
                       "pod updates may not add or remove containers");
    return false;
  }
  return true;
}

}  // namespace

ApiResult<void> UpdatePod(const AdmissionContext& /*context*/,
                          const Edit& edit,
                          Problems& problems) {
  const json& before = ObjectAt(edit.before, {"spec"});
  json& after = ObjectIn(edit.after, "spec");
  SetPodSpecDefaults(after);
  AddDefaultTolerations(after);
  // What admission gave the pod at birth and a client's own copy need not have.
  for (const std::string_view key : {"priority", "preemptionPolicy"}) {
    if (FindAt(after, {key}) == nullptr) CopyMember(before, after, key);
  }
  if (!CheckSameContainers(before, after, problems)) return {};
  CheckKeptTolerations(ListAt(before, {"tolerations"}), ListAt(after, {"tolerations"}), problems);
  CheckTolerations(ListAt(after, {"tolerations"}), "spec.tolerations", problems);
  CheckDeadline(before, after, problems);
  CheckRemovedGates(before, after, problems);
  for (const std::string_view list : {"containers", "initContainers"}) {
    std::size_t index = 0;
    for (const json& container : ListAt(after, {list})) {
      const std::string field = fmt::format("spec.{}[{}].image", list, index++);
      if (TextAt(container, {"image"}).empty()) problems.Required(field);
    }
  }
  if (const json mixed = PutBack(before, after); mixed != before) {
    std::string changed;
    for (const json& step : json::diff(before, mixed)) {
      if (changed.size() > kMaxShown) break;
      changed += fmt::format("\n  {}", TextAt(step, {"path"}).substr(0, kMaxShown));
    }
    problems.Forbidden("spec", fmt::format("{}{}", kMayChange, changed));
  }
  return {};
}

ApiResult<void> UpdatePodStatus(const AdmissionContext& /*context*/,
                                const Edit& edit,
                                Problems& /*problems*/) {
  json& status = ObjectIn(edit.after, "status");
  // Computed when the pod is created, and never changed.
  CopyMember(ObjectAt(edit.before, {"status"}), status, "qosClass");
  return {};
}

}  // namespace strata::admission
