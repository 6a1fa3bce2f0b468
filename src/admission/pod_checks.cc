#include <cstdint>
#include <set>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "admission/kind_rules.h"
#include "admission/name_rules.h"
#include "admission/object_reading.h"
#include "admission/pod_rules.h"
#include "json/access.h"
#include "objects/readers.h"

namespace strata::admission {
namespace {

using nlohmann::json;

void CheckToleration(const json& toleration, const std::string& field, Problems& problems) {
  const std::string& key = TextAt(toleration, {"key"});
  const std::string& op = TextAt(toleration, {"operator"});
  const std::string& effect = TextAt(toleration, {"effect"});
  if (!key.empty()) {
    const std::string error = QualifiedNameError(key);
    if (!error.empty()) problems.Invalid(field + ".key", key, error);
  } else if (op != "Exists") {
    problems.Invalid(field + ".operator",
                     op,
                     "operator must be Exists when `key` is empty, which means \"match all values "
                     "and all keys\"");
  }
  const bool no_execute = effect == "NoExecute";
  if (FindAt(toleration, {"tolerationSeconds"}) != nullptr && !no_execute) {
    problems.Invalid(
        field + ".effect", effect, "effect must be 'NoExecute' when `tolerationSeconds` is set");
  }
  const std::string& value = TextAt(toleration, {"value"});
  if (op.empty() || op == "Equal") {
    const std::string error = LabelValueError(value);
    if (!error.empty()) problems.Invalid(field + ".operator", value, error);
  } else if (op == "Exists") {
    if (!value.empty()) {
      problems.Invalid(
          field + ".operator", value, "value must be empty when `operator` is 'Exists'");
    }
  } else {
    problems.NotSupported(field + ".operator", op, {"Equal", "Exists"});
  }
  if (!effect.empty() && !no_execute && effect != "NoSchedule" && effect != "PreferNoSchedule") {
    problems.NotSupported(
        field + ".effect", effect, {"NoSchedule", "PreferNoSchedule", "NoExecute"});
  }
}

void CheckWords(const json& spec, const std::string& field, Problems& problems) {
  const std::string& restart = TextAt(spec, {"restartPolicy"});
  if (!restart.empty() && restart != "Always" && restart != "OnFailure" && restart != "Never") {
    problems.NotSupported(field + ".restartPolicy", restart, {"Always", "OnFailure", "Never"});
  }
  const std::string& dns = TextAt(spec, {"dnsPolicy"});
  if (!dns.empty() && dns != "ClusterFirst" && dns != "ClusterFirstWithHostNet" &&
      dns != "Default" && dns != "None") {
    problems.NotSupported(
        field + ".dnsPolicy", dns, {"ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"});
  }
  const std::string& preemption = TextAt(spec, {"preemptionPolicy"});
  if (!preemption.empty() && preemption != "PreemptLowerPriority" && preemption != "Never") {
    problems.NotSupported(
        field + ".preemptionPolicy", preemption, {"PreemptLowerPriority", "Never"});
  }
}

void CheckNames(const json& spec, const std::string& field, Problems& problems) {
  for (const std::string_view key : {"nodeName", "serviceAccountName", "schedulerName"}) {
    const std::string& name = TextAt(spec, {key});
    if (name.empty()) continue;
    const std::string error =
        key == "schedulerName" ? QualifiedNameError(name) : DnsSubdomainError(name);
    if (!error.empty()) problems.Invalid(fmt::format("{}.{}", field, key), name, error);
  }
  for (const std::string_view key : {"hostname", "subdomain"}) {
    const std::string& name = TextAt(spec, {key});
    if (name.empty()) continue;
    const std::string error = DnsLabelError(name);
    if (!error.empty()) problems.Invalid(fmt::format("{}.{}", field, key), name, error);
  }
}

void CheckSeconds(const json& spec, const std::string& field, Problems& problems) {
  const std::int64_t grace = IntegerAt(spec, {"terminationGracePeriodSeconds"});
  if (grace < 0) {
    problems.Invalid(
        field + ".terminationGracePeriodSeconds", grace, "must be greater than or equal to 0");
  }
  const std::int64_t deadline = IntegerAt(spec, {"activeDeadlineSeconds"}, 1);
  if (deadline < 1 || deadline > INT32_MAX) {
    problems.Invalid(field + ".activeDeadlineSeconds",
                     deadline,
                     fmt::format("must be between 1 and {}, inclusive", INT32_MAX));
  }
}

void CheckGates(const json& spec, const std::string& field, Problems& problems) {
  std::set<std::string> names;
  std::size_t index = 0;
  for (const json& gate : ListAt(spec, {"schedulingGates"})) {
    const std::string at = fmt::format("{}.schedulingGates[{}]", field, index++);
    const std::string& name = TextAt(gate, {"name"});
    const std::string error = QualifiedNameError(name);
    if (!error.empty()) problems.Invalid(at, name, error);
    if (!names.insert(name).second) problems.Duplicate(at, name);
  }
  if (!names.empty() && !TextAt(spec, {"nodeName"}).empty()) {
    problems.Forbidden(field + ".nodeName",
                       "cannot be set until all schedulingGates have been cleared");
  }
}

// Affinity and spread: the rules are those of the scheduler's own readers.
void CheckPlacement(const json& spec, const std::string& field, Problems& problems) {
  CheckLabels(ObjectAt(spec, {"nodeSelector"}), field + ".nodeSelector", problems);
  const bool placed = FindAt(spec, {"affinity"}) != nullptr ||
                      FindAt(spec, {"topologySpreadConstraints"}) != nullptr;
  if (!placed || !problems.empty()) return;
  json part = json::object();
  for (const std::string_view key : {"affinity", "topologySpreadConstraints"}) {
    if (const json* value = FindAt(spec, {key})) part[std::string(key)] = *value;
  }
  ReadWith(
      part,
      field,
      [](const objects::Cursor& at) {
        const objects::Cursor affinity = at.At("affinity");
        NodeAffinity node;
        objects::PodAffinity pods;
        objects::ReadNodeAffinity(affinity.At("nodeAffinity"), node);
        objects::ReadPodAffinity(affinity.At("podAffinity"), pods);
        objects::ReadPodAffinity(affinity.At("podAntiAffinity"), pods);
        std::vector<objects::TopologySpreadConstraint> spread;
        at.At("topologySpreadConstraints").ReadList(spread, objects::ReadSpreadConstraint);
      },
      problems);
}

}  // namespace

void CheckTolerations(const json& tolerations, const std::string& field, Problems& problems) {
  std::size_t index = 0;
  for (const json& toleration : tolerations) {
    CheckToleration(toleration, fmt::format("{}[{}]", field, index++), problems);
  }
}

void CheckPodSpec(const json& spec, const std::string& field, Problems& problems) {
  CheckContainers(spec, field, problems);
  CheckWords(spec, field, problems);
  CheckNames(spec, field, problems);
  CheckSeconds(spec, field, problems);
  CheckGates(spec, field, problems);
  CheckTolerations(ListAt(spec, {"tolerations"}), field + ".tolerations", problems);
  CheckContainerResources(ObjectAt(spec, {"resources"}), field + ".resources", problems);
  CheckPlacement(spec, field, problems);
}

}  // namespace strata::admission
