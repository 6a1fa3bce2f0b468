#include <optional>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "admission/name_rules.h"
#include "admission/pod_rules.h"
#include "base/quantity.h"
#include "json/access.h"
#include "json/dump.h"
#include "objects/syntax.h"

namespace strata::admission {
namespace {

using nlohmann::json;

bool IsHugePages(std::string_view name) {
  return name.starts_with("hugepages-");
}

bool IsStandard(std::string_view name) {
  return name == "cpu" || name == "memory" || name == "ephemeral-storage" || IsHugePages(name);
}

std::optional<Quantity> ToQuantity(const json& value) {
  const auto parsed =
      Quantity::Parse(value.is_string() ? value.get<std::string>() : DumpJson(value));
  return parsed ? std::optional(*parsed) : std::nullopt;
}

void CheckAmount(const std::string& name,
                 const json& value,
                 const std::string& field,
                 Problems& problems) {
  if (name.find('/') == std::string::npos) {
    if (!IsStandard(name)) {
      problems.Invalid(field, name, "must be a standard resource type or fully qualified");
      problems.Invalid(field, name, "must be a standard resource for containers");
    }
  } else if (const std::string error = QualifiedNameError(name); !error.empty()) {
    problems.Invalid(field, name, error);
  }
  const std::optional<Quantity> amount = ToQuantity(value);
  if (!amount) {
    return problems.Invalid(field, value, "must be a quantity such as 500m or 16Gi");
  }
  if (amount->IsNegative()) {
    problems.Invalid(field, value, "must be greater than or equal to 0");
  } else if (objects::IsExtendedResource(name) && !amount->IsInteger()) {
    problems.Invalid(field, value, "must be an integer");
  }
}

void CheckPair(const std::string& name,
               const json& request,
               const json* limit,
               const std::string& field,
               Problems& problems) {
  const bool exact = objects::IsExtendedResource(name) || IsHugePages(name);
  if (limit == nullptr) {
    if (exact) {
      problems.Required(field + ".limits", "Limit must be set for non overcommitable resources");
    }
    return;
  }
  const std::optional<Quantity> asked = ToQuantity(request);
  const std::optional<Quantity> max = ToQuantity(*limit);
  if (!asked || !max) return;
  if (exact ? *asked == *max : *asked <= *max) return;
  problems.Invalid(field + ".requests",
                   asked->ToString(),
                   fmt::format("must be {} to {} limit of {}",
                               exact ? "equal" : "less than or equal",
                               name,
                               max->ToString()));
}

}  // namespace

void CheckContainerResources(const json& resources, const std::string& field, Problems& problems) {
  const json& limits = ObjectAt(resources, {"limits"});
  const json& requests = ObjectAt(resources, {"requests"});
  for (const auto& [name, value] : limits.items()) {
    CheckAmount(name, value, fmt::format("{}.limits[{}]", field, name), problems);
  }
  for (const auto& [name, value] : requests.items()) {
    CheckAmount(name, value, fmt::format("{}.requests[{}]", field, name), problems);
    CheckPair(name, value, FindAt(limits, {name}), field, problems);
  }
}

}  // namespace strata::admission
