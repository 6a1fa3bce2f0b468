#include "apps/flags.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "base/timestamp.h"
#include "component/listen_address.h"
#include "report/kind_words.h"

namespace strata {
namespace {

const std::map<std::string, OutputFormat>& Formats() {
  static const std::map<std::string, OutputFormat> formats = {{"table", OutputFormat::kTable},
                                                              {"wide", OutputFormat::kWide},
                                                              {"name", OutputFormat::kName},
                                                              {"json", OutputFormat::kJson},
                                                              {"yaml", OutputFormat::kYaml}};
  return formats;
}

CLI::Option& AddFiles(CLI::App& command, InputFlags& flags, const std::string& otherwise) {
  return *command
              .add_option("-f,--filename",
                          flags.files,
                          "Manifests: a file (YAML or JSON), a directory, or - for standard input; "
                          "repeatable" +
                              otherwise)
              ->type_name("FILE|DIR|-")
              ->allow_extra_args(false)
              ->check(CheckPath);
}

enum class ClusterMayRun : std::uint8_t { kNo, kYes };

void AddRunFlags(CLI::App& command, InputFlags& flags, ClusterMayRun may_run) {
  const bool live = may_run == ClusterMayRun::kYes;
  command
      .add_option(
          "--scheduler-conf",
          flags.scheduler_conf,
          fmt::format("A volcano-scheduler.conf, or the ConfigMap that holds one; default: "
                      "ConfigMap volcano-system/volcano-scheduler-configmap of the manifests{}, "
                      "else the built-in default",
                      live ? " or of the running cluster" : ""))
      ->type_name("FILE")
      ->check(CheckPath);
  command
      .add_option_function<std::string>(
          "--now",
          [&flags](const std::string& text) { flags.now = ParseTimestamp(text).value(); },
          fmt::format("The current time for the scheduler; default: the latest time in the "
                      "manifests, 1970 if they have none{}",
                      live ? "; for a running cluster: now" : ""))
      ->type_name("RFC3339")
      ->check([](const std::string& text) { return MessageOf(ParseTimestamp(text)); });
}

struct WhatIfFlag {
  const char* name;
  Edit::Kind kind;
  const char* value;
  const char* what;
};
constexpr WhatIfFlag kWhatIfFlags[] = {
    {"--drain",
     Edit::Kind::kDrain,
     "NODE",
     "What if this node, or all below this HyperNode, were drained"},
    {"--cordon", Edit::Kind::kCordon, "NODE", "What if it took no new pods"},
    {"--without", Edit::Kind::kWithout, "[NS/]JOB", "What if this job were gone"},
    {"--add",
     Edit::Kind::kAdd,
     "nodes=N[,racks=R]...",
     "What if there were more nodes: copies of like=NODE, under=HYPERNODE, with gpus=, cpu=, "
     "memory="},
    {"--scale", Edit::Kind::kScale, "JOB[:TASK]=N", "What if a job, or one task of it, had N pods"},
    {"--set",
     Edit::Kind::kSet,
     "QUEUE.FIELD=VALUE",
     "What if a queue had another weight, priority, capability.RESOURCE, ..."}};

}  // namespace

void AddValidateFlag(CLI::App& command, objects::OnFault& on_fault) {
  command
      .add_option_function<std::string>(
          "--validate",
          [&on_fault](const std::string& text) {
            on_fault = text == "warn" ? objects::OnFault::kWarn : objects::OnFault::kFail;
          },
          "Manifests with unknown fields, or with values that the API server would reject: strict "
          "makes them an error, warn a warning; default: strict. Objects that have a "
          "resourceVersion, and pods on a node, give warnings only")
      ->type_name("strict|warn")
      ->check([](const std::string& text) {
        const bool known = text == "strict" || text == "warn";
        return known ? std::string() : fmt::format("unknown value \"{}\" (want strict|warn)", text);
      });
}

void AddManifestFlags(CLI::App& command, InputFlags& flags) {
  AddFiles(command, flags, "").required();
  AddValidateFlag(command, flags.on_fault);
  AddRunFlags(command, flags, ClusterMayRun::kNo);
}

void AddClusterFlags(CLI::App& command, InputFlags& flags) {
  CLI::Option& files = AddFiles(command, flags, "; default: the running cluster");
  AddConnectionFlags(command, flags.connection);
  for (const char* flag : {"--kubeconfig", "--context"}) {
    command.get_option(flag)->excludes(&files);
  }
  AddValidateFlag(command, flags.on_fault);
  command.get_option("--validate")->needs(&files);
  AddRunFlags(command, flags, ClusterMayRun::kYes);
}

void AddSharedFlags(CLI::App& command, InputFlags& flags) {
  AddFiles(command, flags, "; added to both sides");
  AddConnectionFlags(command, flags.connection);
  AddValidateFlag(command, flags.on_fault);
  AddRunFlags(command, flags, ClusterMayRun::kYes);
}

void AddWatchFlag(CLI::App& command, InputFlags& flags) {
  command
      .add_flag("-w,--watch", flags.watch, "Print the view again after each change of the cluster")
      ->excludes(command.get_option("--filename"));
}

void AddWhatIfFlags(CLI::App& command, InputFlags& flags) {
  for (const WhatIfFlag& flag : kWhatIfFlags) {
    command
        .add_option_function<std::vector<std::string>>(
            flag.name,
            [&flags, kind = flag.kind](const std::vector<std::string>& texts) {
              for (const std::string& text : texts) flags.edits.push_back({kind, text});
            },
            std::string(flag.what) + "; repeatable")
        ->type_name(flag.value)
        ->allow_extra_args(false)
        ->group("What if")
        ->check([kind = flag.kind](const std::string& text) {
          return MessageOf(CheckEdit({kind, text}));
        });
  }
}

std::string TextOf(const Edit& edit) {
  const auto* const flag =
      std::find_if(std::begin(kWhatIfFlags), std::end(kWhatIfFlags), [&](const WhatIfFlag& one) {
        return one.kind == edit.kind;
      });
  return fmt::format("{} {}", flag->name, edit.text);
}

void AddOutputFlag(CLI::App& command, OutputFormat& output, std::vector<std::string> formats) {
  const std::string words = fmt::format("{}", fmt::join(formats, "|"));
  const std::string what = "Output format; default: " + formats.front();
  command
      .add_option_function<std::string>(
          "-o,--output", [&output](const std::string& text) { output = Formats().at(text); }, what)
      ->type_name(words)
      ->check([formats = std::move(formats), words](const std::string& text) {
        const bool known = std::find(formats.begin(), formats.end(), text) != formats.end();
        return known ? std::string() : fmt::format("unknown format \"{}\" (want {})", text, words);
      });
}

void AddTreeFlags(CLI::App& command, TreeView& view) {
  command
      .add_option(
          "--depth", view.depth, "Levels below the first row; default: as many as fit in 64 rows")
      ->type_name("LEVELS")
      ->check(CLI::NonNegativeNumber);
  command
      .add_option("--under", view.under, "Only this HyperNode, by name or label, and those below")
      ->type_name("HYPERNODE");
}

void AddConnectionFlags(CLI::App& command, kube::ConnectionFlags& flags) {
  command
      .add_option("--kubeconfig",
                  flags.kubeconfig,
                  "The kubeconfig of the cluster; default: $KUBECONFIG or ~/.kube/config")
      ->type_name("FILE");
  command
      .add_option(
          "--context", flags.context, "A context of the kubeconfig; default: its current context")
      ->type_name("NAME");
}

void AddServerFlags(CLI::App& command, ServerSettings& flags) {
  command
      .add_option("--listen",
                  flags.listen,
                  "Address and port to listen on; port 0 takes a free one; default: 127.0.0.1:0")
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
  command
      .add_option("--audit-log",
                  flags.audit_log,
                  "Append a line to this file for each request that changes an object")
      ->type_name("FILE");
  command.add_flag("--new-credentials",
                   flags.new_credentials,
                   "Replace the CA and the token of --data-dir; earlier kubeconfigs end");
  command.add_flag("--plain-http",
                   flags.plain_http,
                   "No TLS and no token, for debugging and benchmarks; loopback only");
}

void CheckServerFlags(const ServerSettings& flags) {
  if (!flags.plain_http || ParseListenAddress(flags.listen).value().IsLoopback()) return;
  throw CLI::ValidationError("--plain-http", "only on a loopback address, not " + flags.listen);
}

void AddGenerateFlag(CLI::App& command, std::optional<virtual_nodes::GenerateSpec>& spec) {
  command
      .add_option_function<std::string>(
          "--generate",
          [&spec](const std::string& text) {
            spec = virtual_nodes::ParseGenerateSpec(text).value();
          },
          "Create nodes and HyperNodes: "
          "spines=S,racks=R,nodes=N[,gpus=G[:MODEL]][,cpu=C][,memory=M]")
      ->type_name("SPEC")
      ->check([](const std::string& text) {
        return MessageOf(virtual_nodes::ParseGenerateSpec(text));
      });
}

std::string CheckPath(const std::string& text) {
  return text.empty() ? "want a path, found \"\"" : "";
}

std::string CheckJobName(const std::string& text) {
  const std::size_t slash = text.find('/');
  const bool good = slash != std::string::npos && slash > 0 && slash + 1 < text.size();
  return good ? std::string() : fmt::format("\"{}\": want NAMESPACE/NAME", text);
}

namespace {

// What stands between the slashes.
std::vector<std::string> PartsOf(const std::string& text) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0;;) {
    const std::size_t slash = text.find('/', begin);
    parts.push_back(text.substr(begin, slash - begin));
    if (slash == std::string::npos) return parts;
    begin = slash + 1;
  }
}

}  // namespace

std::string CheckName(const std::string& text) {
  const std::vector<std::string> parts = PartsOf(text);
  const bool whole =
      std::none_of(parts.begin(), parts.end(), [](const auto& part) { return part.empty(); });
  const bool good =
      whole && (parts.size() <= 2 || (parts.size() == 3 && !KindOfWord(parts[1]).empty()));
  return good ? std::string() : fmt::format("\"{}\": want NAMESPACE/NAME, NAME or KIND/NAME", text);
}

Result<NamespacedKey> ResolveName(const std::string& text,
                                  const std::string& flag,
                                  const std::string& otherwise) {
  std::vector<std::string> parts = PartsOf(text);
  NamespacedKey key{flag.empty() ? otherwise : flag, parts.back()};
  parts.pop_back();
  if (!parts.empty()) key.kind = KindOfWord(parts.back());
  if (!key.kind.empty()) parts.pop_back();
  if (parts.empty()) return key;
  if (!flag.empty() && flag != parts.front()) {
    return Fail(Code::kInvalidArgument,
                fmt::format("{}: -n names another namespace, {}", text, flag));
  }
  key.ns = parts.front();
  return key;
}

}  // namespace strata
