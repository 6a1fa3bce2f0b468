#pragma once

#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "admission/object_reader.h"
#include "webhooks/admission_conf.h"

// The rules of webhooks that Volcano's chart leaves off. The embedded API server has none of them.
namespace strata::webhooks {

// A PodGroup of queue `default` goes to the queue that its namespace names in the annotation
// scheduling.volcano.sh/queue-name.
void SetQueueOfNamespace(const admission::ObjectReader& objects,
                         const std::string& ns,
                         nlohmann::json& pod_group);

// A pod of a resource group gets what the group has: labels of nodes, its scheduler, tolerations
// besides its own, and an affinity where it has none.
void ApplyResourceGroup(const AdmissionConf& conf, const std::string& ns, nlohmann::json& pod);

// Why a pod of one of these schedulers may not have the disruption budget that its annotations ask
// for; none when it may.
[[nodiscard]] std::optional<std::string> BudgetRefusal(
    const nlohmann::json& pod, const std::vector<std::string>& scheduler_names);

}  // namespace strata::webhooks
