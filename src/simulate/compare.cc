#include "simulate/compare.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace strata {
namespace {

// The lowest HyperNode that holds the pods of each job, by "ns/podgroup".
std::map<std::string, HyperNodeId> DomainsOf(const ClusterState& state) {
  const HyperNodeTree& tree = state.tree();
  std::map<std::string, HyperNodeId> domains;
  for (const NodeId node : state.nodes().all()) {
    const HyperNodeId leaf = tree.LeafOf(tree.ChainOf(node));
    for (const TaskId id : state.nodes().TasksOn(node)) {
      const JobId job = state.workload().task(id).job;
      if (!job.valid()) continue;
      const auto [at, is_new] = domains.emplace(state.workload().job(job).spec.name, leaf);
      if (!is_new) at->second = tree.Lca(at->second, leaf);
    }
  }
  return domains;
}

// The run records the domains of jobs with a topology; here every placed job has one.
JobStandings StandingsWithDomains(const ComparedSide& side) {
  const ClusterState& state = *side.outcome->cluster.state;
  RunResult result;
  result.jobs = side.outcome->result.jobs;
  for (const auto& [name, domain] : DomainsOf(state)) {
    const auto job = result.jobs.find(name);
    if (job == result.jobs.end() || domain == state.tree().top()) continue;
    if (!job->second.allocated_hypernode.empty()) continue;
    job->second.allocated_hypernode = state.tree().at(domain).name;
    job->second.tier = state.tree().at(domain).tier;
  }
  return StandingsOf(result, side.name_of);
}

SideFigures FiguresOf(const ComparedSide& side, const JobStandings& standings) {
  const RunResult& result = side.outcome->result;
  SideFigures figures;
  figures.name = side.name;
  figures.nodes = static_cast<std::int64_t>(side.objects->nodes.size());
  figures.gpus = SumGpus(*side.outcome->cluster.state);
  figures.pods_bound = static_cast<std::int64_t>(result.binds.size());
  figures.pods_evicted = static_cast<std::int64_t>(result.evicted.size());
  for (const auto& [name, standing] : standings) {
    ++figures.jobs;
    if (standing.kind == JobStanding::Kind::kPlaced) {
      ++figures.placed;
      ++figures.placed_by_tier[standing.tier];
    } else {
      ++figures.waiting;
      if (!standing.reason.empty()) ++figures.waiting_by_reason[standing.reason];
    }
  }
  return figures;
}

// Whatever type the value was written in.
std::string ValueText(const Arguments& arguments, const std::string& key) {
  if (const auto text = arguments.String(key, "")) return *text;
  if (const auto number = arguments.Int(key, 0)) return std::to_string(*number);
  if (const auto number = arguments.Float(key, 0)) return fmt::format("{}", *number);
  if (const auto truth = arguments.Bool(key, false)) return *truth ? "true" : "false";
  return "(no scalar)";
}

// By name.
using Settings = std::map<std::string, std::string>;

void AddArguments(const std::string& of, const Arguments& arguments, Settings& out) {
  const std::vector<std::string> keys = arguments.Unknown({});  // where none is known: all
  for (const std::string& key : keys) {
    out.emplace(fmt::format("{}.arguments.{}", of, key), ValueText(arguments, key));
  }
}

// All that the configuration says; of a plugin in several tiers what the first says.
Settings SettingsOf(const SchedulerConfig& config) {
  Settings settings;
  std::vector<std::string> actions;
  for (const ActionConfig& action : config.actions) {
    actions.push_back(action.name);
    AddArguments(action.name, action.arguments, settings);
  }
  std::vector<std::string> tiers;
  for (const std::vector<PluginConfig>& tier : config.tiers) {
    std::vector<std::string> plugins;
    for (const PluginConfig& plugin : tier) {
      plugins.push_back(plugin.name);
      AddArguments(plugin.name, plugin.arguments, settings);
      for (const auto& [key, value] : plugin.switches) {
        settings.emplace(plugin.name + "." + key, value ? "true" : "false");
      }
    }
    tiers.push_back(fmt::format("{}", fmt::join(plugins, ", ")));
  }
  settings["actions"] = fmt::format("{}", fmt::join(actions, ", "));
  settings["plugins"] = fmt::format("{}", fmt::join(tiers, "; "));
  return settings;
}

std::vector<Comparison::Setting> CompareSettings(const Settings& a, const Settings& b) {
  std::set<std::string> names;
  for (const Settings* side : {&a, &b}) {
    for (const auto& [name, value] : *side) names.insert(name);
  }
  const auto value_of = [](const Settings& side, const std::string& name) {
    const auto it = side.find(name);
    return it == side.end() ? std::string() : it->second;
  };
  std::vector<Comparison::Setting> differences;
  for (const std::string& name : names) {
    Comparison::Setting one{.name = name, .a = value_of(a, name), .b = value_of(b, name)};
    if (one.a != one.b) differences.push_back(std::move(one));
  }
  return differences;
}

template <typename List>
std::set<std::string> NamesIn(const List& list) {
  std::set<std::string> names;
  for (const auto& object : list) names.insert(object.meta.name);
  return names;
}

template <typename List>
void CompareNames(const char* kind, const List& a, const List& b, Comparison& out) {
  const std::set<std::string> in_a = NamesIn(a);
  const std::set<std::string> in_b = NamesIn(b);
  Comparison::Objects one{.kind = kind, .only_a = {}, .only_b = {}};
  std::set_difference(
      in_a.begin(), in_a.end(), in_b.begin(), in_b.end(), std::back_inserter(one.only_a));
  std::set_difference(
      in_b.begin(), in_b.end(), in_a.begin(), in_a.end(), std::back_inserter(one.only_b));
  if (!one.only_a.empty() || !one.only_b.empty()) out.objects.push_back(std::move(one));
}

}  // namespace

Comparison Compare(const ComparedSide& a, const ComparedSide& b) {
  const JobStandings jobs_a = StandingsWithDomains(a);
  const JobStandings jobs_b = StandingsWithDomains(b);
  Comparison out;
  out.a = FiguresOf(a, jobs_a);
  out.b = FiguresOf(b, jobs_b);
  out.jobs = CompareJobs(jobs_a, jobs_b);
  out.settings = CompareSettings(SettingsOf(*a.config), SettingsOf(*b.config));
  // Jobs that one side lacks are among those that stand otherwise.
  CompareNames("Node", a.objects->nodes, b.objects->nodes, out);
  CompareNames("HyperNode", a.objects->hypernodes, b.objects->hypernodes, out);
  CompareNames("Queue", a.objects->queues, b.objects->queues, out);
  CompareNames("PriorityClass", a.objects->priority_classes, b.objects->priority_classes, out);
  return out;
}

}  // namespace strata
