#include "report/render_topology.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "convert/amounts.h"
#include "json/dump.h"
#include "model/amount_format.h"
#include "model/hypernode_spec.h"

namespace strata {
namespace {

using Align = TextTable::Align;
using Cell = TextTable::Cell;
using Column = TextTable::Column;
using Json = nlohmann::ordered_json;

std::string Upper(std::string_view text) {
  std::string upper(text);
  for (char& c : upper) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
  return upper;
}

// "GPU" for nvidia.com/gpu, the whole name where two resources would share it.
std::vector<std::string> Titles(const std::vector<std::string>& resources) {
  std::map<std::string, int> count;
  for (const std::string& name : resources) ++count[name.substr(name.rfind('/') + 1)];
  std::vector<std::string> titles;
  for (const std::string& name : resources) {
    const std::string last = name.substr(name.rfind('/') + 1);
    titles.push_back(count[last] == 1 ? Upper(last) : name);
  }
  return titles;
}

// What people should know of the nodes: "1 cordoned, 2 not ready".
std::string NoteOf(const TopologyReport::Row& row) {
  std::vector<std::string> parts;
  if (row.cordoned > 0) parts.push_back(fmt::format("{} cordoned", row.cordoned));
  if (row.not_ready > 0) parts.push_back(fmt::format("{} not ready", row.not_ready));
  return fmt::format("{}", fmt::join(parts, ", "));
}

// Which of the columns that only some trees need there are.
struct Extras {
  bool label = false;
  bool note = false;
  bool fit = false;
};

Extras ExtrasOf(const TopologyReport& report, FitColumn fit_column) {
  Extras extras{.label = false, .note = false, .fit = fit_column == FitColumn::kShow};
  for (const TopologyReport::Row& row : report.rows) {
    extras.label = extras.label || !row.label.empty();
    extras.note = extras.note || row.cordoned + row.not_ready > 0;
  }
  return extras;
}

// Members go first where there is no room, then memory, then CPUs where there are devices.
std::vector<Column> TreeColumns(const TopologyReport& report, const Extras& extras) {
  std::vector<Column> columns = {{"HYPERNODE", Align::kLeft, 0, 16}};
  if (extras.label) columns.push_back({"LABEL", Align::kLeft, 0, 8});
  columns.push_back({"TIER"});
  columns.push_back({"NODES", Align::kRight});
  const std::vector<std::string> titles = Titles(report.resources);
  const bool devices = titles.size() > 2;
  for (std::size_t i = 0; i < titles.size(); ++i) {
    const int spare = i == 1 ? 3 : i == 0 && devices ? 2 : 0;
    columns.push_back({titles[i] + " USED", Align::kRight, spare});
    columns.push_back({"FREE", Align::kRight, spare});
  }
  if (extras.fit) columns.push_back({"PODS FIT", Align::kRight});
  if (extras.note) columns.push_back({"NOTE", Align::kLeft, 0, 10});
  columns.push_back({"MEMBERS", Align::kLeft, 4});
  return columns;
}

std::string LooseNodes(const TopologyReport& report, const TextStyle& style) {
  if (report.loose.empty()) return "";
  constexpr std::size_t kShown = 8;
  const std::size_t shown = std::min(report.loose.size(), kShown);
  std::string text = fmt::format("In no HyperNode ({} of the nodes):", report.loose.size());
  for (std::size_t i = 0; i < shown; ++i) text += " " + report.loose[i];
  if (shown < report.loose.size()) text += " …";
  return Wrap(text, 0, style);
}

std::string Members(const TopologyReport::Row& row) {
  std::string text = fmt::format("{}", fmt::join(row.members, " "));
  if (!row.members.empty() && row.nodes > row.members.size()) text += " …";
  return text;
}

Cell TierCell(const TopologyReport::Row& row) {
  if (row.tier_name.empty()) return {std::to_string(row.tier)};
  return {fmt::format("{} {}", row.tier, row.tier_name)};
}

// "0-3,5": runs of numbers in short.
std::string Ranges(const std::vector<std::int32_t>& numbers) {
  std::string text;
  for (std::size_t i = 0; i < numbers.size();) {
    std::size_t last = i;
    while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1) ++last;
    if (!text.empty()) text += ',';
    text += std::to_string(numbers[i]);
    if (last > i) text += (last == i + 1 ? "," : "-") + std::to_string(numbers[last]);
    i = last + 1;
  }
  return text;
}

std::string RenderGpus(const TopologyReport& report, const TextStyle& style) {
  constexpr std::size_t kShown = 50;
  TextTable table(
      {{"NODE"}, {"GPUS", Align::kRight}, {"FREE", Align::kRight}, {"JOINED BY NVLINK"}});
  const std::size_t shown = std::min(report.gpus.size(), kShown);
  for (std::size_t i = 0; i < shown; ++i) {
    const TopologyReport::GpuNode& node = report.gpus[i];
    std::vector<std::string> sets;
    for (const std::vector<std::int32_t>& set : node.sets) sets.push_back(Ranges(set));
    table.AddRow({{node.node, node.problem.empty() ? Ink::kPlain : Ink::kRed},
                  {std::to_string(node.gpus)},
                  {std::to_string(node.free), node.free > 0 ? Ink::kGreen : Ink::kDim},
                  {fmt::format("{}", fmt::join(sets, " | "))}});
    if (!node.problem.empty()) table.AddText(Wrap(node.problem, 3, style));
  }
  std::string out = "\nFree GPUs by node:\n\n" + table.Render(style);
  if (shown < report.gpus.size()) {
    out += fmt::format("and {} more nodes; -o json has them all\n", report.gpus.size() - shown);
  }
  return out;
}

Json ToJson(const TopologyReport& report, const std::vector<Amount>& amounts) {
  Json json = Json::object();
  for (std::size_t i = 0; i < report.resources.size(); ++i) {
    json[report.resources[i]] = ToQuantity(report.resources[i], amounts[i]).ToString();
  }
  return json;
}

Json ToJson(const TopologyReport& report) {
  Json json = Json::object();
  json["pod"] = Json::object();
  for (const auto& [name, quantity] : report.pod) json["pod"][name] = quantity.ToString();
  json["tiers"] = Json::array();
  for (const TopologyReport::TierFit& fit : report.tiers) {
    json["tiers"].push_back({{"tier", fit.tier},
                             {"tierName", fit.tier_name},
                             {"hyperNode", fit.hypernode},
                             {"pods", fit.pods}});
  }
  json["hyperNodes"] = Json::array();
  for (const TopologyReport::Row& row : report.rows) {
    json["hyperNodes"].push_back({{"name", row.name},
                                  {"tier", row.tier},
                                  {"tierName", row.tier_name},
                                  {"parent", row.parent},
                                  {"label", row.label},
                                  {"nodes", row.nodes},
                                  {"cordoned", row.cordoned},
                                  {"notReady", row.not_ready},
                                  {"ready", row.ready},
                                  {"reason", row.reason},
                                  {"used", ToJson(report, row.used)},
                                  {"free", ToJson(report, row.free)},
                                  {"pods", row.pods}});
  }
  json["nodesInNoHyperNode"] = report.loose;
  for (const TopologyReport::GpuNode& node : report.gpus) {
    json["gpus"].push_back({{"node", node.node},
                            {"gpus", node.gpus},
                            {"free", node.free},
                            {"freeSets", node.sets},
                            {"problem", node.problem}});
  }
  if (report.fragmentation) json["fragmentation"] = ToJson(*report.fragmentation);
  json["topologyReady"] = report.ready;
  return json;
}

}  // namespace

