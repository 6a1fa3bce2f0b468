#include "apps/flags.h"

#include <CLI/CLI.hpp>
#include <map>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "apps/listen_address.h"
#include "base/timestamp.h"
#include "simulate/topology_report.h"

namespace strata {
namespace {

constexpr int kBadUsage = 2;

constexpr const char* kMainFooter = R"(
Examples:
  strata simulate -f examples/training          where every pod goes, and why
  strata explain -f examples/hard-pending default/pytorch-distributed-training
                                                why a job waits, and what would help
  strata topology -f examples/training          the network, what is used and what is free
  strata queue list -f examples/training        the queues, what they have and may have
  strata discover --config volcano-controller.conf --nodes nodes.yaml
                                                the HyperNodes that the network's own records give
  strata apiserver                              a Kubernetes API server on this machine, for kubectl

Exit status: 0 success, 1 the work failed, 2 bad usage.)";

constexpr const char* kSimulateFooter = R"(
Examples:
  strata simulate -f cluster.yaml -f jobs/
  kubectl get nodes,hypernodes,pods,podgroups,queues -A -o json | strata simulate -f - -o json
  strata simulate -f . --scheduler-conf volcano-scheduler.conf --trace decisions.jsonl
  strata simulate -f . --explain default/train)";

constexpr const char* kExplainFooter = R"(
Every change that is listed was made in a copy of the input and solved again.

Examples:
  strata explain -f cluster.yaml -f jobs/ default/train
  strata explain -f examples/hard-pending default/pytorch-distributed-training
  strata explain -f . --scheduler-conf volcano-scheduler.conf -o json default/train)";

constexpr const char* kTopologyFooter = R"(
Examples:
  strata topology -f cluster.yaml
  strata topology -f . --pod cpu=8,nvidia.com/gpu=8
  strata topology -f . --as-given -o json)";

constexpr const char* kQueueListFooter = R"(
Examples:
  strata queue list -f cluster.yaml
  strata queue list -f . --scheduler-conf volcano-scheduler.conf -o json)";

constexpr const char* kDiscoverFooter = R"(
Examples:
  strata discover --config volcano-controller.conf --nodes cluster.yaml > hypernodes.yaml
  strata discover --config volcano-controller.conf --nodes cluster.yaml --previous hypernodes.yaml --diff
  strata discover --config volcano-controller.conf --source infiniband -o json

A source that fails, or whose answer lacks more than 30% of its previous nodes, is one line on
standard error and exit status 1; its previous HyperNodes are printed in its place.)";

constexpr const char* kApiserverFooter = R"(
Prints "ready URL kubeconfig=FILE" once it serves, and ends cleanly on SIGINT and SIGTERM.

Examples:
  strata apiserver                              in memory, on a free port of 127.0.0.1
  strata apiserver --data-dir ~/strata-data --listen 127.0.0.1:8443
  kubectl --kubeconfig ~/.local/state/strata/kubeconfig get nodes)";

// Turns a Result into what CLI11 wants of a check: the message, "" when all is well.
template <typename T>
std::string MessageOf(const Result<T>& result) {
  return result ? std::string() : result.error().message;
}

const std::map<std::string, OutputFormat>& Formats() {
  static const std::map<std::string, OutputFormat> formats = {{"table", OutputFormat::kTable},
                                                              {"json", OutputFormat::kJson},
                                                              {"yaml", OutputFormat::kYaml}};
  return formats;
}

// Flags as they are typed; what needs conversion is converted once everything has been checked.
struct Typed {
  InputFlags input;
  std::string now;
  std::string output;  // "" for the command's own default
  std::string pod;
  SimulateFlags simulate;
  ExplainFlags explain;
  TopologyFlags topology;
  QueueListFlags queue_list;
  DiscoverFlags discover;
  ApiserverFlags apiserver;
};

void AddInputFlags(CLI::App& command, Typed& typed) {
  command
      .add_option(
          "-f,--filename",
          typed.input.files,
          "Manifests: a file (YAML or JSON), a directory, or - for standard input; repeatable")
      ->type_name("FILE|DIR|-")
      ->required()
      ->allow_extra_args(false);
  command
      .add_option("--scheduler-conf",
                  typed.input.scheduler_conf,
                  "A volcano-scheduler.conf, or the ConfigMap that holds one")
      ->type_name("FILE");
  command
      .add_option("--now", typed.now, "The time of the run; default: the latest time in the input")
      ->type_name("RFC3339")
      ->check([](const std::string& text) { return MessageOf(ParseTimestamp(text)); });
}

