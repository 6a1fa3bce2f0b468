#include "inspect/usage_report.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "convert/amounts.h"
#include "json/dump.h"
#include "model/amount_format.h"
#include "model/constraints.h"

namespace strata::inspect {
namespace {

using Json = nlohmann::ordered_json;
using Align = TextTable::Align;

// cpu, memory, pods, and the devices (names with a '/') that a node has.
std::vector<ResourceId> ShownIds(const ClusterState& state) {
  std::vector<ResourceId> ids = {kCpu, kMemory, kPods};
  const auto total = state.sums().Allocatable(state.tree().top());
  for (const ResourceId id : state.resource_names().ByName()) {
    const bool device = state.resource_names().name(id).find('/') != std::string::npos;
    if (device && id.index() < total.size() && total[id.index()] > 0) ids.push_back(id);
  }
  return ids;
}

std::vector<Amount> Pick(std::span<const Amount> amounts, const std::vector<ResourceId>& ids) {
  std::vector<Amount> picked;
  picked.reserve(ids.size());
  for (const ResourceId id : ids) {
    picked.push_back(id.index() < amounts.size() ? amounts[id.index()] : 0);
  }
  return picked;
}

std::string NoteOf(const NodeSpec& node) {
  if (node.unschedulable) return "cordoned";
  const Taint* taint = FirstUntolerated(node.taints, {});
  return taint == nullptr ? "" : "taint " + taint->key;
}

// "12%"; "-" where there is nothing to take.
std::string Percent(Amount used, Amount of) {
  if (of <= 0) return "-";
  return fmt::format("{:.0f}%", 100.0 * static_cast<double>(used) / static_cast<double>(of));
}

Ink InkOf(Amount used, Amount of) {
  return used >= of && of > 0 ? Ink::kYellow : Ink::kPlain;
}

std::string Title(std::string_view resource) {
  std::string title(resource.substr(resource.rfind('/') + 1));
  for (char& c : title) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
  return title;
}

void AddUse(const UsageReport& report,
            const std::vector<Amount>& used,
            const std::vector<Amount>& of,
            std::vector<TextTable::Cell>& cells) {
  for (std::size_t i = 0; i < report.resources.size(); ++i) {
    const std::string& name = report.resources[i];
    cells.push_back({FormatNumber(name, used[i]), InkOf(used[i], of[i])});
    cells.push_back({FormatNumber(name, of[i])});
    cells.push_back({Percent(used[i], of[i]), InkOf(used[i], of[i])});
  }
}

std::string NodeTable(const UsageReport& report, const TextStyle& style) {
  std::vector<TextTable::Column> columns = {{"NODE"}, {"LEAF"}};
  for (const std::string& name : report.resources) {
    columns.push_back({Title(name), Align::kRight});
    columns.push_back({"OF", Align::kRight});
    columns.push_back({"USED", Align::kRight});
  }
  columns.push_back({"NOTE"});
  TextTable table(std::move(columns));
  const auto add = [&](const UsageReport::Node& node) {
    std::vector<TextTable::Cell> cells = {{node.name}, {node.leaf.empty() ? "-" : node.leaf}};
    AddUse(report, node.used, node.allocatable, cells);
    cells.push_back({node.note, Ink::kYellow});
    table.AddRow(std::move(cells));
  };
  for (const UsageReport::Node& node : report.nodes) add(node);
  add({.name = "(cluster)",
       .leaf = {},
       .note = {},
       .used = report.used,
       .allocatable = report.allocatable});
  return table.Render(style);
}

std::string QueueTable(const UsageReport& report, const TextStyle& style) {
  std::vector<TextTable::Column> columns = {{"QUEUE"}, {"STATE"}};
  for (const std::string& name : report.resources) {
    columns.push_back({Title(name), Align::kRight});
    columns.push_back({"WAITING", Align::kRight});
    columns.push_back({"OF ALL", Align::kRight});
  }
  TextTable table(std::move(columns));
  for (const UsageReport::Queue& queue : report.queues) {
    std::vector<TextTable::Cell> cells = {
        {queue.name}, {queue.state, queue.state == "Open" ? Ink::kGreen : Ink::kYellow}};
    for (std::size_t i = 0; i < report.resources.size(); ++i) {
      const std::string& name = report.resources[i];
      cells.push_back({FormatNumber(name, queue.allocated[i])});
      cells.push_back({FormatNumber(name, queue.pending[i])});
      cells.push_back({Percent(queue.allocated[i], report.allocatable[i])});
    }
    table.AddRow(std::move(cells));
  }
  return table.Render(style);
}

Json AmountsJson(const UsageReport& report, const std::vector<Amount>& amounts) {
  Json json = Json::object();
  for (std::size_t i = 0; i < report.resources.size(); ++i) {
    json[report.resources[i]] = ToQuantity(report.resources[i], amounts[i]).ToString();
  }
  return json;
}

}  // namespace

UsageReport MakeUsageReport(const ClusterState& state) {
  UsageReport report;
  const HyperNodeTree& tree = state.tree();
  const std::vector<ResourceId> ids = ShownIds(state);
  for (const ResourceId id : ids) report.resources.push_back(state.resource_names().name(id));
  for (const NodeId id : state.nodes().all()) {
    UsageReport::Node& node = report.nodes.emplace_back();
    node.name = state.nodes().spec(id).name;
    const HyperNodeId leaf = tree.LeafOf(tree.ChainOf(id));
    if (leaf != tree.top()) node.leaf = tree.at(leaf).name;
    node.note = NoteOf(state.nodes().spec(id));
    node.used = Pick(state.nodes().Used(id), ids);
    node.allocatable = Pick(state.nodes().Allocatable(id), ids);
  }
  std::sort(report.nodes.begin(), report.nodes.end(), [](const auto& a, const auto& b) {
    return a.name < b.name;
  });
  for (const QueueId id : state.workload().queues()) {
    const strata::Queue& queue = state.workload().queue(id);
    report.queues.push_back({.name = queue.spec.name,
                             .state = queue.spec.state,
                             .allocated = Pick(queue.allocated.amounts(), ids),
                             .pending = Pick(queue.pending.Clamped().amounts(), ids)});
  }
  report.used = Pick(state.sums().Used(tree.top()), ids);
  report.allocatable = Pick(state.sums().Allocatable(tree.top()), ids);
  return report;
}

std::string RenderTable(const UsageReport& report, const TextStyle& style) {
  return NodeTable(report, style) + "\n" + QueueTable(report, style);
}

std::string RenderJson(const UsageReport& report) {
  Json json = Json::object();
  Json& nodes = json["nodes"] = Json::array();
  for (const UsageReport::Node& node : report.nodes) {
    nodes.push_back({{"name", node.name},
                     {"leaf", node.leaf},
                     {"note", node.note},
                     {"used", AmountsJson(report, node.used)},
                     {"allocatable", AmountsJson(report, node.allocatable)}});
  }
  Json& queues = json["queues"] = Json::array();
  for (const UsageReport::Queue& queue : report.queues) {
    queues.push_back({{"name", queue.name},
                      {"state", queue.state},
                      {"allocated", AmountsJson(report, queue.allocated)},
                      {"pending", AmountsJson(report, queue.pending)}});
  }
  json["used"] = AmountsJson(report, report.used);
  json["allocatable"] = AmountsJson(report, report.allocatable);
  return DumpPrettyJson(json) + "\n";
}

}  // namespace strata::inspect
