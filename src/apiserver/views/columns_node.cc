#include <set>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "apiserver/views/columns.h"
#include "json/access.h"

namespace strata::apiserver {
namespace {

using nlohmann::json;

std::string NodeStatus(const json& object) {
  std::string status = "Unknown";
  for (const json& condition : ListAt(object, {"status", "conditions"})) {
    if (TextAt(condition, {"type"}) != "Ready") continue;
    status = TextAt(condition, {"status"}) == "True" ? "Ready" : "NotReady";
  }
  if (BoolAt(object, {"spec", "unschedulable"})) status += ",SchedulingDisabled";
  return status;
}

std::string NodeRoles(const json& object) {
  constexpr std::string_view kPrefix = "node-role.kubernetes.io/";
  std::set<std::string> roles;
  const json& labels = ObjectAt(object, {"metadata", "labels"});
  for (const auto& [key, value] : labels.items()) {
    if (key.starts_with(kPrefix) && key.size() > kPrefix.size()) {
      roles.insert(key.substr(kPrefix.size()));
    }
  }
  const std::string& named = TextAt(labels, {"kubernetes.io/role"});
  if (!named.empty()) roles.insert(named);
  std::string all;
  for (const std::string& role : roles) all += (all.empty() ? "" : ",") + role;
  return OrNone(all);
}

std::string NodeAddress(const json& object, std::string_view type) {
  for (const json& address : ListAt(object, {"status", "addresses"})) {
    if (TextAt(address, {"type"}) == type) return OrNone(TextAt(address, {"address"}));
  }
  return "<none>";
}

std::string OrUnknown(const std::string& text) {
  return text.empty() ? "<unknown>" : text;
}

}  // namespace

json NodeCells(const json& object, Time now) {
  const json& info = ObjectAt(object, {"status", "nodeInfo"});
  return {NameOf(object),
          NodeStatus(object),
          NodeRoles(object),
          ObjectAge(object, now),
          TextAt(info, {"kubeletVersion"}),
          NodeAddress(object, "InternalIP"),
          NodeAddress(object, "ExternalIP"),
          OrUnknown(TextAt(info, {"osImage"})),
          OrUnknown(TextAt(info, {"kernelVersion"})),
          OrUnknown(TextAt(info, {"containerRuntimeVersion"}))};
}

}  // namespace strata::apiserver
