#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "admission/kind_rules.h"
#include "admission/pod_rules.h"
#include "base/timestamp.h"
#include "json/access.h"
#include "json/parse.h"
#include "objects/priority.h"

namespace strata::admission {
namespace {

using nlohmann::json;

constexpr std::string_view kPriorityClasses = "priorityclasses.scheduling.k8s.io";

struct Priority {
  std::string class_name;
  std::int64_t value = 0;
  std::string preemption = "PreemptLowerPriority";
};

Priority ToPriority(std::string_view name, const json& priority_class) {
  Priority priority{std::string(name), IntegerAt(priority_class, {"value"}), {}};
  priority.preemption = TextAt(priority_class, {"preemptionPolicy"});
  if (priority.preemption.empty()) priority.preemption = "PreemptLowerPriority";
  return priority;
}

// The lowest of several defaults counts, as in Kubernetes.
Priority DefaultPriority(const ObjectReader& store) {
  std::optional<Priority> lowest;
  store.VisitLatest(std::string(kPriorityClasses), "", [&](const StoredObject& object) {
    // Only the rare default one is worth parsing; bodies are compact JSON.
    if (object.body.find("\"globalDefault\":true") == std::string::npos) return true;
    const json parsed = ParseJsonOrNull(object.body);
    if (!BoolAt(parsed, {"globalDefault"})) return true;
    Priority priority = ToPriority(object.name, parsed);
    if (!lowest || priority.value < lowest->value) lowest = std::move(priority);
    return true;
  });
  return lowest.value_or(Priority{});
}

// None when there is no such class. The two system classes count also where their objects are not.
std::optional<Priority> FindPriority(const ObjectReader& store, const std::string& name) {
  const auto stored = ReadStored(store, {std::string(kPriorityClasses), "", name});
  if (stored) return ToPriority(name, *stored);
  const auto known = objects::PriorityTable({}).ValueOf(name);
  if (!known) return std::nullopt;
  return Priority{name, *known, "PreemptLowerPriority"};
}

ApiResult<void> SetPriority(const AdmissionContext& context, const std::string& name, json& spec) {
  const auto refuse = [&](const std::string& why) {
    return tl::unexpected(Forbidden(context.resource, name, why));
  };
  const std::string class_name = TextAt(spec, {"priorityClassName"});
  std::optional<Priority> priority =
      class_name.empty() ? DefaultPriority(context.store) : FindPriority(context.store, class_name);
  if (!priority) return refuse(fmt::format("no PriorityClass with name {} was found", class_name));
  const std::int64_t given = IntegerAt(spec, {"priority"}, priority->value);
  if (given != priority->value) {
    return refuse(
        fmt::format("the integer value of priority ({}) must not be provided in pod spec; priority "
                    "admission controller computed {} from the given PriorityClass name",
                    given,
                    priority->value));
  }
  const std::string& policy = TextAt(spec, {"preemptionPolicy"});
  if (!policy.empty() && policy != priority->preemption) {
    return refuse(fmt::format(
        "the string value of PreemptionPolicy ({}) must not be provided in pod spec; priority "
        "admission controller computed {} from the given PriorityClass name",
        policy,
        priority->preemption));
  }
  spec["priority"] = priority->value;
  spec["preemptionPolicy"] = priority->preemption;
  if (!priority->class_name.empty()) spec["priorityClassName"] = priority->class_name;
  return {};
}

json NewStatus(const AdmissionContext& context, const json& spec) {
  json status = {{"phase", "Pending"}, {"qosClass", QosClassOf(spec)}};
  if (!ListAt(spec, {"schedulingGates"}).empty()) {
    const Time now = std::chrono::floor<std::chrono::seconds>(context.now);
    status["conditions"] = {{{"type", "PodScheduled"},
                             {"status", "False"},
                             {"reason", "SchedulingGated"},
                             {"message", "Scheduling is blocked due to non-empty scheduling gates"},
                             {"lastProbeTime", nullptr},
                             {"lastTransitionTime", FormatTimestamp(now)}}};
  }
  return status;
}

}  // namespace

ApiResult<void> CreatePod(const AdmissionContext& context, json& object, Problems& problems) {
  json& spec = ObjectIn(object, "spec");
  const std::string name = TextAt(object, {"metadata", "name"});
  if (auto set = SetPriority(context, name, spec); !set) return set;
  SetPodSpecDefaults(spec);
  AddDefaultTolerations(spec);
  object["status"] = NewStatus(context, spec);
  CheckPodSpec(spec, "spec", problems);
  return {};
}

}  // namespace strata::admission
