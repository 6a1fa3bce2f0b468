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

constexpr std::string_view kClusterLabel = "(cluster)";

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

std::string Label(const TopologyReport::Row& row) {
  return row.name == kTopHyperNodeName ? std::string(kClusterLabel) : row.name;
}

// The branches before each name. `open[d]` says whether the line at depth d goes on below.
class Branches {
 public:
  std::string Next(const TopologyReport::Row& row) {
    if (row.depth == 0) return "";
    open_.resize(row.depth + 1);
    std::string text;
    for (std::size_t depth = 1; depth < row.depth; ++depth) text += open_[depth] ? "│  " : "   ";
    open_[row.depth] = !row.last;
    return text + (row.last ? "└─ " : "├─ ");
  }

 private:
  std::vector<bool> open_;
};

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

std::string ShapeText(const objects::ResourceList& pod) {
  std::vector<std::string> parts;
  for (const auto& [name, amount] : pod) parts.push_back(name + "=" + amount.ToString());
  return parts.empty() ? "nothing" : fmt::format("{}", fmt::join(parts, ","));
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
                                  {"nodes", row.nodes},
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
  json["topologyReady"] = report.ready;
  return json;
}

}  // namespace

std::string RenderTree(const TopologyReport& report, FitColumn fit_column, const TextStyle& style) {
  std::vector<Column> columns = {{"HYPERNODE"}, {"TIER"}, {"NODES", Align::kRight}};
  for (const std::string& title : Titles(report.resources)) {
    columns.push_back({title + " USED", Align::kRight});
    columns.push_back({"FREE", Align::kRight});
  }
  const bool show_fit = fit_column == FitColumn::kShow;
  if (show_fit) columns.push_back({"PODS FIT", Align::kRight});
  columns.push_back({"MEMBERS"});
  TextTable table(std::move(columns));
  Branches branches;
  for (const TopologyReport::Row& row : report.rows) {
    std::vector<Cell> cells = {
        {branches.Next(row) + Label(row), row.ready ? Ink::kPlain : Ink::kRed},
        TierCell(row),
        {std::to_string(row.nodes)}};
    for (std::size_t i = 0; i < report.resources.size(); ++i) {
      cells.push_back({FormatNumber(report.resources[i], row.used[i])});
      cells.push_back({FormatNumber(report.resources[i], row.free[i]),
                       row.free[i] > 0 ? Ink::kGreen : Ink::kDim});
    }
    if (show_fit) cells.push_back({std::to_string(row.pods), Ink::kBold});
    cells.push_back({Members(row), Ink::kDim});
    table.AddRow(std::move(cells));
    if (!row.reason.empty()) table.AddText(Wrap(row.reason, 3 * row.depth + 3, style));
  }
  return table.Render(style) + LooseNodes(report, style);
}

std::string RenderTable(const TopologyReport& report, const TextStyle& style) {
  std::string out = RenderTree(report, FitColumn::kShow, style);
  out += fmt::format("\nPods of {} that would fit now as one gang:\n\n", ShapeText(report.pod));
  TextTable table({{"TIER"}, {"PODS", Align::kRight}, {"MOST ROOM IN"}});
  for (const TopologyReport::TierFit& fit : report.tiers) {
    const bool whole = fit.hypernode == kTopHyperNodeName;
    std::string tier = whole ? "any" : std::to_string(fit.tier);
    if (!whole && !fit.tier_name.empty()) tier += " " + fit.tier_name;
    table.AddRow({{tier},
                  {std::to_string(fit.pods), fit.pods > 0 ? Ink::kGreen : Ink::kYellow},
                  {whole ? std::string(kClusterLabel) : fit.hypernode}});
  }
  out += table.Render(style);
  if (!report.gpus.empty()) out += RenderGpus(report, style);
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
