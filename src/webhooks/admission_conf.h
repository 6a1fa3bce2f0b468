#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/result.h"

namespace strata::webhooks {

// volcano-admission.conf: pods of a resource group get its scheduler, node labels, tolerations and
// affinity.
struct ResourceGroup {
  std::string name;
  // The members: pods of these namespaces, or with one of these annotations.
  std::vector<std::string> spaces;
  std::map<std::string, std::string> annotations;
  std::string scheduler_name;  // "" leaves the pod's
  nlohmann::json node_selector = nlohmann::json::object();
  nlohmann::json tolerations = nlohmann::json::array();
  nlohmann::json affinity;  // null for none
};

struct AdmissionConf {
  std::vector<ResourceGroup> groups;  // the first that a pod belongs to counts
};

// The text of the file: YAML. kInvalidArgument names the field.
[[nodiscard]] Result<AdmissionConf> ParseAdmissionConf(std::string_view text);

}  // namespace strata::webhooks
