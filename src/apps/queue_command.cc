#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "apps/command_line.h"
#include "apps/flags.h"
#include "apps/input.h"
#include "apps/terminal.h"
#include "simulate/queue_report.h"
#include "simulate/render_queues.h"
#include "simulate/simulation.h"

namespace strata {
namespace {

constexpr const char* kQueueListFooter = R"(
Examples:
  strata queue list -f cluster.yaml
  strata queue list -f . --scheduler-conf volcano-scheduler.conf -o json)";

struct QueueListFlags {
  InputFlags input;
  OutputFormat output = OutputFormat::kTable;
};

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

int RunQueueList(const QueueListFlags& flags) {
  Progress progress;
  std::vector<std::string> warnings;
  const Result<std::string> text = QueueList(flags, progress, warnings);
  progress.Finish();
  return PrintResult(text, warnings);
}

}  // namespace

void AddQueueCommand(CLI::App& app, Run& run) {
  CLI::App& queue = *app.add_subcommand("queue", "What the queues have, deserve and wait for");
  queue.require_subcommand(1);
  CLI::App& list = *queue.add_subcommand(
      "list", "Show the queues, their shares, and why a job is not let in, once pods are placed");
  list.footer(kQueueListFooter);
  const auto flags = std::make_shared<QueueListFlags>();
  AddInputFlags(list, flags->input, Files::kRequired);
  AddOutputFlag(list, flags->output, {"table", "json"});
  list.callback([flags, &run] { run = [flags] { return RunQueueList(*flags); }; });
}

}  // namespace strata
