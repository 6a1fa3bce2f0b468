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
#include "explain/own_names.h"
#include "inspect/live_cluster.h"
#include "inspect/queue_actions.h"
#include "report/queue_report.h"
#include "report/render_queues.h"
#include "report/topology_report.h"
#include "whatif/run.h"

namespace strata {
namespace {

constexpr const char* kQueueFooter = R"(
Examples:
  strata queue list                             the running cluster as it is
  strata queue list -f cluster.yaml             manifests, with pending pods placed
  strata queue list -f . --scheduler-conf volcano-scheduler.conf -o json
  strata queue describe research                one queue: shares, what is left, jobs that wait
  strata queue list --set research.weight=4     what if it had that weight
  strata queue create research --weight 3 --capability nvidia.com/gpu=64
  strata queue close research                   it takes no more jobs; those that run go on
  strata queue open research
  strata queue delete research --yes)";

struct QueueShowFlags {
  InputFlags input;
  std::string name;  // of describe; "" for all queues
  OutputFormat output = OutputFormat::kTable;
};

// People read the names that they gave; programs know PodGroups.
void UseOwnNames(const CompletedObjects& objects, QueueReport& report) {
  const OwnNames own(objects);
  for (QueueReport::Job& job : report.elsewhere) job.name = own.Of(job.name);
  for (QueueReport::Row& row : report.rows) {
    for (QueueReport::Job& job : row.waiting) job.name = own.Of(job.name);
  }
}

Result<QueueReport> ReportQueues(const QueueShowFlags& flags, Input& input, Progress& progress) {
  RunOptions options;
  options.now = input.now;
  progress.Stage("placing pending pods");
  TRY_ASSIGN(const RunResult result, RunCycles(input.cluster, input.config, options));
  // A running cluster is shown as it is; the run has only said why jobs wait. What if, it is shown
  // as it would become.
  if (flags.input.live() && flags.input.edits.empty()) {
    TRY_ASSIGN(input.cluster, LoadCompleted(input.objects));
  }
  std::vector<QueueReport::Job> jobs;
  for (const auto& [name, job] : result.jobs) {
    jobs.push_back({name, job.phase, job.reason, job.message});
  }
  QueueReport report = MakeQueueReport(*input.cluster.state, input.config, jobs);
  if (flags.output == OutputFormat::kTable) UseOwnNames(input.objects, report);
  return report;
}

Result<std::string> ListQueues(const QueueShowFlags& flags, Input& input, Progress& progress) {
  TRY_ASSIGN(const QueueReport report, ReportQueues(flags, input, progress));
  const ResourceNames& names = input.cluster.state->resource_names();
  return flags.output == OutputFormat::kJson ? RenderJson(report, names)
                                             : RenderTable(report, names, StandardOutputStyle());
}

Result<std::string> DescribeQueue(const QueueShowFlags& flags, Input& input, Progress& progress) {
  TRY_ASSIGN(QueueReport report, ReportQueues(flags, input, progress));
  TRY(NarrowToQueue(flags.name, report));
  const ResourceNames& names = input.cluster.state->resource_names();
  return flags.output == OutputFormat::kJson ? RenderQueueJson(report, names)
                                             : RenderQueue(report, names, StandardOutputStyle());
}

// ---- what changes a queue

struct QueueActionFlags {
  kube::ConnectionFlags connection;
  inspect::NewQueue queue;  // of `create`; of the others the name alone
  bool yes = false;
};

// What is so already is said and not asked for again.
Result<std::string> OpenOrClose(const QueueActionFlags& flags,
                                inspect::LiveCluster& cluster,
                                inspect::QueueAction action) {
  const std::string& name = flags.queue.name;
  TRY_ASSIGN(const std::string state, inspect::FindQueueState(cluster, name));
  const bool opens = action == inspect::QueueAction::kOpen;
  if (state == (opens ? "Open" : "Closed")) {
    return fmt::format("queue {} is {} already\n", name, opens ? "open" : "closed");
  }
  TRY(inspect::SendQueueCommand(cluster, name, action));
  return fmt::format("queue {}: {} requested\n", name, opens ? "open" : "close");
}

Result<std::string> Create(const QueueActionFlags& flags, inspect::LiveCluster& cluster) {
  TRY(inspect::CreateQueue(cluster, flags.queue));
  return fmt::format("queue {} created\n", flags.queue.name);
}

Result<std::string> Delete(const QueueActionFlags& flags, inspect::LiveCluster& cluster) {
  const std::string& name = flags.queue.name;
  TRY(inspect::FindQueueState(cluster, name));
  if (!flags.yes) {
    TRY_ASSIGN(const bool sure,
               Confirm(fmt::format("Delete queue {}?", name), StandardInputTerminal()));
    if (!sure) return fmt::format("queue {} not deleted\n", name);
  }
  TRY(inspect::DeleteQueue(cluster, name));
  return fmt::format("queue {} deleted\n", name);
}

using QueueWork = Result<std::string> (*)(const QueueActionFlags& flags,
                                          inspect::LiveCluster& cluster);

struct QueueActionCommand {
  const char* name;
  const char* what;
  QueueWork work;
};

constexpr QueueActionCommand kCreate = {"create", "Create a queue", Create};
constexpr QueueActionCommand kDelete = {
    "delete", "Delete a queue that has no jobs, after confirmation", Delete};
constexpr QueueActionCommand kOpen = {
    "open",
    "Let a queue take jobs again (Volcano's OpenQueue)",
    [](const QueueActionFlags& flags, inspect::LiveCluster& cluster) {
      return OpenOrClose(flags, cluster, inspect::QueueAction::kOpen);
    }};
constexpr QueueActionCommand kClose = {
    "close",
    "Let a queue take no more jobs (Volcano's CloseQueue)",
    [](const QueueActionFlags& flags, inspect::LiveCluster& cluster) {
      return OpenOrClose(flags, cluster, inspect::QueueAction::kClose);
    }};

int RunQueueAction(const QueueActionFlags& flags, QueueWork work) {
  const auto act = [&]() -> Result<std::string> {
    TRY_ASSIGN(const std::unique_ptr<inspect::LiveCluster> cluster,
               inspect::LiveCluster::Open(flags.connection, kube::SystemSurroundings()));
    return work(flags, *cluster);
  };
  return PrintResult(act(), {});
}

// The flag -n is vcctl's.
void AddQueueName(CLI::App& command, std::string& name) {
  command.add_option("queue,-n,--name", name, "The Queue")->type_name("QUEUE")->required();
}

CLI::App& AddQueueAction(CLI::App& queue,
                         const QueueActionCommand& what,
                         const std::shared_ptr<QueueActionFlags>& flags,
                         Run& run) {
  CLI::App& command = *queue.add_subcommand(what.name, what.what);
  command.footer(kQueueFooter);
  AddConnectionFlags(command, flags->connection);
  AddQueueName(command, flags->queue.name);
  command.callback([flags, work = what.work, &run] {
    run = [flags, work] { return RunQueueAction(*flags, work); };
  });
  return command;
}

void AddAmounts(CLI::App& command,
                const char* flag,
                objects::ResourceList& amounts,
                const char* what) {
  command
      .add_option_function<std::string>(
          flag,
          [&amounts](const std::string& text) { amounts = ParsePodShape(text).value(); },
          what)
      ->type_name("NAME=AMOUNT,...")
      ->check([](const std::string& text) { return MessageOf(ParsePodShape(text)); });
}

void AddCreateFlags(CLI::App& command, inspect::NewQueue& queue) {
  command
      .add_option(
          "-w,--weight", queue.weight, "Its part where plugin proportion divides; default: 1")
      ->type_name("N")
      ->check(CLI::Range(1, 65535).description(""));
  command
      .add_option("--priority", queue.priority, "Queues of higher priority come first; default: 0")
      ->type_name("N");
  command.add_option("--parent", queue.parent, "The queue above it; default: root")
      ->type_name("QUEUE");
  command.add_flag_callback(
      "--no-reclaim",
      [&queue] { queue.reclaimable = false; },
      "Other queues may not take back what it has beyond its part");
  AddAmounts(command, "--capability", queue.capability, "The most that its jobs may have");
  AddAmounts(command, "--deserved", queue.deserved, "Its part where plugin capacity divides");
  AddAmounts(command, "--guarantee", queue.guarantee, "What no other queue may use");
}

// ---- what shows queues

using QueueView = Result<std::string> (*)(const QueueShowFlags& flags,
                                          Input& input,
                                          Progress& progress);

CLI::App& AddQueueView(
    CLI::App& queue, const char* name, const char* what, QueueView view, Run& run) {
  CLI::App& command = *queue.add_subcommand(name, what);
  command.footer(kQueueFooter);
  const auto flags = std::make_shared<QueueShowFlags>();
  AddClusterFlags(command, flags->input);
  AddWatchFlag(command, flags->input);
  AddWhatIfFlags(command, flags->input);
  AddOutputFlag(command, flags->output, {"table", "json"});
  if (view == DescribeQueue) AddQueueName(command, flags->name);
  command.callback([flags, view, &run] {
    run = [flags, view] {
      return ShowCluster(flags->input, [&](Input& input, Progress& progress) {
        return view(*flags, input, progress);
      });
    };
  });
  return command;
}

}  // namespace

void AddQueueCommand(CLI::App& app, Run& run) {
  CLI::App& queue = *app.add_subcommand(
      "queue", "Show what queues use, deserve and have left; create, open, close or delete one");
  queue.require_subcommand(1);
  queue.footer(kQueueFooter);
  AddQueueView(queue,
               "list",
               "List the queues with their shares, what is left, and why their jobs wait",
               ListQueues,
               run);
  AddQueueView(queue,
               "describe",
               "Show one queue with what is left of it, and why its jobs wait",
               DescribeQueue,
               run);
  const auto flags = std::make_shared<QueueActionFlags>();
  AddCreateFlags(AddQueueAction(queue, kCreate, flags, run), flags->queue);
  AddQueueAction(queue, kOpen, flags, run);
  AddQueueAction(queue, kClose, flags, run);
  AddQueueAction(queue, kDelete, flags, run)
      .add_flag("-y,--yes", flags->yes, "Do not ask for confirmation");
}

}  // namespace strata
