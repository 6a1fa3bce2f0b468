#include "report/fragmentation.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/plural.h"
#include "model/fragmentation.h"
#include "report/gpu_sums.h"
#include "report/topology_report.h"
#include "sched/node_fragmentation.h"
#include "sched/typical_pods.h"

namespace strata {
namespace {

using Align = TextTable::Align;
using Json = nlohmann::ordered_json;

FragmentationReport::Tier TierOf(const HyperNodeTree& tree,
                                 std::int32_t tier,
                                 const std::vector<std::int64_t>& pods) {
  FragmentationReport::Tier out;
  out.tier = tier;
  std::vector<std::int64_t> slots;
  for (const HyperNodeId id : tree.OfTier(tier)) {
    slots.push_back(pods[id.index()]);
    if (out.tier_name.empty()) out.tier_name = tree.at(id).tier_name;
  }
  out.domains = static_cast<std::int64_t>(slots.size());
  for (const std::int64_t free : slots) out.largest_gang = std::max(out.largest_gang, free);
  for (std::size_t i = 0; i < kGangSizes.size(); ++i) {
    out.placeable[i] = PlaceableGangs(slots, kGangSizes[i]);
    out.rack_loss[i] = RackLoss(slots, kGangSizes[i]);
  }
  out.gini = Gini(std::move(slots));
  return out;
}

double FragmentedGpus(const ClusterState& state, const FragmentationMeter& meter) {
  if (meter.weight() == 0) return 0;
  std::int64_t sum = 0;
  for (const NodeId node : state.nodes().all()) {
    if (MarkOf(state.nodes().spec(node)) == NodeMark::kOpen) {
      sum += meter.Of(IdleGpusOf(state, node));
    }
  }
  return static_cast<double>(sum) / (static_cast<double>(meter.weight()) * 1000);
}

// As many digits as are worth reading.
double Rounded(double value) {
  constexpr double kDigits = 1e4;
  return std::round(value * kDigits) / kDigits;
}

}  // namespace

Result<FragmentationReport> MakeFragmentationReport(const ClusterState& state,
                                                    const objects::ResourceList& pod) {
  FragmentationReport report;
  report.pod = pod;
  TRY_ASSIGN(const std::vector<std::int64_t> pods, CountPodsThatFit(state, pod));
  const HyperNodeTree& tree = state.tree();
  for (const std::int32_t tier : tree.tiers()) {
    if (!tree.OfTier(tier).empty()) report.tiers.push_back(TierOf(tree, tier, pods));
  }
  const GpuSums sums = SumGpus(state);
  report.free_gpus = sums.free;
  report.stranded_gpus = sums.stranded;
  report.stranded = StrandedShare(sums.stranded, sums.free);
  if (sums.gpus == 0) return report;
  const FragmentationMeter meter(LearnTypicalPods(state, kLearnFromPods));
  report.typical = meter.pods().pods.size();
  report.fgd = FragmentedGpus(state, meter);
  return report;
}

Json ToJson(const FragmentationReport& report) {
  Json json = {{"freeGpus", report.free_gpus},
               {"strandedGpus", report.stranded_gpus},
               {"stranded", Rounded(report.stranded)},
               {"fgd", Rounded(report.fgd)},
               {"typicalPods", report.typical}};
  json["tiers"] = Json::array();
  for (const FragmentationReport::Tier& tier : report.tiers) {
    Json placeable = Json::object();
    Json loss = Json::object();
    for (std::size_t i = 0; i < kGangSizes.size(); ++i) {
      placeable[std::to_string(kGangSizes[i])] = tier.placeable[i];
      loss[std::to_string(kGangSizes[i])] = Rounded(tier.rack_loss[i]);
    }
    json["tiers"].push_back({{"tier", tier.tier},
                             {"tierName", tier.tier_name},
                             {"hyperNodes", tier.domains},
                             {"largestGang", tier.largest_gang},
                             {"placeable", std::move(placeable)},
                             {"rackLoss", std::move(loss)},
                             {"gini", Rounded(tier.gini)}});
  }
  return json;
}

std::string RenderFragmentation(const FragmentationReport& report, const TextStyle& style) {
  std::string out;
  if (report.tiers.size() > 1) {
    std::vector<TextTable::Column> columns = {{"TIER"}};
    for (const std::int64_t size : kGangSizes) {
      columns.push_back({fmt::format("OF {}", size), Align::kRight});
    }
    TextTable table(std::move(columns));
    for (const FragmentationReport::Tier& tier : report.tiers) {
      const bool whole = &tier == &report.tiers.back();
      std::string name = whole ? "any" : std::to_string(tier.tier);
      if (!whole && !tier.tier_name.empty()) name += " " + tier.tier_name;
      std::vector<TextTable::Cell> cells = {{name}};
      for (const std::int64_t gangs : tier.placeable) {
        cells.push_back({std::to_string(gangs), gangs > 0 ? Ink::kPlain : Ink::kDim});
      }
      table.AddRow(std::move(cells));
    }
    out += "\nGangs of such pods that could start now, each in one HyperNode:\n\n";
    out += table.Render(style);
  }
  if (report.free_gpus == 0 && report.fgd == 0) return out;
  std::string text = fmt::format("{} of {} {} on nodes that are used in part.",
                                 report.stranded_gpus,
                                 Plural(static_cast<std::size_t>(report.free_gpus), "free GPU"),
                                 report.stranded_gpus == 1 ? "is" : "are");
  if (report.typical > 0) {
    text += fmt::format(
        " On average a pod like the last {} cannot use {:.1f} of the idle GPUs where they are.",
        kLearnFromPods,
        report.fgd);
  }
  return out + "\n" + Wrap(text, 0, style);
}

}  // namespace strata
