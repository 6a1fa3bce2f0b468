#include "simulate/render_compare.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/plural.h"
#include "json/dump.h"
#include "objects/yaml_writer.h"
#include "report/names.h"

namespace strata {
namespace {

using Align = TextTable::Align;
using OrderedJson = nlohmann::ordered_json;
using StandingKind = JobStanding::Kind;

constexpr std::size_t kMinCell = 16;

class FigureTable {
 public:
  explicit FigureTable(TextTable& table) : table_(table) {}

  void Add(const std::string& what, std::int64_t a, std::int64_t b) {
    table_.AddRow({{what},
                   {std::to_string(a)},
                   {std::to_string(b)},
                   {a == b ? "" : fmt::format("{:+}", b - a), Ink::kYellow}});
  }

  // A row for each key of either side, below their sum.
  template <typename Map, typename Title>
  void AddParts(const Map& a, const Map& b, const Title& title) {
    std::set<typename Map::key_type> keys;
    for (const Map* side : {&a, &b}) {
      for (const auto& [key, count] : *side) keys.insert(key);
    }
    const auto count_of = [](const Map& side, const auto& key) {
      const auto it = side.find(key);
      return it == side.end() ? std::int64_t{0} : it->second;
    };
    for (const auto& key : keys) Add("    " + title(key), count_of(a, key), count_of(b, key));
  }

