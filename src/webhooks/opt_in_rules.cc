#include "webhooks/opt_in_rules.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "admission/api_error.h"
#include "base/ascii.h"
#include "json/access.h"
#include "json/parse.h"

namespace strata::webhooks {
namespace {

using nlohmann::json;

constexpr std::string_view kQueueOfNamespace = "scheduling.volcano.sh/queue-name";
constexpr std::array<std::string_view, 2> kBudgets = {"volcano.sh/jdb-min-available",
                                                      "volcano.sh/jdb-max-unavailable"};

bool Belongs(const json& pod, const std::string& ns, const ResourceGroup& group) {
  if (std::count(group.spaces.begin(), group.spaces.end(), ns) != 0) return true;
  return std::any_of(group.annotations.begin(), group.annotations.end(), [&](const auto& wanted) {
    const json* found = FindAt(pod, {"metadata", "annotations", wanted.first});
    return found != nullptr && *found == wanted.second;
  });
}

// A positive number, or a percentage from 1% to 99%.
bool IsBudget(std::string_view text) {
  const bool percent = text.ends_with('%');
  if (percent) text.remove_suffix(1);
  const auto number = WholeNumber(text, percent ? 99 : INT32_MAX);
  return number && *number > 0;
}

}  // namespace

void SetQueueOfNamespace(const admission::ObjectReader& objects,
                         const std::string& ns,
                         json& pod_group) {
  const std::string& queue = TextAt(pod_group, {"spec", "queue"});
  if (!queue.empty() && queue != "default") return;
  const admission::ObjectRef found = objects.GetLatest({"namespaces", "", ns});
  if (found == nullptr) return;
  const json parsed = ParseJsonOrNull(found->body);
  const std::string& named = TextAt(parsed, {"metadata", "annotations", kQueueOfNamespace});
  if (!named.empty()) ObjectIn(pod_group, "spec")["queue"] = named;
}

void ApplyResourceGroup(const AdmissionConf& conf, const std::string& ns, json& pod) {
  const auto group =
      std::find_if(conf.groups.begin(), conf.groups.end(), [&](const ResourceGroup& candidate) {
        return Belongs(pod, ns, candidate);
      });
  if (group == conf.groups.end()) return;
  json& spec = ObjectIn(pod, "spec");
  if (!group->node_selector.empty()) ObjectIn(spec, "nodeSelector").update(group->node_selector);
  if (!group->affinity.is_null() && ObjectAt(spec, {"affinity"}).empty()) {
    spec["affinity"] = group->affinity;
  }
  for (const json& toleration : group->tolerations) {
    json& tolerations = ListIn(spec, "tolerations");
    // Once, however often the pod is looked at.
    if (std::count(tolerations.begin(), tolerations.end(), toleration) == 0) {
      tolerations.push_back(toleration);
    }
  }
  if (!group->scheduler_name.empty()) spec["schedulerName"] = group->scheduler_name;
}

std::optional<std::string> BudgetRefusal(const json& pod,
                                         const std::vector<std::string>& scheduler_names) {
  const std::string& scheduler = TextAt(pod, {"spec", "schedulerName"});
  if (std::count(scheduler_names.begin(), scheduler_names.end(), scheduler) == 0) return {};
  const json& annotations = ObjectAt(pod, {"metadata", "annotations"});
  std::size_t given = 0;
  for (const std::string_view key : kBudgets) {
    const auto found = annotations.find(key);
    if (found == annotations.end()) continue;
    ++given;
    const std::string value = found->is_string() ? found->get<std::string>() : "";
    if (IsBudget(value)) continue;
    return fmt::format(
        "invalid value <\"{}\"> for {}, it must be a positive integer or a valid percentage which "
        "between 1% ~ 99%",
        admission::Shortened(value, 64),
        key);
  }
  if (given < 2) return {};
  return fmt::format(
      "not allow configure multiple annotations <[{} {}]> at same time", kBudgets[0], kBudgets[1]);
}

}  // namespace strata::webhooks
