#include "discovery/node_report.h"

#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "discovery/infiniband_names.h"
#include "json/access.h"
#include "json/dump.h"
#include "json/parse.h"
#include "objects/meta.h"

namespace strata::discovery {
namespace {

nlohmann::json Written(const AdapterPort& port) {
  nlohmann::json json = {{"device", port.device},
                         {"port", port.port},
                         {"linkLayer", port.link_layer},
                         {"state", port.state},
                         {"rate", port.rate},
                         {"guid", port.guid},
                         {"lid", port.lid},
                         {"subnet", port.subnet}};
  if (!port.leaf.empty()) json["leaf"] = {{"guid", port.leaf}, {"name", port.leaf_name}};
  return json;
}

AdapterPort PortOf(const nlohmann::json& json) {
  return {.device = TextAt(json, {"device"}),
          .port = static_cast<std::int32_t>(IntegerAt(json, {"port"})),
          .link_layer = TextAt(json, {"linkLayer"}),
          .state = TextAt(json, {"state"}),
          .rate = TextAt(json, {"rate"}),
          .guid = TextAt(json, {"guid"}),
          .lid = static_cast<std::int32_t>(IntegerAt(json, {"lid"})),
          .subnet = TextAt(json, {"subnet"}),
          .leaf = TextAt(json, {"leaf", "guid"}),
          .leaf_name = TextAt(json, {"leaf", "name"})};
}

// Whether it forwards is left out where the neighbour does not say.
nlohmann::json Written(const LldpNeighbour& neighbour) {
  nlohmann::json json = {{"interface", neighbour.interface},
                         {"chassis", neighbour.chassis},
                         {"name", neighbour.name},
                         {"port", neighbour.port}};
  if (neighbour.tells_capabilities) json["forwards"] = neighbour.forwards;
  return json;
}

LldpNeighbour NeighbourOf(const nlohmann::json& json) {
  const nlohmann::json* forwards = FindAt(json, {"forwards"});
  const bool tells = forwards != nullptr && forwards->is_boolean();
  return {.interface = TextAt(json, {"interface"}),
          .chassis = TextAt(json, {"chassis"}),
          .name = TextAt(json, {"name"}),
          .port = TextAt(json, {"port"}),
          .tells_capabilities = tells,
          .forwards = tells && forwards->get<bool>()};
}

nlohmann::json Written(const AdapterDistance& distance) {
  return {{"device", distance.device}, {"gpu", distance.gpu}, {"level", distance.level}};
}

AdapterDistance DistanceOf(const nlohmann::json& json) {
  return {.device = TextAt(json, {"device"}),
          .gpu = TextAt(json, {"gpu"}),
          .level = TextAt(json, {"level"})};
}

// The items of a list in front of one that would make the text longer than it may be.
template <typename Item>
nlohmann::json ThoseThatFit(const std::vector<Item>& items, std::size_t& room) {
  nlohmann::json list = nlohmann::json::array();
  for (const Item& item : items) {
    nlohmann::json written = Written(item);
    const std::size_t size = DumpJson(written).size() + 1;  // and a comma
    if (size > room) break;
    room -= size;
    list.push_back(std::move(written));
  }
  return list;
}

// "S-" and the GUID, as ibnetdiscover calls it.
std::string SwitchId(const std::string& guid) {
  return "S-" + guid;
}

}  // namespace

std::string NodeReportText(const NodeReport& report) {
  constexpr std::string_view kEmpty = R"({"distances":[],"infiniband":[],"lldp":[]})";
  std::size_t room = kMaxReportBytes - kEmpty.size();
  nlohmann::json text;
  text["infiniband"] = ThoseThatFit(report.ports, room);
  text["lldp"] = ThoseThatFit(report.neighbours, room);
  text["distances"] = ThoseThatFit(report.distances, room);
  return DumpJson(text);
}

Result<NodeReport> ReadNodeReport(std::string_view text) {
  if (text.size() > kMaxReportBytes) {
    return Fail(Code::kInvalidArgument, fmt::format("has more than {} bytes", kMaxReportBytes));
  }
  const nlohmann::json root = ParseJsonOrNull(text);
  if (!root.is_object()) return Fail(Code::kInvalidArgument, "is not a JSON object");
  NodeReport report;
  for (const nlohmann::json& item : ListAt(root, {"infiniband"})) {
    report.ports.push_back(PortOf(item));
  }
  for (const nlohmann::json& item : ListAt(root, {"lldp"})) {
    report.neighbours.push_back(NeighbourOf(item));
  }
  for (const nlohmann::json& item : ListAt(root, {"distances"})) {
    report.distances.push_back(DistanceOf(item));
  }
  return report;
}

NodeReports ReportsOf(std::span<const objects::Node> nodes) {
  NodeReports all;
  for (const objects::Node& node : nodes) {
    const std::string* text = objects::Find(node.meta.annotations, kFabricAnnotation);
    if (text == nullptr) {
      all.silent.push_back(node.meta.name);
      continue;
    }
    Result<NodeReport> report = ReadNodeReport(*text);
    if (report) {
      all.reports[node.meta.name] = std::move(*report);
    } else {
      all.problems.push_back(fmt::format(
          "node {}: annotation {} {}", node.meta.name, kFabricAnnotation, report.error().message));
    }
  }
  return all;
}

Fabric FabricOfPorts(const std::map<std::string, NodeReport>& reports) {
  Fabric fabric;
  for (const auto& [node, report] : reports) {
    for (const AdapterPort& port : report.ports) {
      if (port.link_layer == "Ethernet") continue;
      fabric.AddHost(node);
      if (port.state == "DOWN" || port.leaf.empty()) continue;
      const std::string id = SwitchId(port.leaf);
      fabric.AddSwitch(id, SwitchName(port.leaf_name, id));
      fabric.LinkHost(node, id, Fabric::Seen::kByHost);
    }
  }
  return fabric;
}

LldpReports NeighboursOf(const std::map<std::string, NodeReport>& reports) {
  LldpReports all;
  for (const auto& [node, report] : reports) all[node] = report.neighbours;
  return all;
}

}  // namespace strata::discovery