void AddOutputFlag(CLI::App& command,
                   Typed& typed,
                   std::vector<std::string> formats,
                   const std::string& usual = "table") {
  const std::string words = fmt::format("{}", fmt::join(formats, "|"));
  command.add_option("-o,--output", typed.output, "Output format; default: " + usual)
      ->type_name(words)
      ->check([formats = std::move(formats), words](const std::string& text) {
        for (const std::string& format : formats) {
          if (format == text) return std::string();
        }
        return fmt::format("unknown format \"{}\" (want {})", text, words);
      });
}

std::string CheckJobName(const std::string& text) {
  const std::size_t slash = text.find('/');
  const bool good = slash != std::string::npos && slash > 0 && slash + 1 < text.size();
  return good ? std::string() : fmt::format("\"{}\": want NAMESPACE/JOB", text);
}

void AddSimulate(CLI::App& app, Typed& typed) {
  CLI::App& command = *app.add_subcommand(
      "simulate", "Schedule manifests, without any cluster, and show the decisions");
  command.footer(kSimulateFooter);
  AddInputFlags(command, typed);
  command
      .add_option("--cycles",
                  typed.simulate.cycles,
                  "Run exactly N cycles; default: until one changes nothing, at most 100")
      ->type_name("N")
      ->check(CLI::Range(1, 1000000).description(""));
  AddOutputFlag(command, typed, {"table", "json", "yaml"});
  command
      .add_option("--trace", typed.simulate.trace_file, "Write every decision as a line of JSON")
      ->type_name("FILE");
  command.add_flag("--timings", typed.simulate.timings, "Say how long loading and deciding took");
  command.add_option("--explain", typed.simulate.explain, "Tell the story of one Job or PodGroup")
      ->type_name("NS/JOB")
      ->check(CheckJobName);
}

void AddExplain(CLI::App& app, Typed& typed) {
  CLI::App& command = *app.add_subcommand(
      "explain", "Tell why one job waits or runs where it does, and what would let it start");
  command.footer(kExplainFooter);
  AddInputFlags(command, typed);
  command.add_option("job", typed.explain.job, "The Job or PodGroup")
      ->type_name("NS/JOB")
      ->required()
      ->check(CheckJobName);
  AddOutputFlag(command, typed, {"table", "json"});
}

void AddTopology(CLI::App& app, Typed& typed) {
  CLI::App& command = *app.add_subcommand(
      "topology", "Draw the HyperNode tree with used and free resources, and what would fit");
  command.footer(kTopologyFooter);
  AddInputFlags(command, typed);
  command
      .add_option(
          "--pod",
          typed.pod,
          "Shape of the pods to count; default: all GPUs of the largest node, or all its CPUs")
      ->type_name("NAME=AMOUNT,...")
      ->check([](const std::string& text) { return MessageOf(ParsePodShape(text)); });
  command.add_flag("--as-given",
                   typed.topology.as_given,
                   "Show the manifests as they are, before any pending pod is placed");
  AddOutputFlag(command, typed, {"table", "json"});
}

void AddQueue(CLI::App& app, Typed& typed) {
  CLI::App& queue = *app.add_subcommand("queue", "What the queues have, deserve and wait for");
  queue.require_subcommand(1);
  CLI::App& list = *queue.add_subcommand(
      "list", "Show the queues, their shares, and why a job is not let in, once pods are placed");
  list.footer(kQueueListFooter);
  AddInputFlags(list, typed);
  AddOutputFlag(list, typed, {"table", "json"});
}

void AddManifestFlag(CLI::App& command,
                     const char* flag,
                     std::vector<std::string>& out,
                     const char* what) {
  command.add_option(flag, out, what)->type_name("FILE|DIR|-")->allow_extra_args(false);
}

void AddDiscover(CLI::App& app, Typed& typed) {
  CLI::App& command = *app.add_subcommand(
      "discover", "Print the HyperNodes that the network, a fabric manager or labels tell of");
  command.footer(kDiscoverFooter);
  DiscoverFlags& flags = typed.discover;
  command
      .add_option(
          "--config", flags.config, "A volcano-controller.conf, or the ConfigMap that holds one")
      ->type_name("FILE")
      ->required();
  command.add_option("--source", flags.sources, "Only entries of this source or name; repeatable")
      ->type_name("NAME")
      ->allow_extra_args(false);
  AddManifestFlag(command, "--nodes", flags.nodes, "Manifests with the Nodes, and Secrets");
  AddManifestFlag(
      command, "--previous", flags.previous, "Manifests with the HyperNodes as they are");
  command.add_flag(
      "--accept-shrink", flags.accept_shrink, "Believe an answer that lacks many nodes");
  command.add_flag("--diff", flags.diff, "Show what would change against --previous instead");
  AddOutputFlag(command, typed, {"yaml", "json"}, "yaml");
}

