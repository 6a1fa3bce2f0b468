#include <algorithm>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "admission/pod_rules.h"
#include "base/quantity.h"
#include "json/access.h"
#include "json/dump.h"

namespace strata::admission {
namespace {

using nlohmann::json;

// "latest" and no tag at all move on; a tag or digest stays what it is.
std::string_view PullPolicyOf(std::string_view image) {
  if (image.find('@') != std::string_view::npos) return "IfNotPresent";
  const std::size_t slash = image.rfind('/');
  const std::size_t colon = image.rfind(':');
  const bool tagged =
      colon != std::string_view::npos && (slash == std::string_view::npos || colon > slash);
  return !tagged || image.substr(colon + 1) == "latest" ? "Always" : "IfNotPresent";
}

void RequestLimits(json& resources) {
  if (!resources.is_object()) return;
  const json limits = ObjectAt(resources, {"limits"});
  if (limits.empty()) return;
  json& requests = ObjectIn(resources, "requests");
  for (const auto& [name, limit] : limits.items()) {
    if (!requests.contains(name)) requests[name] = limit;
  }
}

void SetContainerDefaults(json& container, bool host_network) {
  if (!container.is_object()) return;
  SetDefault(container, "imagePullPolicy", PullPolicyOf(TextAt(container, {"image"})));
  if (json* resources = FindAt(container, {"resources"})) RequestLimits(*resources);
  json* ports = FindAt(container, {"ports"});
  if (ports == nullptr || !ports->is_array()) return;
  for (json& port : *ports) {
    if (!port.is_object() || !host_network || IntegerAt(port, {"hostPort"}) != 0) continue;
    port["hostPort"] = IntegerAt(port, {"containerPort"});
  }
}

void SetVolumeDefaults(json& spec) {
  json* volumes = FindAt(spec, {"volumes"});
  if (volumes == nullptr || !volumes->is_array()) return;
  for (json& volume : *volumes) {
    const bool only_a_name =
        volume.is_object() && volume.size() == (volume.contains("name") ? 1U : 0U);
    if (only_a_name) volume["emptyDir"] = json::object();
  }
}

Quantity AmountOf(const json& amounts, std::string_view name) {
  const json* amount = FindAt(amounts, {name});
  if (amount == nullptr) return {};
  const auto parsed =
      Quantity::Parse(amount->is_string() ? amount->get<std::string>() : DumpJson(*amount));
  return parsed ? *parsed : Quantity();
}

// What QoS looks at in the containers so far.
struct QosView {
  bool any = false;
  bool guaranteed = true;
};

void Look(const json& resources, QosView& view) {
  for (const std::string_view name : {"cpu", "memory"}) {
    const Quantity request = AmountOf(ObjectAt(resources, {"requests"}), name);
    const Quantity limit = AmountOf(ObjectAt(resources, {"limits"}), name);
    view.any = view.any || !request.IsZero() || !limit.IsZero();
    view.guaranteed = view.guaranteed && !limit.IsZero() && request == limit;
  }
}

bool Tolerates(const json& tolerations, std::string_view taint) {
  for (const json& toleration : tolerations) {
    const std::string& key = TextAt(toleration, {"key"});
    const std::string& effect = TextAt(toleration, {"effect"});
    if ((key.empty() || key == taint) && (effect.empty() || effect == "NoExecute")) return true;
  }
  return false;
}

}  // namespace

void SetPodSpecDefaults(json& spec) {
  SetDefault(
      spec,
      "serviceAccountName",
      TextAt(spec, {"serviceAccount"}).empty() ? "default" : TextAt(spec, {"serviceAccount"}));
  spec["serviceAccount"] = spec["serviceAccountName"];
  const bool host_network = BoolAt(spec, {"hostNetwork"});
  for (const std::string_view list : {"initContainers", "containers"}) {
    json* containers = FindAt(spec, {list});
    if (containers == nullptr || !containers->is_array()) continue;
    for (json& container : *containers) SetContainerDefaults(container, host_network);
  }
  if (json* resources = FindAt(spec, {"resources"}); resources != nullptr) {
    RequestLimits(*resources);
  }
  SetVolumeDefaults(spec);
}

std::string QosClassOf(const json& spec) {
  QosView view;
  const json& whole = ObjectAt(spec, {"resources"});
  if (!whole.empty()) {
    Look(whole, view);
  } else {
    for (const std::string_view list : {"initContainers", "containers"}) {
      for (const json& container : ListAt(spec, {list})) {
        Look(ObjectAt(container, {"resources"}), view);
      }
    }
  }
  if (!view.any) return "BestEffort";
  return view.guaranteed ? "Guaranteed" : "Burstable";
}

void AddDefaultTolerations(json& spec) {
  for (const std::string_view taint :
       {"node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"}) {
    if (Tolerates(ListAt(spec, {"tolerations"}), taint)) continue;
    ListIn(spec, "tolerations")
        .push_back({{"key", taint},
                    {"operator", "Exists"},
                    {"effect", "NoExecute"},
                    {"tolerationSeconds", 300}});
  }
}

}  // namespace strata::admission
