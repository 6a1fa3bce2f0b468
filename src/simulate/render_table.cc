#include "simulate/render_table.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/plural.h"
#include "model/hypernode_spec.h"
#include "report/render_topology.h"
#include "report/topology_report.h"

namespace strata {
namespace {

using Align = TextTable::Align;

Ink PhaseInk(const RunResult::Job& job) {
  if (job.phase == "Running" || job.phase == "Completed") return Ink::kGreen;
  return job.phase == "Unknown" ? Ink::kRed : Ink::kYellow;
}

std::string Heading(std::string_view text, const TextStyle& style) {
  return Paint(text, Ink::kBold, style) + "\n";
}

std::string RenderJobs(const RunResult& result,
                       const ClusterState& state,
                       const TextStyle& style,
                       const NameOfJob& name_of) {
  if (result.jobs.empty()) return "No jobs.\n";
  TextTable table({{"JOB", Align::kLeft, 0, 16},
                   {"PHASE"},
                   {"PODS", Align::kRight},
                   {"DOMAIN", Align::kLeft, 0, 8},
                   {"TIER", Align::kRight},
                   {"REASON", Align::kLeft, 0, 12}});
  for (const auto& [name, job] : result.jobs) {
    std::string pods = "-";
    if (const auto id = state.workload().FindJob(name)) {
      const TaskCounts& counts = state.workload().job(*id).counts;
      pods = fmt::format(
          "{}/{}", counts.Allocated() + counts.Of(TaskStatus::kSucceeded), counts.Total());
    }
    const bool placed = !job.allocated_hypernode.empty();
    table.AddRow({{name_of ? name_of(name) : name},
                  {job.phase, PhaseInk(job)},
                  {pods},
                  {placed ? job.allocated_hypernode : "-"},
                  {placed ? std::to_string(job.tier) : "-"},
                  {job.reason, Ink::kYellow}});
    if (!job.message.empty()) table.AddText(Wrap(job.message, 4, style));
  }
  return table.Render(style);
}

// "  GPU-1a2b3c4d GPU-5e6f7a8b", the beginnings of the UUIDs; "" when none were chosen.
std::string GpusOf(const RunResult& result, const std::string& pod) {
  constexpr std::size_t kShown = 12;
  const auto it = result.devices.find(pod);
  if (it == result.devices.end()) return "";
  std::string text = " ";
  for (const auto& [container, uuids] : it->second) {
    for (const std::string& uuid : uuids) text += " " + uuid.substr(0, kShown);
  }
  return text;
}

// Pods of this run by node, "waits" marking those that are pipelined.
std::map<std::string, std::vector<std::string>> PodsByNode(const RunResult& result) {
  std::map<std::string, std::vector<std::string>> pods;
  for (const auto& [pod, node] : result.binds) pods[node].push_back(pod + GpusOf(result, pod));
  for (const auto& [pod, node] : result.pipelined) pods[node].push_back(pod + " (waits)");
  return pods;
}

// One node and what was put there, a pod per line.
void AppendNode(const std::string& node,
                const std::vector<std::string>& pods,
                std::size_t width,
                std::string& out) {
  for (std::size_t i = 0; i < pods.size(); ++i) {
    out += fmt::format("  {:<{}}  {}\n", i == 0 ? node : "", width, pods[i]);
  }
}

std::string RenderPods(const RunResult& result, const ClusterState& state, const TextStyle& style) {
  const auto pods = PodsByNode(result);
  if (pods.empty()) return "No pod was placed in this run.\n";
  const HyperNodeTree& tree = state.tree();
  std::size_t width = 0;
  for (const auto& entry : pods) width = std::max(width, entry.first.size());
  std::vector<HyperNodeId> order;  // leaves, as they come in the tree
  std::map<HyperNodeId, std::string> text;
  for (const NodeId node : tree.NodesOf(tree.top())) {
    const auto it = pods.find(state.nodes().spec(node).name);
    if (it == pods.end()) continue;
    const HyperNodeId leaf = tree.LeafOf(tree.ChainOf(node));
    if (!text.contains(leaf)) order.push_back(leaf);
    AppendNode(it->first, it->second, width, text[leaf]);
  }
  std::string out;
  for (const HyperNodeId leaf : order) {
    const HyperNodeTree::HyperNode& hypernode = tree.at(leaf);
    const std::string title = leaf == tree.top()
                                  ? std::string("in no HyperNode")
                                  : fmt::format("{} (tier {})", hypernode.name, hypernode.tier);
    out += Paint(title, Ink::kBold, style) + "\n" + text[leaf];
  }
  return out;
}

// The jobs that lost pods, and for whom.
std::string RenderEvictions(const RunResult& result, const TextStyle& style) {
  TextTable table({{"JOB"}, {"UNIT"}, {"PODS", Align::kRight}, {"BY"}, {"FOR"}});
  for (const RunResult::Evictions& evictions : result.evictions) {
    std::string claimant = evictions.TakesBack() ? "- (incomplete gang)" : evictions.claimant;
    if (!evictions.hypernode.empty()) {
      claimant += fmt::format(" in {} (tier {})", evictions.hypernode, evictions.tier);
    }
    for (const RunResult::Evictions::Victim& victim : evictions.victims) {
      table.AddRow({{victim.job},
                    {victim.whole_gang ? "gang" : "surplus"},
                    {std::to_string(victim.pods.size())},
                    {evictions.action},
                    {claimant}});
    }
  }
  return table.Render(style);
}

std::string RenderWarnings(const RunResult& result, const TextStyle& style) {
  std::string out;
  for (const RunResult::Warning& warning : result.warnings) {
    out += Paint(fmt::format("{}: {}", warning.object, warning.reason), Ink::kYellow, style) +
           "\n" + Wrap(warning.message, 4, style);
  }
  return out;
}

std::string Summary(const RunResult& result) {
  const auto waiting = static_cast<std::size_t>(
      std::count_if(result.jobs.begin(), result.jobs.end(), [](const auto& entry) {
        return !entry.second.reason.empty();
      }));
  std::string out = fmt::format("{} bound", Plural(result.binds.size(), "pod"));
  if (!result.pipelined.empty()) {
    out += fmt::format(", {} waiting for room that is being released", result.pipelined.size());
  }
  if (!result.evicted.empty()) out += fmt::format(", {} evicted", result.evicted.size());
  out += fmt::format("; {} of {} not placed; {}",
                     waiting,
                     Plural(result.jobs.size(), "job"),
                     Plural(static_cast<std::size_t>(result.cycles), "cycle"));
  if (result.seconds > 0) out += fmt::format(", {} s of simulated time", result.seconds);
  out += ".\n";
  if (result.timings) {
    out += fmt::format("load {:.1f} ms, open {:.3f} ms, actions {:.3f} ms, close {:.3f} ms\n",
                       result.timings->load_ms,
                       result.timings->open_ms,
                       result.timings->actions_ms,
                       result.timings->close_ms);
  }
  return out;
}

}  // namespace

std::string RenderTable(const RunResult& result,
                        const ClusterState& state,
                        const TextStyle& style,
                        const NameOfJob& name_of) {
  std::string out = RenderJobs(result, state, style, name_of);
  out += "\n" + Heading("PODS BY LEAF HYPERNODE", style) + RenderPods(result, state, style);
  if (!result.evictions.empty()) {
    out += "\n" + Heading("EVICTED", style) + RenderEvictions(result, style);
  }
  if (const auto report = MakeTopologyReport(state, {})) {
    out += "\n" + RenderTree(*report, FitColumn::kHide, style);
  }
  if (!result.warnings.empty()) {
    out += "\n" + Heading("WARNINGS", style) + RenderWarnings(result, style);
  }
  if (!result.explain.empty()) {
    out += "\n" + Heading("EXPLAIN", style) + WrapLines(result.explain, style);
  }
  return out + "\n" + Summary(result);
}

}  // namespace strata
