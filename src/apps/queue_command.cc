#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <utility>

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
  strata queue list                             the running cluster as it is
  strata queue list -f cluster.yaml             manifests, with pending pods placed
  strata queue list -f . --scheduler-conf volcano-scheduler.conf -o json)";

struct QueueListFlags {
  InputFlags input;
  OutputFormat output = OutputFormat::kTable;
};

Result<std::string> ListQueues(const QueueListFlags& flags, Input& input, Progress& progress) {
  SimulationOptions options;
  options.now = input.now;
  progress.Stage("placing pending pods");
  TRY_ASSIGN(const SimulationResult result, RunSimulation(input.cluster, input.config, options));
  // A running cluster is shown as it is; the run has only said why jobs wait.
  if (flags.input.live()) {
    TRY_ASSIGN(input.cluster, LoadCompleted(input.objects));
  }
  const ClusterState& state = *input.cluster.state;
  const QueueReport report = MakeQueueReport(state, result, input.config);
  return flags.output == OutputFormat::kJson
             ? RenderJson(report, state.resource_names())
             : RenderTable(report, state.resource_names(), StandardOutputStyle());
}

int RunQueueList(const QueueListFlags& flags) {
  return ShowCluster(flags.input, [&flags](Input& input, Progress& progress) {
    return ListQueues(flags, input, progress);
  });
}

}  // namespace

void AddQueueCommand(CLI::App& app, Run& run) {
  CLI::App& queue = *app.add_subcommand("queue", "What the queues have, deserve and wait for");
  queue.require_subcommand(1);
  CLI::App& list = *queue.add_subcommand(
      "list", "Show the queues, their shares, and why a job is not let in, once pods are placed");
  list.footer(kQueueListFooter);
  const auto flags = std::make_shared<QueueListFlags>();
  AddClusterFlags(list, flags->input);
  AddWatchFlag(list, flags->input);
  AddOutputFlag(list, flags->output, {"table", "json"});
  list.callback([flags, &run] { run = [flags] { return RunQueueList(*flags); }; });
}

}  // namespace strata
