#include "defrag/render_plan.h"

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "base/plural.h"
#include "json/dump.h"
#include "report/names.h"
#include "report/render_topology.h"

namespace strata {
namespace {

using Align = TextTable::Align;
using Json = nlohmann::ordered_json;

constexpr std::size_t kMinCell = 16;

std::string PlaceText(const DefragPlan::Place& place) {
  if (place.hypernode.empty()) return "(cluster)";
  return fmt::format("{} (tier {})", place.hypernode, place.tier);
}

// Thousandths of GPU seconds as hours.
std::string GpuHours(std::int64_t lost_work) {
  return fmt::format("{:.1f}", static_cast<double>(lost_work) / 3.6e6);
}

std::string Targets(const std::vector<DefragPlan::Place>& target) {
  if (target.size() == 1) return PlaceText(target.front());
  std::vector<std::string> names;
  names.reserve(target.size());
  for (const DefragPlan::Place& place : target) names.push_back(place.hypernode);
  return NameSome(names);
}

std::string Summary(const DefragPlan& plan, const PlanWords& words) {
  const std::string goal = words.before + Targets(plan.target) + words.behind;
  if (plan.moves.empty()) return goal + " as things are: nothing has to move.";
  const auto pods = static_cast<std::uint64_t>(plan.PodCount());
  return fmt::format(
      "{} once {} {} moved in {}: {}, and {} GPU hours of work begin again from their last "
      "checkpoint.",
      goal,
      Plural(pods, "pod"),
      pods == 1 ? "has" : "have",
      Plural(plan.moves.size(), "step"),
      plan.GangCount() == 0 ? "no gang stops"
                            : Plural(static_cast<std::uint64_t>(plan.GangCount()), "gang") +
                                  (plan.GangCount() == 1 ? " stops" : " stop") + " meanwhile",
      GpuHours(plan.LostWork()));
}

std::string RenderSteps(const DefragPlan& plan, const PlanWords& words, const TextStyle& style) {
  TextTable table({{"STEP", Align::kRight},
                   {.title = "JOB", .align = Align::kLeft, .spare = 0, .cut_to = kMinCell},
                   {"PODS", Align::kRight},
                   {"MOVES"},
                   {"FROM"},
                   {"TO"},
                   {.title = "GPU HOURS LOST", .align = Align::kRight, .spare = 1}});
  for (std::size_t i = 0; i < plan.moves.size(); ++i) {
    const DefragPlan::Move& move = plan.moves[i];
    table.AddRow({{std::to_string(i + 1)},
                  {words.name_of(move.group)},
                  {std::to_string(move.pods.size())},
                  {move.whole_gang ? "gang" : "spare pods"},
                  {PlaceText(move.from)},
                  {PlaceText(move.to)},
                  {GpuHours(move.lost_work)}});
  }
  return table.Render(style);
}

std::string RenderLargest(const DefragPlan& plan, const TextStyle& style) {
  TextTable table({{"TIER"}, {"BEFORE", Align::kRight}, {"AFTER", Align::kRight}});
  for (std::size_t i = 0; i < plan.largest.size(); ++i) {
    const DefragPlan::LargestGang& gang = plan.largest[i];
    const bool whole = i + 1 == plan.largest.size();
    std::string tier = whole ? "any" : std::to_string(gang.tier);
    if (!whole && !gang.tier_name.empty()) tier += " " + gang.tier_name;
    table.AddRow(
        {{std::move(tier)},
         {std::to_string(gang.before)},
         {std::to_string(gang.after), gang.after > gang.before ? Ink::kGreen : Ink::kPlain}});
  }
  return fmt::format("Largest gang of pods of {}:\n\n", ShapeText(plan.pod)) + table.Render(style);
}

constexpr const char* kStepByStep =
    "Then take one step at a time: delete the pods of the step, and wait until those that replace "
    "them run. -o json names the pods. At the end:";

std::string HowTo(const DefragPlan& plan, const TextStyle& style) {
  const std::string nodes = fmt::format("{}", fmt::join(plan.nodes, " "));
  return WrapLines({"To carry it out, keep others off the room that is made:",
                    "kubectl cordon " + nodes,
                    kStepByStep,
                    "kubectl uncordon " + nodes,
                    "This command has changed nothing."},
                   style);
}

Json PlaceJson(const DefragPlan::Place& place) {
  return {{"hyperNode", place.hypernode}, {"tier", place.tier}};
}

Json MoveJson(const DefragPlan::Move& move, const PlanWords& words) {
  Json pods = Json::array();
  for (const DefragPlan::PodMove& pod : move.pods) {
    pods.push_back({{"pod", pod.pod}, {"from", pod.from}, {"to", pod.to}});
  }
  return {{"job", words.name_of(move.group)},
          {"podGroup", move.group},
          {"wholeGang", move.whole_gang},
          {"from", PlaceJson(move.from)},
          {"to", PlaceJson(move.to)},
          {"lostGpuSeconds", move.lost_work / 1000},
          {"pods", std::move(pods)}};
}

}  // namespace

std::string RenderTable(const DefragPlan& plan, const PlanWords& words, const TextStyle& style) {
  if (!plan.possible) {
    return Wrap(fmt::format("No plan: {}.", plan.reason), 0, style) + "\n" +
           RenderLargest(plan, style);
  }
  std::string out = Wrap(Summary(plan, words), 0, style);
  if (plan.moves.empty()) return out + "\n" + RenderLargest(plan, style);
  out += "\n" + RenderSteps(plan, words, style);
  out += "\n" + RenderLargest(plan, style);
  return out + "\n" + HowTo(plan, style);
}

std::string RenderJson(const DefragPlan& plan, const PlanWords& words) {
  Json json = {{"possible", plan.possible},
               {"reason", plan.reason},
               {"target", Json::array()},
               {"cordon", plan.nodes},
               {"moves", Json::array()},
               {"gangsMoved", plan.GangCount()},
               {"podsMoved", plan.PodCount()},
               {"lostGpuSeconds", plan.LostWork() / 1000},
               {"pod", Json::object()},
               {"largestGang", Json::array()}};
  for (const DefragPlan::Place& place : plan.target) json["target"].push_back(PlaceJson(place));
  for (const DefragPlan::Move& move : plan.moves) json["moves"].push_back(MoveJson(move, words));
  for (const auto& [name, amount] : plan.pod) json["pod"][name] = amount.ToString();
  for (const DefragPlan::LargestGang& gang : plan.largest) {
    json["largestGang"].push_back({{"tier", gang.tier},
                                   {"tierName", gang.tier_name},
                                   {"before", gang.before},
                                   {"after", gang.after}});
  }
  return DumpPrettyJson(json) + "\n";
}

}  // namespace strata
