#include <CLI/CLI.hpp>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "apps/command_line.h"
#include "apps/flags.h"
#include "apps/input.h"
#include "apps/terminal.h"
#include "simulate/render_data.h"
#include "simulate/render_table.h"
#include "simulate/simulation.h"
#include "simulate/topology_report.h"

namespace strata {
namespace {

constexpr const char* kTopologyFooter = R"(
Examples:
  strata topology                               the running cluster as it is
  strata topology --watch                       and again after each change
  strata topology -f cluster.yaml               manifests, with pending pods placed
  strata topology -f . --pod cpu=8,nvidia.com/gpu=8
  strata topology -f . --as-given -o json)";

struct TopologyFlags {
  InputFlags input;
  std::optional<objects::ResourceList> pod;  // none: the default shape
  bool as_given = false;                     // before any cycle, not after them
  OutputFormat output = OutputFormat::kTable;
};

Result<std::string> DrawTopology(const TopologyFlags& flags, Input& input, Progress& progress) {
  // Of a running cluster people want to see what is, not what may come.
  if (!flags.as_given && !flags.input.live()) {
    SimulationOptions options;
    options.now = input.now;
    progress.Stage("placing pending pods");
    TRY(RunSimulation(input.cluster, input.config, options));
  }
  const ClusterState& state = *input.cluster.state;
  TRY_ASSIGN(const TopologyReport report,
             MakeTopologyReport(state, flags.pod.value_or(DefaultPodShape(state))));
  return flags.output == OutputFormat::kJson ? RenderJson(report)
                                             : RenderTable(report, StandardOutputStyle());
}

int RunTopology(const TopologyFlags& flags) {
  return ShowCluster(flags.input, [&flags](Input& input, Progress& progress) {
    return DrawTopology(flags, input, progress);
  });
}

}  // namespace

void AddTopologyCommand(CLI::App& app, Run& run) {
  CLI::App& command = *app.add_subcommand(
      "topology", "Draw the HyperNode tree with used and free resources, and what would fit");
  command.footer(kTopologyFooter);
  const auto flags = std::make_shared<TopologyFlags>();
  AddClusterFlags(command, flags->input);
  AddWatchFlag(command, flags->input);
  command
      .add_option_function<std::string>(
          "--pod",
          [&pod = flags->pod](const std::string& text) { pod = ParsePodShape(text).value(); },
          "Shape of the pods to count; default: all GPUs of the largest node, or all its CPUs")
      ->type_name("NAME=AMOUNT,...")
      ->check([](const std::string& text) { return MessageOf(ParsePodShape(text)); });
  command.add_flag("--as-given",
                   flags->as_given,
                   "Show manifests as they are, before any pending pod is placed; a running "
                   "cluster is always shown so");
  AddOutputFlag(command, flags->output, {"table", "json"});
  command.callback([flags, &run] { run = [flags] { return RunTopology(*flags); }; });
}

}  // namespace strata
