#include <string>
#include <utility>
#include <vector>

#include "apps/commands.h"
#include "apps/input.h"
#include "apps/terminal.h"
#include "simulate/queue_report.h"
#include "simulate/render_queues.h"
#include "simulate/simulation.h"

namespace strata {
namespace {

Result<std::string> QueueList(const QueueListFlags& flags,
                              Progress& progress,
                              std::vector<std::string>& warnings) {
  TRY_ASSIGN(Input input, LoadInput(flags.input, progress));
  warnings = std::move(input.warnings);
  SimulationOptions options;
  options.now = flags.input.now;
  progress.Stage("placing pending pods");
  TRY_ASSIGN(const SimulationResult result, RunSimulation(input.cluster, input.config, options));
  const ClusterState& state = *input.cluster.state;
  const QueueReport report = MakeQueueReport(state, result, input.config);
  return flags.output == OutputFormat::kJson
             ? RenderJson(report, state.resource_names())
             : RenderTable(report, state.resource_names(), StandardOutputStyle());
}

}  // namespace

int RunQueueList(const QueueListFlags& flags) {
  Progress progress;
  std::vector<std::string> warnings;
  const Result<std::string> text = QueueList(flags, progress, warnings);
  progress.Finish();
  return PrintResult(text, warnings);
}

}  // namespace strata
