#include "replay/fgd/fill_report.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/plural.h"
#include "json/dump.h"
#include "replay/formats/table.h"

namespace strata::replay::fgd {
namespace {

using Json = nlohmann::ordered_json;

// Means over seeds, by per cent asked for; of the seeds that have the point.
std::vector<FillPoint> MeanCurve(const std::vector<const FillRun*>& runs) {
  std::vector<FillPoint> curve;
  for (const FillRun* run : runs) {
    const auto& points = run->result.points;
    if (curve.size() < points.size()) curve.resize(points.size());
    for (std::size_t i = 0; i < points.size(); ++i) {
      if (points[i].arrivals == 0) continue;
      ++curve[i].arrivals;  // seeds
      curve[i].allocated += points[i].allocated;
      curve[i].fragmented += points[i].fragmented;
    }
  }
  for (FillPoint& point : curve) {
    if (point.arrivals == 0) continue;
    point.allocated /= static_cast<double>(point.arrivals);
    point.fragmented /= static_cast<double>(point.arrivals);
  }
  return curve;
}

double DeviationAt(std::size_t per_cent, const std::vector<const FillRun*>& runs, double mean) {
  double squares = 0;
  std::size_t count = 0;
  for (const FillRun* run : runs) {
    if (per_cent >= run->result.points.size()) continue;
    const FillPoint& point = run->result.points[per_cent];
    if (point.arrivals == 0) continue;
    squares += (point.allocated - mean) * (point.allocated - mean);
    ++count;
  }
  return count < 2 ? 0 : std::sqrt(squares / static_cast<double>(count - 1));
}

FillRow RowOf(const FillReport& report, const std::vector<const FillRun*>& runs) {
  FillRow row{.list = report.lists[runs.front()->list].name,
              .rule = runs.front()->rule,
              .seeds = static_cast<std::int64_t>(runs.size()),
              .curve = MeanCurve(runs)};
  const auto target = static_cast<std::size_t>(std::lround(report.target * 100));
  // A target that no list reaches exactly: the last arrivals there are.
  std::size_t at = std::min(target, row.curve.empty() ? 0 : row.curve.size() - 1);
  while (at > 0 && row.curve[at].arrivals == 0) --at;
  if (!row.curve.empty()) {
    row.allocated = row.curve[at].allocated * 100;
    row.fragmented = row.curve[at].fragmented * 100;
    row.deviation = DeviationAt(at, runs, row.curve[at].allocated) * 100;
  }
  for (const FillReport::Published& one : report.published) {
    if (one.list == row.list && one.rule == row.rule.published &&
        one.load == static_cast<std::int64_t>(target)) {
      row.published = one;
    }
  }
  return row;
}

std::string SentenceAbout(const std::string& list, const std::vector<FillRow>& rows) {
  const FillRow* best = nullptr;
  const FillRow* worst = nullptr;
  for (const FillRow& row : rows) {
    if (row.list != list) continue;
    if (best == nullptr || row.allocated > best->allocated) best = &row;
    if (worst == nullptr || row.allocated < worst->allocated) worst = &row;
  }
  if (best == nullptr) return "";
  if (best == worst) {
    return fmt::format(
        "List {}: {} allocated {:.2f} % of all GPUs.", list, best->rule.name, best->allocated);
  }
  return fmt::format("List {}: {} allocated most, {:.2f} % of all GPUs; {} least, {:.2f} %.",
                     list,
                     best->rule.name,
                     best->allocated,
                     worst->rule.name,
                     worst->allocated);
}

std::string ComparisonWithPublished(const std::vector<FillRow>& rows) {
  double worst = 0;
  const FillRow* where = nullptr;
  for (const FillRow& row : rows) {
    if (!row.published) continue;
    const double difference = std::abs(row.allocated - row.published->allocated);
    if (where != nullptr && difference <= worst) continue;
    worst = difference;
    where = &row;
  }
  if (where == nullptr) return "";
  return fmt::format("At most {:.2f} points from what the authors published ({} on {}).",
                     worst,
                     where->rule.name,
                     where->list);
}

// A decimal number of per cent.
Result<double> PerCent(const Table& table, std::string_view column) {
  const auto thousandths = ParseSeconds(table.Text(column));
  if (!thousandths) return table.Want(column, "a number of per cent");
  return static_cast<double>(*thousandths) / 1000;
}

// "+0.12"; what rounds to zero has no minus.
std::string Signed(double points) {
  constexpr double kHalfStep = 0.005;
  return fmt::format("{:+.2f}", std::abs(points) < kHalfStep ? 0.0 : points);
}

double Rounded(double value) {
  constexpr double kSteps = 1e6;
  return std::round(value * kSteps) / kSteps;
}

Json CurveOf(const FillRow& row) {
  Json curve = Json::array();
  for (std::size_t i = 0; i < row.curve.size(); ++i) {
    if (row.curve[i].arrivals == 0) continue;
    Json point;
    point["asked_percent"] = i;
    point["allocated_percent"] = Rounded(row.curve[i].allocated * 100);
    point["fragmented_percent"] = Rounded(row.curve[i].fragmented * 100);
    curve.push_back(std::move(point));
  }
  return curve;
}

}  // namespace

std::vector<FillRow> RowsOf(const FillReport& report) {
  std::vector<std::pair<std::size_t, std::string>> order;
  std::map<std::pair<std::size_t, std::string>, std::vector<const FillRun*>> runs;
  for (const FillRun& run : report.runs) {
    const std::pair<std::size_t, std::string> key(run.list, run.rule.name);
    if (!runs.contains(key)) order.push_back(key);
    runs[key].push_back(&run);
  }
  std::vector<FillRow> rows;
  rows.reserve(order.size());
  for (const auto& key : order) rows.push_back(RowOf(report, runs[key]));
  return rows;
}

std::string ListNameOf(std::string_view path) {
  if (const auto slash = path.rfind('/'); slash != std::string_view::npos) {
    path.remove_prefix(slash + 1);
  }
  for (const std::string_view suffix : {".gz", ".csv"}) {
    if (path.ends_with(suffix)) path.remove_suffix(suffix.size());
  }
  const auto word = path.rfind('_');
  return std::string(word == std::string_view::npos ? path : path.substr(word + 1));
}

Result<std::vector<FillReport::Published>> ReadPublished(std::string_view path,
                                                         std::string_view text) {
  TRY_ASSIGN(Table table, Table::Open(path, text));
  for (const char* column : {"pod_list",
                             "policy",
                             "load_pct",
                             "alloc_pct_mean",
                             "alloc_pct_sd",
                             "frag_pct_of_capacity_mean"}) {
    if (!table.Has(column)) return table.Bad(column, "missing from the header");
  }
  std::vector<FillReport::Published> all;
  while (true) {
    TRY_ASSIGN(const bool more, table.Next());
    if (!more) return all;
    FillReport::Published& one = all.emplace_back();
    one.list = table.Text("pod_list");
    one.rule = table.Text("policy");
    TRY_ASSIGN(one.load, table.Count("load_pct", 0));
    TRY_ASSIGN(one.allocated, PerCent(table, "alloc_pct_mean"));
    TRY_ASSIGN(one.deviation, PerCent(table, "alloc_pct_sd"));
    TRY_ASSIGN(one.fragmented, PerCent(table, "frag_pct_of_capacity_mean"));
  }
}

std::string RenderFillTable(const FillReport& report, const TextStyle& style) {
  using Align = TextTable::Align;
  const std::vector<FillRow> rows = RowsOf(report);
  TextTable table({{"LIST", Align::kLeft},
                   {"POLICY", Align::kLeft},
                   {"ALLOCATED", Align::kRight},
                   {"SD", Align::kRight},
                   {"PUBLISHED", Align::kRight},
                   {"DIFFERENCE", Align::kRight},
                   {"FRAGMENTED", Align::kRight},
                   {"PUBLISHED", Align::kRight}});
  for (const FillRow& row : rows) {
    const auto& published = row.published;
    table.AddRow({{row.list},
                  {row.rule.name},
                  {fmt::format("{:.2f} %", row.allocated)},
                  {fmt::format("{:.2f}", row.deviation)},
                  {published ? fmt::format("{:.2f} %", published->allocated) : ""},
                  {published ? Signed(row.allocated - published->allocated) : ""},
                  {fmt::format("{:.2f} %", row.fragmented)},
                  {published ? fmt::format("{:.2f} %", published->fragmented) : ""}});
  }
  std::string out;
  for (const FillReport::List& list : report.lists) {
    out += Wrap(SentenceAbout(list.name, rows), 0, style);
  }
  const std::string comparison = ComparisonWithPublished(rows);
  if (!comparison.empty()) out += Wrap(comparison, 0, style);
  out += "\n" + table.Render(style) + "\n";
  for (const FillReport::List& list : report.lists) {
    out +=
        Wrap(fmt::format("List {}: {} in {}, of which {} are 95 % of the pods; it asks for {:.1f} "
                         "% of {} GPUs on {}.",
                         list.name,
                         Plural(static_cast<std::uint64_t>(list.pods), "pod"),
                         Plural(static_cast<std::uint64_t>(list.kinds), "kind"),
                         list.typical,
                         list.asked * 100,
                         report.gpus,
                         Plural(static_cast<std::uint64_t>(report.nodes), "node")),
             0,
             style);
  }
  out +=
      Wrap(fmt::format("Pods come until they ask for {:g} % of all GPUs; none ends, and one that "
                       "finds no place is dropped. ALLOCATED and FRAGMENTED are shares of all "
                       "GPUs when that is reached, means over seeds; SD is the deviation.",
                       report.target * 100),
           0,
           style);
  out += Wrap(
      "Policies named rule: are our reading of the authors' program, not that program; conf: is "
      "the scheduler itself with that configuration.",
      0,
      style);
  for (const FillRun& run : report.runs) {
    for (const std::string& fault : run.result.faults) {
      out += fmt::format("fault: {} (seed {}): {}\n", run.rule.name, run.seed, fault);
    }
  }
  return out;
}

std::string RenderFillJson(const FillReport& report) {
  Json json;
  json["version"] = report.version;
  json["cluster"] = report.cluster;
  json["cluster_sha256"] = report.cluster_sha256;
  json["nodes"] = report.nodes;
  json["gpus"] = report.gpus;
  json["target_percent"] = Rounded(report.target * 100);
  json["lists"] = Json::array();
  for (const FillReport::List& list : report.lists) {
    Json one;
    one["name"] = list.name;
    one["sha256"] = list.sha256;
    one["pods"] = list.pods;
    one["kinds"] = list.kinds;
    one["typical_kinds"] = list.typical;
    one["asked_percent"] = Rounded(list.asked * 100);
    json["lists"].push_back(std::move(one));
  }
  json["rows"] = Json::array();
  for (const FillRow& row : RowsOf(report)) {
    Json one;
    one["list"] = row.list;
    one["policy"] = row.rule.name;
    one["rule"] = row.rule.says;
    one["seeds"] = row.seeds;
    one["allocated_percent"] = Rounded(row.allocated);
    one["allocated_deviation"] = Rounded(row.deviation);
    one["fragmented_percent"] = Rounded(row.fragmented);
    if (row.published) {
      one["published_allocated_percent"] = row.published->allocated;
      one["published_fragmented_percent"] = row.published->fragmented;
    }
    one["curve"] = CurveOf(row);
    json["rows"].push_back(std::move(one));
  }
  return DumpPrettyJson(json) + "\n";
}

}  // namespace strata::replay::fgd