 private:
  TextTable& table_;
};

// The cluster is above all tiers.
constexpr std::int32_t kCluster = std::numeric_limits<std::int32_t>::max();
std::map<std::int32_t, std::int64_t> ByLastTier(std::map<std::int32_t, std::int64_t> by_tier) {
  auto cluster = by_tier.extract(0);
  if (!cluster.empty()) {
    cluster.key() = kCluster;
    by_tier.insert(std::move(cluster));
  }
  return by_tier;
}

std::string RenderFigures(const SideFigures& a, const SideFigures& b, const TextStyle& style) {
  TextTable table({{""}, {"A", Align::kRight}, {"B", Align::kRight}, {"B-A", Align::kRight}});
  FigureTable rows(table);
  rows.Add("nodes", a.nodes, b.nodes);
  if (a.gpus.gpus > 0 || b.gpus.gpus > 0) {
    rows.Add("GPUs", a.gpus.gpus, b.gpus.gpus);
    rows.Add("  used", a.gpus.used, b.gpus.used);
    rows.Add("  free", a.gpus.free, b.gpus.free);
    rows.Add("    stranded", a.gpus.stranded, b.gpus.stranded);
  }
  rows.Add("jobs", a.jobs, b.jobs);
  rows.Add("  placed", a.placed, b.placed);
  rows.AddParts(ByLastTier(a.placed_by_tier), ByLastTier(b.placed_by_tier), [](std::int32_t tier) {
    return tier == kCluster ? std::string("in (cluster)") : fmt::format("in tier {}", tier);
  });
  rows.Add("  waiting", a.waiting, b.waiting);
  rows.AddParts(
      a.waiting_by_reason, b.waiting_by_reason, [](const std::string& word) { return word; });
  rows.Add("pods bound", a.pods_bound, b.pods_bound);
  if (a.pods_evicted > 0 || b.pods_evicted > 0) {
    rows.Add("pods evicted", a.pods_evicted, b.pods_evicted);
  }
  return table.Render(style);
}

Ink InkOf(const JobStanding& standing) {
  if (standing.kind == StandingKind::kPlaced) return Ink::kGreen;
  return standing.kind == StandingKind::kWaiting ? Ink::kYellow : Ink::kDim;
}

std::string RenderJobs(const std::vector<JobDifference>& jobs, const TextStyle& style) {
  TextTable table({{.title = "JOB", .align = Align::kLeft, .spare = 0, .cut_to = kMinCell},
                   {.title = "IN A", .align = Align::kLeft, .spare = 0, .cut_to = kMinCell},
                   {.title = "IN B", .align = Align::kLeft, .spare = 0, .cut_to = kMinCell}});
  for (const JobDifference& one : jobs) {
    table.AddRow({{one.job},
                  {ToText(one.before), InkOf(one.before)},
                  {ToText(one.after), InkOf(one.after)}});
  }
  return table.Render(style);
}

std::string OrDash(const std::string& text) {
  return text.empty() ? "-" : text;
}

// Values may be long, as the list of all plugins: each has a line of its own.
std::string RenderSettings(const std::vector<Comparison::Setting>& settings,
                           const TextStyle& style) {
  std::string text = Paint("SETTINGS", Ink::kBold, style) + "\n";
  for (const Comparison::Setting& one : settings) {
    text += one.name + "\n";
    text += Wrap("A: " + OrDash(one.a), 4, style) + Wrap("B: " + OrDash(one.b), 4, style);
  }
  return text;
}

std::string RenderObjects(const std::vector<Comparison::Objects>& objects, const TextStyle& style) {
  std::string text;
  const auto add = [&](const std::string& kind, std::vector<std::string> names, const char* side) {
    if (names.empty()) return;
    std::sort(names.begin(), names.end(), NaturalLess);
    text +=
        Wrap(fmt::format("only in {}: {}: {}", side, Plural(names.size(), kind), NameSome(names)),
             0,
             style);
  };
  for (const Comparison::Objects& one : objects) {
    add(one.kind, one.only_a, "A");
    add(one.kind, one.only_b, "B");
  }
  return text;
}

// How many jobs only one side places.
std::int64_t PlacedOnlyIn(const std::vector<JobDifference>& jobs,
                          JobStanding JobDifference::*side,
                          JobStanding JobDifference::*other) {
  return std::count_if(jobs.begin(), jobs.end(), [&](const JobDifference& one) {
    return (one.*side).kind == StandingKind::kPlaced && (one.*other).kind != StandingKind::kPlaced;
  });
}

std::string Summary(const Comparison& comparison) {
  const std::vector<JobDifference>& jobs = comparison.jobs;
  if (jobs.empty()) return "Every job stands the same in A and B.";
  const std::int64_t in_a = PlacedOnlyIn(jobs, &JobDifference::before, &JobDifference::after);
  const std::int64_t in_b = PlacedOnlyIn(jobs, &JobDifference::after, &JobDifference::before);
  return fmt::format("{} {} otherwise: {} placed only in A, {} only in B.",
                     Plural(jobs.size(), "job"),
                     jobs.size() == 1 ? "stands" : "stand",
                     in_a,
                     in_b);
}

OrderedJson FiguresJson(const SideFigures& side) {
  OrderedJson tiers = OrderedJson::array();
  for (const auto& [tier, jobs] : side.placed_by_tier) {
    if (tier != 0) tiers.push_back({{"tier", tier}, {"jobs", jobs}});
  }
  const auto whole = side.placed_by_tier.find(0);
  OrderedJson reasons = OrderedJson::array();
  for (const auto& [reason, jobs] : side.waiting_by_reason) {
    reasons.push_back({{"reason", reason}, {"jobs", jobs}});
  }
  return {{"name", side.name},
          {"nodes", side.nodes},
          {"gpus",
           {{"total", side.gpus.gpus},
            {"used", side.gpus.used},
            {"free", side.gpus.free},
            {"stranded", side.gpus.stranded},
            {"wholeNodes", side.gpus.whole_nodes}}},
          {"jobs", side.jobs},
          {"placed", side.placed},
          {"placedByTier", std::move(tiers)},
          {"placedInNoHyperNode", whole == side.placed_by_tier.end() ? 0 : whole->second},
          {"waiting", side.waiting},
          {"waitingByReason", std::move(reasons)},
          {"podsBound", side.pods_bound},
          {"podsEvicted", side.pods_evicted}};
}

OrderedJson StandingJson(const JobStanding& standing) {
  switch (standing.kind) {
    case StandingKind::kAbsent:
      return {{"state", "absent"}};
    case StandingKind::kWaiting:
      return {{"state", "waiting"}, {"reason", standing.reason}};
    case StandingKind::kPlaced:
      break;
  }
  return {{"state", "placed"}, {"hyperNode", standing.hypernode}, {"tier", standing.tier}};
}

OrderedJson ComparisonJson(const Comparison& comparison) {
  OrderedJson json = {{"a", FiguresJson(comparison.a)}, {"b", FiguresJson(comparison.b)}};
  json["jobs"] = OrderedJson::array();
  for (const JobDifference& one : comparison.jobs) {
    const std::size_t slash = one.job.find('/');
    json["jobs"].push_back({{"namespace", one.job.substr(0, slash)},
                            {"name", one.job.substr(slash + 1)},
                            {"a", StandingJson(one.before)},
                            {"b", StandingJson(one.after)}});
  }
  json["settings"] = OrderedJson::array();
  for (const Comparison::Setting& one : comparison.settings) {
    json["settings"].push_back({{"name", one.name}, {"a", one.a}, {"b", one.b}});
  }
  json["objects"] = OrderedJson::array();
  for (const Comparison::Objects& one : comparison.objects) {
    json["objects"].push_back(
        {{"kind", one.kind}, {"onlyInA", one.only_a}, {"onlyInB", one.only_b}});
  }
  return json;
}

}  // namespace

std::string RenderTable(const Comparison& comparison, const TextStyle& style) {
  std::string out = fmt::format("A: {}\nB: {}\n\n", comparison.a.name, comparison.b.name);
  out += RenderFigures(comparison.a, comparison.b, style);
  if (!comparison.jobs.empty()) out += "\n" + RenderJobs(comparison.jobs, style);
  if (!comparison.settings.empty()) out += "\n" + RenderSettings(comparison.settings, style);
  if (!comparison.objects.empty()) out += "\n" + RenderObjects(comparison.objects, style);
  return out + "\n" + Wrap(Summary(comparison), 0, style);
}

std::string RenderJson(const Comparison& comparison) {
  return DumpPrettyJson(ComparisonJson(comparison)) + "\n";
}

std::string RenderYaml(const Comparison& comparison) {
  return objects::WriteYaml(ComparisonJson(comparison));
}

}  // namespace strata