std::string ShapeText(const objects::ResourceList& pod) {
  std::vector<std::string> parts;
  for (const auto& [name, amount] : pod) parts.push_back(name + "=" + amount.ToString());
  return parts.empty() ? "nothing" : fmt::format("{}", fmt::join(parts, ","));
}

std::string RenderTree(const TopologyReport& report, FitColumn fit_column, const TextStyle& style) {
  const Extras extras = ExtrasOf(report, fit_column);
  TextTable table(TreeColumns(report, extras));
  TreeBranches branches;
  for (const TopologyReport::Row& row : report.rows) {
    std::vector<Cell> cells = {
        {branches.Next(row) + TreeName(row.name), row.ready ? Ink::kPlain : Ink::kRed}};
    if (extras.label) cells.push_back({row.label});
    cells.push_back(TierCell(row));
    cells.push_back({std::to_string(row.nodes)});
    for (std::size_t i = 0; i < report.resources.size(); ++i) {
      cells.push_back({FormatNumber(report.resources[i], row.used[i])});
      cells.push_back({FormatNumber(report.resources[i], row.free[i]),
                       row.free[i] > 0 ? Ink::kGreen : Ink::kDim});
    }
    if (extras.fit) cells.push_back({std::to_string(row.pods), Ink::kBold});
    if (extras.note) cells.push_back({NoteOf(row), Ink::kYellow});
    cells.push_back({Members(row), Ink::kDim});
    table.AddRow(std::move(cells));
    if (!row.reason.empty()) table.AddText(Wrap(row.reason, 3 * row.depth + 3, style));
  }
  return table.Render(style) + HiddenRows(report.hidden, report.depth) + LooseNodes(report, style);
}

std::string RenderTable(const TopologyReport& report, const TextStyle& style) {
  std::string out = RenderTree(report, FitColumn::kShow, style);
  if (!report.gpus.empty()) out += RenderGpus(report, style);
  out += fmt::format("\nPods of {} that would fit now as one gang:\n\n", ShapeText(report.pod));
  TextTable table({{"TIER"}, {"PODS", Align::kRight}, {"MOST ROOM IN"}});
  for (const TopologyReport::TierFit& fit : report.tiers) {
    const bool whole = fit.hypernode == kTopHyperNodeName;
    std::string tier = whole ? "any" : std::to_string(fit.tier);
    if (!whole && !fit.tier_name.empty()) tier += " " + fit.tier_name;
    table.AddRow({{tier},
                  {std::to_string(fit.pods), fit.pods > 0 ? Ink::kGreen : Ink::kYellow},
                  {TreeName(fit.hypernode)}});
  }
  out += table.Render(style);
  if (report.fragmentation) out += RenderFragmentation(*report.fragmentation, style);
  if (!report.ready) {
    out += "\n" +
           Paint("Some HyperNodes are invalid; the lines below their names say why.",
                 Ink::kYellow,
                 style) +
           "\n";
  }
  return out;
}

std::string RenderJson(const TopologyReport& report) {
  return DumpPrettyJson(ToJson(report)) + "\n";
}

}  // namespace strata
