#include <string>
#include <utility>
#include <vector>

#include "apps/commands.h"
#include "apps/input.h"
#include "apps/terminal.h"
#include "simulate/render_data.h"
#include "simulate/render_table.h"
#include "simulate/simulation.h"
#include "simulate/topology_report.h"

namespace strata {
namespace {

Result<std::string> Topology(const TopologyFlags& flags,
                             Progress& progress,
                             std::vector<std::string>& warnings) {
  TRY_ASSIGN(Input input, LoadInput(flags.input, progress));
  warnings = std::move(input.warnings);
  if (!flags.as_given) {
    SimulationOptions options;
    options.now = flags.input.now;
    progress.Stage("placing pending pods");
    TRY(RunSimulation(input.cluster, input.config, options));
  }
  const ClusterState& state = *input.cluster.state;
  TRY_ASSIGN(const TopologyReport report,
             MakeTopologyReport(state, flags.pod.value_or(DefaultPodShape(state))));
  return flags.output == OutputFormat::kJson ? RenderJson(report)
                                             : RenderTable(report, StandardOutputStyle());
}

}  // namespace

int RunTopology(const TopologyFlags& flags) {
  Progress progress;
  std::vector<std::string> warnings;
  const Result<std::string> text = Topology(flags, progress, warnings);
  progress.Finish();
  return PrintResult(text, warnings);
}

}  // namespace strata