void AddServerFlags(CLI::App& command, ApiserverFlags& flags) {
  command
      .add_option("--listen",
                  flags.listen,
                  "Address and port; port 0 takes a free one; default: 127.0.0.1:0")
      ->type_name("ADDRESS:PORT")
      ->check([](const std::string& text) { return MessageOf(ParseListenAddress(text)); });
  command
      .add_option("--data-dir",
                  flags.data_dir,
                  "Keep objects, CA and token in this folder; default: in memory")
      ->type_name("DIR");
  command
      .add_option("--kubeconfig",
                  flags.kubeconfig,
                  "Where to write the kubeconfig; default: strata/kubeconfig in "
                  "$XDG_STATE_HOME or ~/.local/state")
      ->type_name("FILE");
  command.add_flag("--plain-http",
                   flags.plain_http,
                   "No TLS and no token, for debugging and benchmarks; loopback only");
}

void AddApiserver(CLI::App& app, Typed& typed) {
  CLI::App& command = *app.add_subcommand(
      "apiserver", "Serve the Kubernetes API from this machine, with Volcano's kinds");
  command.footer(kApiserverFooter);
  AddServerFlags(command, typed.apiserver);
  command.callback([&flags = typed.apiserver] {
    if (!flags.plain_http || ParseListenAddress(flags.listen).value().IsLoopback()) return;
    throw CLI::ValidationError("--plain-http", "only on a loopback address, not " + flags.listen);
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

// One line, with the next step.
JustPrint Usage(const CLI::App& app, std::string message) {
  for (char& c : message) {
    if (c == '\n') c = ' ';
  }
  const std::string name = CommandName(app);
  return {.text = fmt::format("{}: {} (see {} --help)\n", name, message, name),
          .exit_code = kBadUsage};
}

JustPrint Explain(const CLI::App& app, const CLI::ParseError& error) {
  const auto chosen = app.get_subcommands();
  const auto extras = app.remaining(true);
  if (chosen.empty() && !extras.empty()) {
    const bool flag = extras.front().starts_with("-");
    return Usage(app,
                 fmt::format("unknown {} \"{}\", want simulate, explain, topology, queue, "
                             "discover, apiserver or version",
                             flag ? "flag" : "command",
                             extras.front()));
  }
  if (chosen.empty()) {
    return Usage(
        app, "want a command: simulate, explain, topology, queue, discover, apiserver or version");
  }
  if (!extras.empty()) {
    const bool flag = extras.front().starts_with("-");
    return Usage(app, fmt::format("unknown {} \"{}\"", flag ? "flag" : "argument", extras.front()));
  }
  return Usage(app, error.what());
}

void Finish(const Typed& typed, InputFlags& input, OutputFormat& output) {
  input = typed.input;
  if (!typed.now.empty()) input.now = ParseTimestamp(typed.now).value();
  output = typed.output.empty() ? OutputFormat::kTable : Formats().at(typed.output);
}

}  // namespace

Invocation ParseCommandLine(int argc, const char* const* argv) {
  CLI::App app("Topology-aware gang scheduling for Kubernetes", "strata");
  app.footer(kMainFooter);
  app.set_version_flag("--version", "strata " STRATA_VERSION);
  app.require_subcommand(1);
  Typed typed;
  AddSimulate(app, typed);
  AddExplain(app, typed);
  AddTopology(app, typed);
  AddQueue(app, typed);
  AddDiscover(app, typed);
  AddApiserver(app, typed);
  app.add_subcommand("version", "Print the version");
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    return JustPrint{.text = HelpOf(app), .exit_code = 0};
  } catch (const CLI::CallForVersion& version) {
    return JustPrint{.text = std::string(version.what()) + "\n", .exit_code = 0};
  } catch (const CLI::ParseError& error) {
    return Explain(app, error);
  }
  if (app.got_subcommand("simulate")) {
    Finish(typed, typed.simulate.input, typed.simulate.output);
    return typed.simulate;
  }
  if (app.got_subcommand("explain")) {
    Finish(typed, typed.explain.input, typed.explain.output);
    return typed.explain;
  }
  if (app.got_subcommand("topology")) {
    Finish(typed, typed.topology.input, typed.topology.output);
    if (!typed.pod.empty()) typed.topology.pod = ParsePodShape(typed.pod).value();
    return typed.topology;
  }
  if (app.got_subcommand("queue")) {
    Finish(typed, typed.queue_list.input, typed.queue_list.output);
    return typed.queue_list;
  }
  if (app.got_subcommand("discover")) {
    if (!typed.output.empty()) typed.discover.output = Formats().at(typed.output);
    return typed.discover;
  }
  if (app.got_subcommand("apiserver")) return typed.apiserver;
  return JustPrint{.text = "strata " STRATA_VERSION "\n", .exit_code = 0};
}

}  // namespace strata
