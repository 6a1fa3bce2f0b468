#include <cstdint>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "admission/kind_rules.h"
#include "admission/object_reading.h"
#include "json/access.h"
#include "json/parse.h"
#include "objects/priority.h"

namespace strata::admission {
namespace {

using nlohmann::json;

constexpr std::int64_t kHighestUserPriority = 1'000'000'000;

bool IsSystemClass(const std::string& name, std::int64_t value) {
  return objects::PriorityTable({}).ValueOf(name) == value;
}

// Only one class may be the default of pods that name none.
ApiResult<void> CheckOnlyDefault(const AdmissionContext& context, const json& object) {
  if (!BoolAt(object, {"globalDefault"})) return {};
  const std::string& name = TextAt(object, {"metadata", "name"});
  std::string other;
  context.store.VisitLatest(context.resource.FullName(), "", [&](const StoredObject& stored) {
    if (stored.name == name) return true;
    if (BoolAt(ParseJsonOrNull(stored.body), {"globalDefault"})) other = stored.name;
    return other.empty();
  });
  if (other.empty()) return {};
  return tl::unexpected(
      Forbidden(context.resource,
                name,
                fmt::format("PriorityClass {} is already marked as default. Only one default can "
                            "exist",
                            other)));
}

void CheckPreemption(const json& object, Problems& problems) {
  const std::string& policy = TextAt(object, {"preemptionPolicy"});
  if (policy.empty() || policy == "PreemptLowerPriority" || policy == "Never") return;
  problems.NotSupported("preemptionPolicy", policy, {"PreemptLowerPriority", "Never"});
}

void CheckBudget(const json& object, Problems& problems) {
  const json& spec = ObjectAt(object, {"spec"});
  if (FindAt(spec, {"minAvailable"}) != nullptr && FindAt(spec, {"maxUnavailable"}) != nullptr) {
    return problems.Invalid("spec", spec, "minAvailable and maxUnavailable cannot be both set");
  }
  CheckByReader<objects::PodDisruptionBudget>(object, problems);
}

void CheckLease(const json& object, Problems& problems) {
  const json& spec = ObjectAt(object, {"spec"});
  if (IntegerAt(spec, {"leaseDurationSeconds"}, 1) <= 0) {
    problems.Invalid("spec.leaseDurationSeconds",
                     IntegerAt(spec, {"leaseDurationSeconds"}),
                     "must be greater than 0");
  }
  if (IntegerAt(spec, {"leaseTransitions"}) < 0) {
    problems.Invalid("spec.leaseTransitions",
                     IntegerAt(spec, {"leaseTransitions"}),
                     "must be greater than or equal to 0");
  }
}

}  // namespace

ApiResult<void> CreatePriorityClass(const AdmissionContext& context,
                                    json& object,
                                    Problems& problems) {
  SetDefault(object, "value", 0);
  if (auto only = CheckOnlyDefault(context, object); !only) return only;
  const std::string& name = TextAt(object, {"metadata", "name"});
  const std::int64_t value = IntegerAt(object, {"value"});
  if (name.starts_with("system-")) {
    if (!IsSystemClass(name, value)) {
      problems.Forbidden("metadata.name",
                         "priority class names with 'system-' prefix are reserved for system use "
                         "only");
    }
  } else if (value > kHighestUserPriority) {
    problems.Forbidden("value",
                       fmt::format("maximum allowed value of a user defined priority is {}",
                                   kHighestUserPriority));
  }
  CheckPreemption(object, problems);
  return {};
}

ApiResult<void> UpdatePriorityClass(const AdmissionContext& context,
                                    const Edit& edit,
                                    Problems& problems) {
  SetDefault(edit.after, "value", 0);
  if (auto only = CheckOnlyDefault(context, edit.after); !only) return only;
  if (IntegerAt(edit.before, {"value"}) != IntegerAt(edit.after, {"value"})) {
    problems.Forbidden("value", "may not be changed in an update.");
  }
  if (TextAt(edit.before, {"preemptionPolicy"}) != TextAt(edit.after, {"preemptionPolicy"})) {
    problems.Immutable("preemptionPolicy", edit.after["preemptionPolicy"]);
  }
  return {};
}

ApiResult<void> CreateBudget(const AdmissionContext& /*context*/,
                             json& object,
                             Problems& problems) {
  object["status"] = {
      {"currentHealthy", 0}, {"desiredHealthy", 0}, {"disruptionsAllowed", 0}, {"expectedPods", 0}};
  CheckBudget(object, problems);
  return {};
}

ApiResult<void> UpdateBudget(const AdmissionContext& /*context*/,
                             const Edit& edit,
                             Problems& problems) {
  CheckBudget(edit.after, problems);
  return {};
}

ApiResult<void> CreateQuota(const AdmissionContext& /*context*/, json& object, Problems& problems) {
  object["status"] = json::object();
  CheckByReader<objects::ResourceQuota>(object, problems);
  return {};
}

ApiResult<void> UpdateQuota(const AdmissionContext& /*context*/,
                            const Edit& edit,
                            Problems& problems) {
  CheckByReader<objects::ResourceQuota>(edit.after, problems);
  return {};
}

ApiResult<void> CreateLease(const AdmissionContext& /*context*/, json& object, Problems& problems) {
  CheckLease(object, problems);
  return {};
}

ApiResult<void> UpdateLease(const AdmissionContext& /*context*/,
                            const Edit& edit,
                            Problems& problems) {
  CheckLease(edit.after, problems);
  return {};
}

ApiResult<void> CreateAccessReview(const AdmissionContext& /*context*/,
                                   json& object,
                                   Problems& problems) {
  const json& spec = ObjectAt(object, {"spec"});
  const bool resource = FindAt(spec, {"resourceAttributes"}) != nullptr;
  if (resource == (FindAt(spec, {"nonResourceAttributes"}) != nullptr)) {
    problems.Invalid(
        "spec.resourceAttributes",
        ObjectAt(spec, {"resourceAttributes"}),
        "exactly one of nonResourceAttributes or resourceAttributes must be specified");
  }
  // A holder of the token may do everything.
  object["status"] = {{"allowed", true}};
  return {};
}

}  // namespace strata::admission
