#include <CLI/CLI.hpp>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "apps/command_line.h"
#include "apps/flags.h"
#include "apps/input.h"
#include "apps/terminal.h"
#include "report/render_topology.h"
#include "report/topology_report.h"
#include "report/tree_rows.h"
#include "whatif/run.h"

namespace strata {
namespace {

constexpr const char* kTopologyFooter = R"(
Examples:
  strata topology                               the running cluster as it is
  strata topology --watch                       the same, printed again after each change
  strata topology -f cluster.yaml               manifests, with pending pods placed
  strata topology -f . --pod cpu=8,nvidia.com/gpu=8
  strata topology --depth 2                     spines and racks, without what is below
  strata topology --under rack-3                one part of the tree
  strata topology --drain rack-3                what if: the jobs of rack-3 placed elsewhere
  strata topology --add racks=2,nodes=16 --pod nvidia.com/gpu=8
                                                what would fit with two more racks
  strata topology -f . --as-given -o json)";

struct TopologyFlags {
  InputFlags input;
  std::optional<objects::ResourceList> pod;  // none: the default shape
  bool as_given = false;                     // before any cycle, not after them
  TreeView view;
  OutputFormat output = OutputFormat::kTable;
};

// More rows do not fit on a screen.
constexpr std::size_t kShownRows = 64;

Result<std::string> DrawTopology(const TopologyFlags& flags, Input& input, Progress& progress) {
  // A running cluster is shown as it is, not as it may become; unless that is the question.
  if (!flags.as_given && (!flags.input.live() || !flags.input.edits.empty())) {
    RunOptions options;
    options.now = input.now;
    progress.Stage("placing pending pods");
    TRY(RunCycles(input.cluster, input.config, options));
  }
  const ClusterState& state = *input.cluster.state;
  const objects::ResourceList pod = flags.pod.value_or(DefaultPodShape(state));
  TRY_ASSIGN(TopologyReport report, MakeTopologyReport(state, pod));
  TRY_ASSIGN(report.fragmentation, MakeFragmentationReport(state, pod));
  AddLabels(input.objects.objects.hypernodes, report);
  TRY(Narrow(flags.view, report));
  if (!flags.view.depth && flags.output == OutputFormat::kTable) {
    TRY(Narrow({.under = {}, .depth = DepthOfAtMost(kShownRows, report.rows)}, report));
  }
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
                   "Show manifests as they are, before pending pods are placed; a running cluster "
                   "is always shown as it is");
  AddTreeFlags(command, flags->view);
  AddWhatIfFlags(command, flags->input);
  AddOutputFlag(command, flags->output, {"table", "json"});
  command.callback([flags, &run] { run = [flags] { return RunTopology(*flags); }; });
}

}  // namespace strata
