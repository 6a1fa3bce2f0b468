#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "apps/command_line.h"
#include "apps/flags.h"
#include "apps/input.h"
#include "apps/terminal.h"
#include "report/queue_report.h"
#include "report/render_queues.h"
#include "whatif/run.h"

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
  RunOptions options;
  options.now = input.now;
  progress.Stage("placing pending pods");
  TRY_ASSIGN(const RunResult result, RunCycles(input.cluster, input.config, options));
  // A running cluster is shown as it is; the run has only said why jobs wait.
  if (flags.input.live()) {
    TRY_ASSIGN(input.cluster, LoadCompleted(input.objects));
  }
  const ClusterState& state = *input.cluster.state;
  std::vector<QueueReport::Job> jobs;
  for (const auto& [name, job] : result.jobs) {
    jobs.push_back({name, job.phase, job.reason, job.message});
  }
  const QueueReport report = MakeQueueReport(state, input.config, jobs);
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
  CLI::App& queue =
      *app.add_subcommand("queue", "Show what queues use and deserve, and why their jobs wait");
  queue.require_subcommand(1);
  queue.footer(kQueueListFooter);
  CLI::App& list =
      *queue.add_subcommand("list", "List the queues with their shares, and why their jobs wait");
  list.footer(kQueueListFooter);
  const auto flags = std::make_shared<QueueListFlags>();
  AddClusterFlags(list, flags->input);
  AddWatchFlag(list, flags->input);
  AddOutputFlag(list, flags->output, {"table", "json"});
  list.callback([flags, &run] { run = [flags] { return RunQueueList(*flags); }; });
}

}  // namespace strata
