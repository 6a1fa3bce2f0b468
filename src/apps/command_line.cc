#include "apps/command_line.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "apps/aliases.h"
#include "apps/help_format.h"
#include "report/names.h"

namespace strata {
namespace {

constexpr int kBadUsage = 2;

constexpr const char* kMainFooter = R"(
Examples:
  strata simulate -f examples/training          where every pod goes, and why
  strata explain -f examples/hard-pending default/pytorch-distributed-training
                                                why a job waits, and what would help
  strata replay jobs.csv --cluster spines=2,racks=8,nodes=16,gpus=8
                                                what a policy does to waiting times over a month of jobs
  strata topology -f examples/training          the network, what is used and what is free
  strata queue list -f examples/training        the queues: what they use, deserve and may use
  strata job list -A                            the Jobs of the running cluster
  strata top --watch                            requests and capacity of its nodes and queues
  strata topology --drain rack-3                what if: which jobs would lose their place
  strata compare cluster-a/ cluster-b/ -f jobs/
                                                which cluster would place these jobs better
  strata generate spines=2,racks=2,nodes=4,gpus=8
                                                manifests of a cluster to simulate with
  strata snapshot | strata simulate -f -        what Strata would decide for this cluster
  strata discover --config volcano-controller.conf --nodes nodes.yaml
                                                the HyperNodes found in the network or in node labels
  strata up --generate spines=2,racks=2,nodes=2 a whole cluster on this machine, for kubectl
  strata apiserver                              a Kubernetes API server on this machine, for kubectl
  strata scheduler                              the scheduler of a running cluster
  strata controllers                            the controllers of Volcano's kinds, for a running cluster

Words of kubectl, vcctl and Slurm work, too: jobs, queues, nodes, hypernodes, run, logs, get jobs, delete queue,
job view, squeue, scancel, sinfo.

Exit status: 0 success, 1 failure, 2 bad usage.)";

void AddVersionCommand(CLI::App& app, Run& run) {
  app.add_subcommand("version", "Print the version")->callback([&run] {
    run = [] {
      fmt::print("strata {}\n", STRATA_VERSION);
      return 0;
    };
  });
}

// The subcommand that was named, null if none was.
const CLI::App* Chosen(const CLI::App& app) {
  const auto chosen = app.get_subcommands();
  return chosen.empty() ? nullptr : chosen.front();
}

// The command that was being read when something went wrong: "strata simulate".
std::string CommandName(const CLI::App& app) {
  std::string name = "strata";
  for (const CLI::App* command = Chosen(app); command != nullptr; command = Chosen(*command)) {
    name += " " + command->get_name();
  }
  return name;
}

std::string HelpOf(const CLI::App& app) {
  std::string before;
  const CLI::App* last = &app;
  for (const CLI::App* command = Chosen(app); command != nullptr; command = Chosen(*command)) {
    before += (before.empty() ? "" : " ") + last->get_name();
    last = command;
  }
  return last->help(before);
}

// Commands without a group are for scripts, not for people.
bool IsHidden(const CLI::App& command) {
  return command.get_group().empty();
}

// The command below which the line went wrong.
const CLI::App& Last(const CLI::App& app) {
  const CLI::App* last = &app;
  while (const CLI::App* next = Chosen(*last)) last = next;
  return *last;
}

// The command that takes the fewest typing errors to get from `wanted`.
std::string Nearest(const CLI::App& app, const std::string& wanted) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands(nullptr)) {
    if (!IsHidden(*command)) names.push_back(command->get_name());
  }
  return NearestNames(names, wanted, 1).front();
}

// `strata help queue list`: the help of that command.
int PrintHelp(const CLI::App& app, const std::vector<std::string>& words) {
  std::string path;
  const CLI::App* at = &app;
  for (const std::string& word : words) {
    const auto commands = at->get_subcommands(nullptr);
    const auto found = std::find_if(commands.begin(), commands.end(), [&](const CLI::App* command) {
      return command->get_name() == word;
    });
    if (found == commands.end()) {
      const std::string guess =
          commands.empty() ? "" : fmt::format(", did you mean {}?", Nearest(*at, word));
      fmt::print(
          stderr, "strata help: unknown command \"{}\"{} (see strata --help)\n", word, guess);
      return kBadUsage;
    }
    path += (path.empty() ? "" : " ") + at->get_name();
    at = *found;
  }
  // App::help would print that of `strata help`, the command that was read.
  const std::string name = path + (path.empty() ? "" : " ") + at->get_name();
  fmt::print("{}", at->get_formatter()->make_help(at, name, CLI::AppFormatMode::Normal));
  return 0;
}

