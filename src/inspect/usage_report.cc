#include "inspect/usage_report.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "convert/amounts.h"
#include "json/dump.h"
#include "model/amount_format.h"
#include "model/constraints.h"
#include "report/names.h"
#include "report/topology_report.h"
#include "sched/need.h"

namespace strata::inspect {
namespace {

using Json = nlohmann::ordered_json;
using Align = TextTable::Align;

std::vector<Amount> Pick(std::span<const Amount> amounts, const std::vector<ResourceId>& ids) {
  std::vector<Amount> picked;
  picked.reserve(ids.size());
  for (const ResourceId id : ids) {
    picked.push_back(id.index() < amounts.size() ? amounts[id.index()] : 0);
  }
  return picked;
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

// Which columns go first where there is no room: percentages, then pods, memory, and CPUs where
// there are devices. By position in `resources`.
constexpr int kSparePercent = 5;
int SpareOf(const UsageReport& report, std::size_t resource) {
  constexpr int kSpare[] = {2, 3, 4};
  const bool devices = report.resources.size() > std::size(kSpare);
  if (resource >= std::size(kSpare) || (resource == 0 && !devices)) return 0;
  return kSpare[resource];
}

std::string TreeTable(const UsageReport& report, const TextStyle& style) {
  std::vector<TextTable::Column> columns = {{"NAME", Align::kLeft, 0, 16},
                                            {"NODES", Align::kRight}};
  const bool labels = std::any_of(
      report.rows.begin(), report.rows.end(), [](const auto& row) { return !row.label.empty(); });
  if (labels) columns.insert(columns.begin() + 1, {"LABEL", Align::kLeft, 0, 8});
  for (std::size_t i = 0; i < report.resources.size(); ++i) {
    const int spare = SpareOf(report, i);
    columns.push_back({Title(report.resources[i]), Align::kRight, spare});
    columns.push_back({"FREE", Align::kRight, spare});
    columns.push_back({"OF", Align::kRight, spare});
    columns.push_back({"USED", Align::kRight, kSparePercent});
  }
  columns.push_back({"NOTE", Align::kLeft, 0, 10});
  TextTable table(std::move(columns));
  TreeBranches branches;
  for (const UsageReport::Row& row : report.rows) {
    std::vector<TextTable::Cell> cells = {{branches.Next(row) + TreeName(row.name)}};
    if (labels) cells.push_back({row.label});
    cells.push_back({row.is_node ? "" : std::to_string(row.nodes)});
    for (std::size_t i = 0; i < report.resources.size(); ++i) {
      const std::string& name = report.resources[i];
      const Ink ink = InkOf(row.used[i], row.allocatable[i]);
      cells.push_back({FormatNumber(name, row.used[i]), ink});
      cells.push_back({FormatNumber(name, row.free[i]), row.free[i] > 0 ? Ink::kGreen : Ink::kDim});
      cells.push_back({FormatNumber(name, row.allocatable[i])});
      cells.push_back({Percent(row.used[i], row.allocatable[i]), ink});
    }
    cells.push_back({row.note, Ink::kYellow});
    table.AddRow(std::move(cells));
  }
  return table.Render(style) + HiddenRows(report.hidden, report.depth);
}

std::string QueueTable(const UsageReport& report, const TextStyle& style) {
  std::vector<TextTable::Column> columns = {{"QUEUE", Align::kLeft, 0, 12}, {"STATE"}};
  for (std::size_t i = 0; i < report.resources.size(); ++i) {
    const int spare = SpareOf(report, i);
    columns.push_back({Title(report.resources[i]), Align::kRight, spare});
    columns.push_back({"WAITING", Align::kRight, spare});
    columns.push_back({"OF ALL", Align::kRight, kSparePercent});
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

UsageReport::Node NodeRow(const ClusterState& state,
                          NodeId id,
                          const std::vector<ResourceId>& ids) {
  const HyperNodeTree& tree = state.tree();
  const NodeSpec& spec = state.nodes().spec(id);
  const HyperNodeId leaf = tree.LeafOf(tree.ChainOf(id));
  UsageReport::Node node{.name = spec.name,
                         .leaf = leaf == tree.top() ? "" : tree.at(leaf).name,
                         .note = NodeNote(spec),
                         .used = Pick(state.nodes().Used(id), ids),
                         .free = Pick(FreeOn(state, id), ids),
                         .allocatable = Pick(state.nodes().Allocatable(id), ids)};
  if (MarkOf(spec) != NodeMark::kOpen) std::fill(node.free.begin(), node.free.end(), 0);
  return node;
}

// Makes the tree of a report from its nodes.
class TreeMaker {
 public:
  TreeMaker(const ClusterState& state, const std::vector<ResourceId>& ids, UsageReport& report)
      : state_(state), tree_(state.tree()), ids_(ids), report_(report) {
    for (const UsageReport::Node& node : report.nodes) nodes_[node.leaf].push_back(&node);
  }

  void Make() {
    AddBelow(tree_.top(), 0);
    MarkLast(report_.rows);
  }

 private:
  void AddBelow(HyperNodeId id, std::size_t depth) {
    const std::size_t at = report_.rows.size();
    UsageReport::Row& row = report_.rows.emplace_back();
    row.name = tree_.at(id).name;
    row.depth = depth;
    row.nodes = tree_.NodesOf(id).size();
    row.used = Pick(state_.sums().Used(id), ids_);
    row.allocatable = Pick(state_.sums().Allocatable(id), ids_);
    row.free = Pick(FreeBelow(state_, id), ids_);
    Close(id, row);
    std::vector<HyperNodeId> children = tree_.at(id).children;
    std::sort(children.begin(), children.end(), [&](HyperNodeId a, HyperNodeId b) {
      return NaturalLess(tree_.at(a).name, tree_.at(b).name);
    });
    for (const HyperNodeId child : children) AddBelow(child, depth + 1);
    const auto own = nodes_.find(id == tree_.top() ? "" : report_.rows[at].name);
    if (own == nodes_.end()) return;
    for (const UsageReport::Node* node : own->second) AddNode(*node, depth + 1);
  }

  // Nothing is free of what takes no pods.
  void Close(HyperNodeId id, UsageReport::Row& row) {
    std::size_t cordoned = 0;
    std::size_t not_ready = 0;
    for (const NodeId node : tree_.NodesOf(id)) {
      const NodeMark mark = MarkOf(state_.nodes().spec(node));
      if (mark == NodeMark::kOpen) continue;
      ++(mark == NodeMark::kCordoned ? cordoned : not_ready);
      const std::vector<Amount> free = Pick(FreeOn(state_, node), ids_);
      for (std::size_t i = 0; i < free.size(); ++i) row.free[i] -= free[i];
    }
    if (cordoned > 0) row.note = fmt::format("{} cordoned", cordoned);
    if (not_ready == 0) return;
    row.note += fmt::format("{}{} not ready", row.note.empty() ? "" : ", ", not_ready);
  }

  void AddNode(const UsageReport::Node& node, std::size_t depth) {
    report_.rows.push_back({.name = node.name,
                            .label = {},
                            .depth = depth,
                            .last = true,
                            .is_node = true,
                            .nodes = 1,
                            .note = node.note,
                            .used = node.used,
                            .free = node.free,
                            .allocatable = node.allocatable});
  }

  const ClusterState& state_;
  const HyperNodeTree& tree_;
  const std::vector<ResourceId>& ids_;
  UsageReport& report_;
  std::map<std::string, std::vector<const UsageReport::Node*>, std::less<>> nodes_;  // by leaf
};

}  // namespace

std::string NodeNote(const NodeSpec& node) {
  std::string note = node.unschedulable ? "cordoned" : "";
  const Taint* taint = FirstUntolerated(node.taints, {});
  if (MarkOf(node) == NodeMark::kNotReady) return note.empty() ? "not ready" : note + ", not ready";
  if (!note.empty() || taint == nullptr) return note;
  return MarkOf(node) == NodeMark::kCordoned ? "cordoned" : "taint " + taint->key;
}

std::vector<ResourceId> ShownResourceIds(const ClusterState& state) {
  std::vector<ResourceId> ids = {kCpu, kMemory, kPods};
  const auto total = state.sums().Allocatable(state.tree().top());
  for (const ResourceId id : state.resource_names().ByName()) {
    const bool device = state.resource_names().name(id).find('/') != std::string::npos;
    if (device && id.index() < total.size() && total[id.index()] > 0) ids.push_back(id);
  }
  return ids;
}

UsageReport MakeUsageReport(const ClusterState& state,
                            const std::vector<objects::HyperNode>& hypernodes) {
  UsageReport report;
  const HyperNodeTree& tree = state.tree();
  const std::vector<ResourceId> ids = ShownResourceIds(state);
  for (const ResourceId id : ids) report.resources.push_back(state.resource_names().name(id));
  for (const NodeId id : state.nodes().all()) report.nodes.push_back(NodeRow(state, id, ids));
  std::sort(report.nodes.begin(), report.nodes.end(), [](const auto& a, const auto& b) {
    return NaturalLess(a.name, b.name);
  });
  for (const QueueId id : state.workload().queues()) {
    const strata::Queue& queue = state.workload().queue(id);
    report.queues.push_back({.name = queue.spec.name,
                             .state = queue.spec.state,
                             .allocated = Pick(queue.allocated.amounts(), ids),
                             .pending = Pick(queue.pending.Clamped().amounts(), ids)});
  }
  TreeMaker(state, ids, report).Make();
  for (const objects::HyperNode& hypernode : hypernodes) {
    for (UsageReport::Row& row : report.rows) {
      if (!row.is_node && row.name == hypernode.meta.name) row.label = DiscoveredLabel(hypernode);
    }
  }
  report.used = Pick(state.sums().Used(tree.top()), ids);
  report.free = report.rows.front().free;
  report.allocatable = Pick(state.sums().Allocatable(tree.top()), ids);
  return report;
}

Status Narrow(const TreeView& view, UsageReport& report) {
  if (!view.under.empty()) {
    TRY(KeepUnder(view.under, report.rows));
    std::set<std::string_view> nodes;
    for (const UsageReport::Row& row : report.rows) {
      if (row.is_node) nodes.insert(row.name);
    }
    std::erase_if(report.nodes, [&](const auto& node) { return !nodes.contains(node.name); });
  }
  if (!view.depth) return {};
  report.depth = *view.depth;
  report.hidden = CutBelow(report.depth, report.rows);
  return {};
}

std::string RenderTable(const UsageReport& report, const TextStyle& style) {
  return TreeTable(report, style) + "\n" + QueueTable(report, style);
}

std::string RenderJson(const UsageReport& report) {
  Json json = Json::object();
  Json& nodes = json["nodes"] = Json::array();
  for (const UsageReport::Node& node : report.nodes) {
    nodes.push_back({{"name", node.name},
                     {"leaf", node.leaf},
                     {"note", node.note},
                     {"used", AmountsJson(report, node.used)},
                     {"free", AmountsJson(report, node.free)},
                     {"allocatable", AmountsJson(report, node.allocatable)}});
  }
  Json& hypernodes = json["hyperNodes"] = Json::array();
  for (const UsageReport::Row& row : report.rows) {
    if (row.is_node) continue;
    hypernodes.push_back({{"name", row.name},
                          {"label", row.label},
                          {"depth", row.depth},
                          {"nodes", row.nodes},
                          {"note", row.note},
                          {"used", AmountsJson(report, row.used)},
                          {"free", AmountsJson(report, row.free)},
                          {"allocatable", AmountsJson(report, row.allocatable)}});
  }
  Json& queues = json["queues"] = Json::array();
  for (const UsageReport::Queue& queue : report.queues) {
    queues.push_back({{"name", queue.name},
                      {"state", queue.state},
                      {"allocated", AmountsJson(report, queue.allocated)},
                      {"pending", AmountsJson(report, queue.pending)}});
  }
  json["used"] = AmountsJson(report, report.used);
  json["free"] = AmountsJson(report, report.free);
  json["allocatable"] = AmountsJson(report, report.allocatable);
  return DumpPrettyJson(json) + "\n";
}

}  // namespace strata::inspect
