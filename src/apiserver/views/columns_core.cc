#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "apiserver/views/age.h"
#include "apiserver/views/columns.h"
#include "json/access.h"
#include "json/dump.h"

namespace strata::apiserver {
namespace {

using nlohmann::json;

json NamespaceCells(const json& object, Time now) {
  return {NameOf(object), TextAt(object, {"status", "phase"}), ObjectAge(object, now)};
}

// The first of several places that holds a time; events of old and new clients differ in them.
const json* FirstTime(const json& object, std::initializer_list<KeyPath> places) {
  for (const KeyPath& place : places) {
    if (const json* found = FindAt(object, place)) return found;
  }
  return nullptr;
}

std::string EventSource(const json& object) {
  const std::string& component = TextAt(object, {"source", "component"});
  const std::string& host = TextAt(object, {"source", "host"});
  if (component.empty()) return TextAt(object, {"reportingComponent"});
  return host.empty() ? component : component + ", " + host;
}

json EventCells(const json& object, Time now) {
  const json* first = FirstTime(object, {{"firstTimestamp"}, {"eventTime"}});
  const json* last = FirstTime(object, {{"series", "lastObservedTime"}, {"lastTimestamp"}});
  std::string last_seen = AgeOf(last != nullptr ? last : first, now);
  std::int64_t count = IntegerAt(object, {"series", "count"});
  if (count == 0) count = IntegerAt(object, {"count"}, 1);
  const json& involved = ObjectAt(object, {"involvedObject"});
  std::string kind = TextAt(involved, {"kind"});
  std::transform(kind.begin(), kind.end(), kind.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  const std::string& message = TextAt(object, {"message"});
  const std::size_t end = message.find_last_not_of(" \n");
  return {std::move(last_seen),
          TextAt(object, {"type"}),
          TextAt(object, {"reason"}),
          kind + "/" + TextAt(involved, {"name"}),
          TextAt(involved, {"fieldPath"}),
          EventSource(object),
          message.substr(0, end == std::string::npos ? 0 : end + 1),
          AgeOf(first != nullptr ? first : last, now),
          count,
          NameOf(object)};
}

json ConfigMapCells(const json& object, Time now) {
  return {NameOf(object),
          ObjectAt(object, {"data"}).size() + ObjectAt(object, {"binaryData"}).size(),
          ObjectAge(object, now)};
}

json SecretCells(const json& object, Time now) {
  return {NameOf(object),
          TextAt(object, {"type"}),
          ObjectAt(object, {"data"}).size(),
          ObjectAge(object, now)};
}

std::string ServicePorts(const json& spec) {
  std::string all;
  for (const json& port : ListAt(spec, {"ports"})) {
    if (!all.empty()) all += ",";
    all += std::to_string(IntegerAt(port, {"port"}));
    const std::int64_t node_port = IntegerAt(port, {"nodePort"});
    if (node_port != 0) all += fmt::format(":{}", node_port);
    all += "/" + TextAt(port, {"protocol"});
  }
  return OrNone(all);
}

std::string ExternalAddress(const json& object) {
  const json& spec = ObjectAt(object, {"spec"});
  const std::string& type = TextAt(spec, {"type"});
  std::string all;
  if (type == "ExternalName") return OrNone(TextAt(spec, {"externalName"}));
  if (type == "LoadBalancer") {
    for (const json& entry : ListAt(object, {"status", "loadBalancer", "ingress"})) {
      const std::string& ip = TextAt(entry, {"ip"});
      all += (all.empty() ? "" : ",") + (ip.empty() ? TextAt(entry, {"hostname"}) : ip);
    }
  }
  for (const json& ip : ListAt(spec, {"externalIPs"})) {
    if (ip.is_string()) all += (all.empty() ? "" : ",") + ip.get<std::string>();
  }
  if (all.empty() && type == "LoadBalancer") return "<pending>";
  return OrNone(all);
}

std::string SelectorText(const json& labels) {
  std::string all;
  for (const auto& [key, value] : labels.items()) {
    if (!all.empty()) all += ",";
    all += key + "=" + (value.is_string() ? value.get<std::string>() : "");
  }
  return OrNone(all);
}

json ServiceCells(const json& object, Time now) {
  const json& spec = ObjectAt(object, {"spec"});
  return {NameOf(object),
          TextAt(spec, {"type"}),
          OrNone(TextAt(spec, {"clusterIP"})),
          ExternalAddress(object),
          ServicePorts(spec),
          ObjectAge(object, now),
          SelectorText(ObjectAt(spec, {"selector"}))};
}

json ServiceAccountCells(const json& object, Time now) {
  return {NameOf(object), ListAt(object, {"secrets"}).size(), ObjectAge(object, now)};
}

// "cpu: 1/4, pods: 2/10", the requests apart from the limits.
json QuotaCells(const json& object, Time now) {
  std::string requests;
  std::string limits;
  for (const auto& [name, value] : ObjectAt(object, {"status", "hard"}).items()) {
    std::string used = TextAt(object, {"status", "used", name});
    if (used.empty()) used = "0";
    const std::string hard = value.is_string() ? value.get<std::string>() : DumpJson(value);
    std::string& all = name.starts_with("limits.") ? limits : requests;
    all += fmt::format("{}{}: {}/{}", all.empty() ? "" : ", ", name, used, hard);
  }
  return {NameOf(object), requests, limits, ObjectAge(object, now)};
}

json PriorityClassCells(const json& object, Time now) {
  return {NameOf(object),
          IntegerAt(object, {"value"}),
          BoolAt(object, {"globalDefault"}),
          ObjectAge(object, now),
          TextAt(object, {"preemptionPolicy"})};
}

json LeaseCells(const json& object, Time now) {
  return {NameOf(object), TextAt(object, {"spec", "holderIdentity"}), ObjectAge(object, now)};
}

std::string AmountOrMissing(const json& spec, std::string_view key) {
  const json* amount = FindAt(spec, {key});
  if (amount == nullptr) return "N/A";
  return amount->is_string() ? amount->get<std::string>() : DumpJson(*amount);
}

json BudgetCells(const json& object, Time now) {
  const json& spec = ObjectAt(object, {"spec"});
  return {NameOf(object),
          AmountOrMissing(spec, "minAvailable"),
          AmountOrMissing(spec, "maxUnavailable"),
          IntegerAt(object, {"status", "disruptionsAllowed"}),
          ObjectAge(object, now)};
}

std::vector<Column> EventColumns() {
  std::vector<Column> columns = NameAnd({"Last Seen",
                                         "Type",
                                         "Reason",
                                         "Object",
                                         "Subobject+",
                                         "Source+",
                                         "Message",
                                         "First Seen+",
                                         "Count+",
                                         "Name+"});
  columns.erase(columns.begin());
  columns.back().format = "name";
  return columns;
}

}  // namespace

std::vector<KindColumns> CoreColumns() {
  return {
      {"",
       "Pod",
       NameAnd({"Ready",
                "Status",
                "Restarts",
                "Age",
                "IP+",
                "Node+",
                "Nominated Node+",
                "Readiness Gates+"}),
       PodCells},
      {"",
       "Node",
       NameAnd({"Status",
                "Roles",
                "Age",
                "Version",
                "Internal-IP+",
                "External-IP+",
                "OS-Image+",
                "Kernel-Version+",
                "Container-Runtime+"}),
       NodeCells},
      {"", "Namespace", NameAnd({"Status", "Age"}), NamespaceCells},
      {"", "Event", EventColumns(), EventCells},
      {"", "ConfigMap", NameAnd({"Data", "Age"}), ConfigMapCells},
      {"", "Secret", NameAnd({"Type", "Data#", "Age"}), SecretCells},
      {"",
       "Service",
       NameAnd({"Type", "Cluster-IP", "External-IP", "Port(s)", "Age", "Selector+"}),
       ServiceCells},
      {"", "ServiceAccount", NameAnd({"Secrets#", "Age"}), ServiceAccountCells},
      {"", "ResourceQuota", NameAnd({"Request", "Limit", "Age"}), QuotaCells},
      {"scheduling.k8s.io",
       "PriorityClass",
       NameAnd({"Value#", "Global-Default", "Age", "PreemptionPolicy"}),
       PriorityClassCells},
      {"coordination.k8s.io", "Lease", NameAnd({"Holder", "Age"}), LeaseCells},
      {"policy",
       "PodDisruptionBudget",
       NameAnd({"Min Available", "Max Unavailable", "Allowed Disruptions#", "Age"}),
       BudgetCells},
  };
}

}  // namespace strata::apiserver
