#include <cstdint>
#include <set>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "admission/kind_rules.h"
#include "admission/name_rules.h"
#include "json/access.h"
#include "json/parse.h"

namespace strata::admission {
namespace {

using nlohmann::json;

// The first address of 10.96.0.0/12 that no Service has; the first two are kept for the cluster's
// own. Nothing routes there: it is for clients that expect to see one.
std::string FreeAddress(const ObjectReader& store) {
  std::set<std::string> taken;
  store.VisitLatest("services", "", [&](const StoredObject& object) {
    const json parsed = ParseJsonOrNull(object.body);
    taken.insert(TextAt(parsed, {"spec", "clusterIP"}));
    return true;
  });
  constexpr std::uint32_t kAddresses = 1U << 20U;
  for (std::uint32_t i = 2; i < kAddresses; ++i) {
    std::string address = fmt::format("10.{}.{}.{}", 96 + (i >> 16U), i >> 8U & 255U, i & 255U);
    if (!taken.contains(address)) return address;
  }
  return "None";
}

bool IsHeadless(const json& spec) {
  return TextAt(spec, {"clusterIP"}) == "None";
}

void SetServiceDefaults(json& spec) {
  if (TextAt(spec, {"type"}) != "ExternalName") {
    SetDefault(spec, "internalTrafficPolicy", "Cluster");
    SetDefault(spec, "ipFamilies", json::array({"IPv4"}));
    SetDefault(spec, "ipFamilyPolicy", "SingleStack");
  }
  json* ports = FindAt(spec, {"ports"});
  if (ports == nullptr || !ports->is_array()) return;
  for (json& port : *ports) {
    if (!port.is_object()) continue;
    const bool named = !TextAt(port, {"targetPort"}).empty();
    if (named || IntegerAt(port, {"targetPort"}) != 0) continue;
    if (port.contains("port")) port["targetPort"] = port["port"];
  }
}

void CheckServicePort(const json& port,
                      const std::string& field,
                      bool alone,
                      std::set<std::string>& names,
                      Problems& problems) {
  const std::string& name = TextAt(port, {"name"});
  if (!name.empty()) {
    const std::string error = DnsLabelError(name);
    if (!error.empty()) problems.Invalid(field + ".name", name, error);
    if (!names.insert(name).second) problems.Duplicate(field + ".name", name);
  } else if (!alone) {
    problems.Required(field + ".name");
  }
  const std::int64_t number = IntegerAt(port, {"port"});
  if (const std::string error = PortNumberError(number); !error.empty()) {
    problems.Invalid(field + ".port", number, error);
  }
  const std::string& protocol = TextAt(port, {"protocol"});
  if (!protocol.empty() && protocol != "TCP" && protocol != "UDP" && protocol != "SCTP") {
    problems.NotSupported(field + ".protocol", protocol, {"SCTP", "TCP", "UDP"});
  }
}

void CheckService(const json& spec, Problems& problems) {
  const std::string& type = TextAt(spec, {"type"});
  const json& ports = ListAt(spec, {"ports"});
  if (!type.empty() && type != "ClusterIP" && type != "ExternalName" && type != "LoadBalancer" &&
      type != "NodePort") {
    problems.NotSupported(
        "spec.type", type, {"ClusterIP", "ExternalName", "LoadBalancer", "NodePort"});
  }
  if (ports.empty() && !IsHeadless(spec) && type != "ExternalName") {
    problems.Required("spec.ports");
  }
  if (type == "ExternalName" && TextAt(spec, {"externalName"}).empty()) {
    problems.Required("spec.externalName");
  }
  std::set<std::string> names;
  for (std::size_t i = 0; i < ports.size(); ++i) {
    CheckServicePort(
        ports[i], fmt::format("spec.ports[{}]", i), ports.size() == 1, names, problems);
  }
  CheckLabels(ObjectAt(spec, {"selector"}), "spec.selector", problems);
}

}  // namespace

ApiResult<void> CreateService(const AdmissionContext& context, json& object, Problems& problems) {
  json& spec = ObjectIn(object, "spec");
  SetServiceDefaults(spec);
  CheckService(spec, problems);
  if (TextAt(spec, {"type"}) != "ExternalName" && problems.empty()) {
    if (TextAt(spec, {"clusterIP"}).empty()) spec["clusterIP"] = FreeAddress(context.store);
    SetDefault(spec, "clusterIPs", json::array({spec["clusterIP"]}));
  }
  object["status"] = {{"loadBalancer", json::object()}};
  return {};
}

ApiResult<void> UpdateService(const AdmissionContext& /*context*/,
                              const Edit& edit,
                              Problems& problems) {
  json& spec = ObjectIn(edit.after, "spec");
  const json& before = ObjectAt(edit.before, {"spec"});
  SetServiceDefaults(spec);
  const std::string& address = TextAt(before, {"clusterIP"});
  if (!address.empty() && TextAt(spec, {"type"}) != "ExternalName") {
    SetDefault(spec, "clusterIP", address);
    SetDefault(spec, "clusterIPs", ListAt(before, {"clusterIPs"}));
    if (TextAt(spec, {"clusterIP"}) != address) {
      problems.Invalid("spec.clusterIPs[0]", spec["clusterIP"], "may not change once set");
    }
  }
  CheckService(spec, problems);
  return {};
}

}  // namespace strata::admission
