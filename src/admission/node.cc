#include <set>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "admission/kind_rules.h"
#include "admission/name_rules.h"
#include "base/quantity.h"
#include "json/access.h"
#include "json/dump.h"

namespace strata::admission {
namespace {

using nlohmann::json;

constexpr std::string_view kNotReady = "node.kubernetes.io/not-ready";

// A real server reports taints at metadata.taints, though they are in the spec.
void CheckTaints(const json& taints, Problems& problems) {
  std::set<std::pair<std::string, std::string>> seen;
  std::size_t index = 0;
  for (const json& taint : taints) {
    const std::string field = fmt::format("metadata.taints[{}]", index++);
    const std::string& key = TextAt(taint, {"key"});
    const std::string& value = TextAt(taint, {"value"});
    const std::string& effect = TextAt(taint, {"effect"});
    if (const std::string error = QualifiedNameError(key); !error.empty()) {
      problems.Invalid(field + ".key", key, error);
    }
    if (const std::string error = LabelValueError(value); !error.empty()) {
      problems.Invalid(field + ".value", value, error);
    }
    if (effect.empty()) {
      problems.Required(field + ".effect");
    } else if (effect != "NoSchedule" && effect != "PreferNoSchedule" && effect != "NoExecute") {
      problems.NotSupported(
          field + ".effect", effect, {"NoSchedule", "PreferNoSchedule", "NoExecute"});
    }
    if (!seen.emplace(key, effect).second) problems.Duplicate(field, taint);
  }
}

void CheckAmounts(const json& status, Problems& problems) {
  for (const std::string_view list : {"capacity", "allocatable"}) {
    for (const auto& [name, value] : ObjectAt(status, {list}).items()) {
      const auto amount =
          Quantity::Parse(value.is_string() ? value.get<std::string>() : DumpJson(value));
      if (amount && !amount->IsNegative()) continue;
      problems.Invalid(
          fmt::format("status.{}[{}]", list, name), value, "must be greater than or equal to 0");
    }
  }
}

void AllocatableFromCapacity(json& object) {
  json* status = FindAt(object, {"status"});
  if (status == nullptr || !status->is_object()) return;
  const json* capacity = FindAt(*status, {"capacity"});
  if (capacity == nullptr || FindAt(*status, {"allocatable"}) != nullptr) return;
  (*status)["allocatable"] = *capacity;
}

void AddNotReady(json& spec) {
  json& taints = ListIn(spec, "taints");
  for (const json& taint : taints) {
    if (TextAt(taint, {"key"}) == kNotReady && TextAt(taint, {"effect"}) == "NoSchedule") return;
  }
  taints.push_back({{"key", kNotReady}, {"effect", "NoSchedule"}});
}

}  // namespace

ApiResult<void> CreateNode(const AdmissionContext& /*context*/, json& object, Problems& problems) {
  json& spec = ObjectIn(object, "spec");
  AddNotReady(spec);
  AllocatableFromCapacity(object);
  CheckTaints(spec["taints"], problems);
  CheckAmounts(ObjectAt(object, {"status"}), problems);
  return {};
}

ApiResult<void> UpdateNode(const AdmissionContext& /*context*/,
                           const Edit& edit,
                           Problems& problems) {
  CheckTaints(ListAt(edit.after, {"spec", "taints"}), problems);
  const std::string& provider = TextAt(edit.before, {"spec", "providerID"});
  if (!provider.empty() && TextAt(edit.after, {"spec", "providerID"}) != provider) {
    problems.Forbidden("spec.providerID",
                       "node updates may not change providerID except from \"\" to valid");
  }
  return {};
}

ApiResult<void> UpdateNodeStatus(const AdmissionContext& /*context*/,
                                 const Edit& edit,
                                 Problems& problems) {
  AllocatableFromCapacity(edit.after);
  CheckAmounts(ObjectAt(edit.after, {"status"}), problems);
  return {};
}

}  // namespace strata::admission