void AddHelpCommand(CLI::App& app, Run& run) {
  CLI::App& command = *app.add_subcommand("help", "Print the help of a command");
  const auto words = std::make_shared<std::vector<std::string>>();
  command.add_option("command", *words, "The command; default: all of them")->type_name("COMMAND");
  command.callback([&app, words, &run] { run = [&app, words] { return PrintHelp(app, *words); }; });
}

std::string WhatIsWrong(const CLI::App& app, const CLI::ParseError& error) {
  const CLI::App& last = Last(app);
  const bool wants_command = last.get_require_subcommand_min() > 0;
  const auto extras = app.remaining(true);
  if (extras.empty()) return wants_command ? "want a command" : error.what();
  const std::string& first = extras.front();
  if (first.starts_with("-")) return fmt::format("unknown flag \"{}\"", first);
  if (!wants_command) return fmt::format("unknown argument \"{}\"", first);
  if (&last == &app && first == "get") {
    return "get takes jobs, queues, nodes or hypernodes; kubectl get has the rest";
  }
  if (&last == &app && first == "describe") {
    return "describe takes job or queue; kubectl describe has the rest";
  }
  return fmt::format("unknown command \"{}\", did you mean {}?", first, Nearest(last, first));
}

// One line, with the next step.
int BadUsage(const CLI::App& app, std::string message) {
  for (char& c : message) {
    if (c == '\n') c = ' ';
  }
  const std::string name = CommandName(app);
  fmt::print(stderr, "{}: {} (see {} --help)\n", name, message, name);
  return kBadUsage;
}

}  // namespace

void AddCommands(CLI::App& app, Run& run) {
  app.formatter(std::make_shared<HelpFormatter>());
  app.description("Topology-aware gang scheduling for Kubernetes");
  app.name("strata");
  app.footer(kMainFooter);
  app.set_version_flag("--version", "strata " STRATA_VERSION);
  app.require_subcommand(1);
  AddSimulateCommand(app, run);
  AddExplainCommand(app, run);
  AddCompareCommand(app, run);
  AddDefragCommand(app, run);
  AddReplayCommand(app, run);
  AddTopologyCommand(app, run);
  AddTopCommand(app, run);
  AddQueueCommand(app, run);
  AddJobCommand(app, run);
  AddEvictionsCommand(app, run);
  AddSnapshotCommand(app, run);
  AddManifestsCommand(app, run);
  AddDiscoverCommand(app, run);
  AddUpCommand(app, run);
  AddApiserverCommand(app, run);
  AddSchedulerCommand(app, run);
  AddCompletionCommand(app, run);
  AddManCommand(app, run);
  AddVirtualNodesCommand(app, run);
  AddControllersCommand(app, run);
  AddWebhooksCommand(app, run);
  AddPageCommand(app, run);
  AddVersionCommand(app, run);
  AddHelpCommand(app, run);
  AddCompleteCommand(app, run);
}

int RunCommandLine(int argc, const char* const* argv) {
  Run run;
  CLI::App app;
  AddCommands(app, run);
  try {
    std::vector<std::string> words = ExpandAliases({argv + 1, argv + argc});
    std::reverse(words.begin(), words.end());  // as the parser takes them
    app.parse(std::move(words));
  } catch (const CLI::CallForHelp&) {
    fmt::print("{}", HelpOf(app));
    return 0;
  } catch (const CLI::CallForVersion& version) {
    fmt::print("{}\n", version.what());
    return 0;
  } catch (const CLI::ParseError& error) {
    return BadUsage(app, WhatIsWrong(app, error));
  }
  return run();
}

}  // namespace strata
