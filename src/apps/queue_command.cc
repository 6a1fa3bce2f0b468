#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "apps/command_line.h"
#include "apps/flags.h"
#include "apps/input.h"
#include "apps/terminal.h"
#include "inspect/live_cluster.h"
#include "inspect/queue_actions.h"
#include "report/queue_report.h"
#include "report/render_queues.h"
#include "whatif/run.h"

namespace strata {
namespace {

constexpr const char* kQueueFooter = R"(
Examples:
  strata queue list                             the running cluster as it is
  strata queue list -f cluster.yaml             manifests, with pending pods placed
  strata queue list -f . --scheduler-conf volcano-scheduler.conf -o json
  strata queue close research                   it takes no more jobs; those that run go on
  strata queue open research)";

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

struct QueueActionFlags {
  kube::ConnectionFlags connection;
  std::string name;
};

// What is so already is said and not asked for again.
Result<std::string> CommandQueue(const QueueActionFlags& flags, inspect::QueueAction action) {
  TRY_ASSIGN(const std::unique_ptr<inspect::LiveCluster> cluster,
             inspect::LiveCluster::Open(flags.connection, kube::SystemSurroundings()));
  TRY_ASSIGN(const std::string state, inspect::FindQueueState(*cluster, flags.name));
  const bool opens = action == inspect::QueueAction::kOpen;
  if (state == (opens ? "Open" : "Closed")) {
    return fmt::format("queue {} is {} already\n", flags.name, opens ? "open" : "closed");
  }
  TRY(inspect::SendQueueCommand(*cluster, flags.name, action));
  return fmt::format("queue {}: {} requested\n", flags.name, opens ? "open" : "close");
}

void AddQueueAction(CLI::App& queue, const char* name, inspect::QueueAction action, Run& run) {
  const bool opens = action == inspect::QueueAction::kOpen;
  CLI::App& command =
      *queue.add_subcommand(name,
                            opens ? "Let a queue take jobs again (Volcano's OpenQueue)"
                                  : "Let a queue take no more jobs (Volcano's CloseQueue)");
  command.footer(kQueueFooter);
  const auto flags = std::make_shared<QueueActionFlags>();
  AddConnectionFlags(command, flags->connection);
  command.add_option("queue", flags->name, "The Queue")->type_name("QUEUE")->required();
  command.callback([flags, action, &run] {
    run = [flags, action] { return PrintResult(CommandQueue(*flags, action), {}); };
  });
}

int RunQueueList(const QueueListFlags& flags) {
  return ShowCluster(flags.input, [&flags](Input& input, Progress& progress) {
    return ListQueues(flags, input, progress);
  });
}

}  // namespace

void AddQueueCommand(CLI::App& app, Run& run) {
  CLI::App& queue = *app.add_subcommand(
      "queue", "Show what queues use and deserve, and why their jobs wait; open or close one");
  queue.require_subcommand(1);
  queue.footer(kQueueFooter);
  CLI::App& list =
      *queue.add_subcommand("list", "List the queues with their shares, and why their jobs wait");
  list.footer(kQueueFooter);
  const auto flags = std::make_shared<QueueListFlags>();
  AddClusterFlags(list, flags->input);
  AddWatchFlag(list, flags->input);
  AddOutputFlag(list, flags->output, {"table", "json"});
  AddQueueAction(queue, "open", inspect::QueueAction::kOpen, run);
  AddQueueAction(queue, "close", inspect::QueueAction::kClose, run);
  list.callback([flags, &run] { run = [flags] { return RunQueueList(*flags); }; });
}

}  // namespace strata
