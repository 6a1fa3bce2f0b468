#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "apps/command_line.h"
#include "apps/flags.h"
#include "apps/input.h"
#include "apps/terminal.h"
#include "discovery/config.h"
#include "discovery/discover.h"
#include "discovery/permissions.h"
#include "discovery/render.h"
#include "discovery/system_reader.h"
#include "objects/load.h"
#include "objects/read_files.h"

namespace strata {
namespace {

using discovery::Discovery;

constexpr const char* kDiscoverFooter = R"(
Examples:
  strata discover --config volcano-controller.conf --nodes cluster.yaml > hypernodes.yaml
  strata discover --config volcano-controller.conf --nodes cluster.yaml --previous hypernodes.yaml --diff
  strata discover --config volcano-controller.conf --source infiniband -o json

If a source fails, or its answer lacks more than 30% of its previous nodes, there is one line on
standard error, the exit status is 1, and the previous HyperNodes of that source are printed.)";

struct DiscoverFlags {
  std::string config;
  std::vector<std::string> sources;   // sources or names; none: all that are enabled
  std::vector<std::string> nodes;     // manifests; none: hosts are taken as they are
  std::vector<std::string> previous;  // manifests
  bool accept_shrink = false;
  bool diff = false;
  OutputFormat output = OutputFormat::kYaml;
};

Result<objects::ObjectSet> Load(const std::vector<std::string>& paths,
                                std::vector<std::string>& warnings) {
  if (paths.empty()) return objects::ObjectSet{};
  TRY_ASSIGN(const std::vector<objects::Source> sources, objects::ReadSources(paths, std::cin));
  TRY_ASSIGN(objects::ObjectSet set, objects::ParseObjects(sources));
  warnings.insert(warnings.end(), set.warnings.begin(), set.warnings.end());
  return set;
}

Result<discovery::DiscoveryConf> LoadConf(const std::string& path) {
  TRY_ASSIGN(const std::vector<objects::Source> sources,
             objects::ReadSources(std::span(&path, 1), std::cin));
  if (sources.size() != 1) {
    return Fail(Code::kInvalidArgument, path + ": want one file, found a directory");
  }
  return discovery::ParseDiscoveryConf(sources.front());
}

int Count(const std::vector<std::string>& paths) {
  return static_cast<int>(std::count(paths.begin(), paths.end(), "-"));
}

// Only one flag can have standard input.
Status CheckInputs(const DiscoverFlags& flags) {
  if (int{flags.config == "-"} + Count(flags.nodes) + Count(flags.previous) <= 1) return {};
  return Fail(Code::kInvalidArgument, "-: standard input can be read only once");
}

Result<Discovery> RunSources(const DiscoverFlags& flags,
                             discovery::DiscoverInput input,
                             std::vector<std::string>& warnings) {
  TRY_ASSIGN(discovery::DiscoveryConf conf, LoadConf(flags.config));
  if (Status known = discovery::CheckSourceNames(conf, flags.sources); !known) {
    return tl::unexpected(std::move(known).error().Context(flags.config));
  }
  warnings.insert(warnings.end(), conf.warnings.begin(), conf.warnings.end());
  const bool any = std::any_of(
      conf.sources.begin(), conf.sources.end(), [](const auto& entry) { return entry.enabled; });
  if (!any) warnings.push_back(flags.config + ": no source is enabled");
  input.sources = std::move(conf.sources);
  input.wanted = flags.sources;
  input.shrink = flags.accept_shrink ? discovery::Shrink::kAccept : discovery::Shrink::kRefuse;
  return discovery::Discover(input, [](Duration timeout) {
    return discovery::MakeSystemReader(discovery::Permissions::Everything(), {.time = timeout});
  });
}

struct Discovered {
  Discovery discovery;
  std::vector<objects::HyperNode> previous;
};

Result<Discovered> DiscoverAll(const DiscoverFlags& flags,
                               Progress& progress,
                               std::vector<std::string>& warnings) {
  progress.Stage("reading manifests");
  TRY(CheckInputs(flags));
  TRY_ASSIGN(objects::ObjectSet previous, Load(flags.previous, warnings));
  TRY_ASSIGN(objects::ObjectSet cluster, Load(flags.nodes, warnings));
  discovery::DiscoverInput input;
  // Manifests with Secrets alone say nothing about nodes.
  if (!cluster.nodes.empty()) input.nodes = std::move(cluster.nodes);
  input.secrets = std::move(cluster.secrets);
  input.previous = previous.hypernodes;
  progress.Stage("asking the sources");
  Discovered outcome{.discovery = {}, .previous = std::move(previous.hypernodes)};
  Result<Discovery> found = RunSources(flags, std::move(input), warnings);
  if (found) {
    outcome.discovery = std::move(*found);
  } else {
    outcome.discovery = discovery::KeepPrevious(found.error(), outcome.previous);
  }
  return outcome;
}

std::string Render(const DiscoverFlags& flags, const Discovered& outcome) {
  const Discovery& found = outcome.discovery;
  if (flags.diff) return discovery::RenderDiff(outcome.previous, found.hypernodes, found.owners);
  if (flags.output == OutputFormat::kYaml) return discovery::RenderYaml(found.hypernodes);
  // A configuration that cannot be read asks nobody, and without --previous nothing is to be said.
  if (found.owners.empty() && !found.errors.empty()) return "";
  return discovery::RenderJson(found.hypernodes);
}

int RunDiscover(const DiscoverFlags& flags) {
  Progress progress;
  std::vector<std::string> warnings;
  const Result<Discovered> outcome = DiscoverAll(flags, progress, warnings);
  progress.Finish();
  if (!outcome) return PrintResult(tl::unexpected(outcome.error()), warnings);
  const Discovery& found = outcome->discovery;
  warnings.insert(warnings.end(), found.warnings.begin(), found.warnings.end());
  const int printed = PrintResult(Render(flags, *outcome), warnings);
  for (const std::string& error : found.errors) fmt::print(stderr, "{}\n", error);
  return found.errors.empty() ? printed : 1;
}

void AddManifestFlag(CLI::App& command,
                     const char* flag,
                     std::vector<std::string>& out,
                     const char* what) {
  command.add_option(flag, out, what)
      ->type_name("FILE|DIR|-")
      ->allow_extra_args(false)
      ->check(CheckPath);
}

}  // namespace

void AddDiscoverCommand(CLI::App& app, Run& run) {
  CLI::App& command = *app.add_subcommand(
      "discover", "Print the HyperNodes found in the network, a fabric manager or node labels");
  command.footer(kDiscoverFooter);
  const auto flags = std::make_shared<DiscoverFlags>();
  command
      .add_option(
          "--config", flags->config, "A volcano-controller.conf, or the ConfigMap that holds one")
      ->type_name("FILE")
      ->check(CheckPath)
      ->required();
  command.add_option("--source", flags->sources, "Only entries of this source or name; repeatable")
      ->type_name("NAME")
      ->allow_extra_args(false);
  AddManifestFlag(
      command, "--nodes", flags->nodes, "Manifests with the Nodes and Secrets of the cluster");
  AddManifestFlag(command, "--previous", flags->previous, "Manifests with the current HyperNodes");
  command.add_flag(
      "--accept-shrink", flags->accept_shrink, "Accept an answer that lacks many nodes");
  command.add_flag("--diff", flags->diff, "Print the difference to --previous instead");
  AddOutputFlag(command, flags->output, {"yaml", "json"});
  command.callback([flags, &run] { run = [flags] { return RunDiscover(*flags); }; });
}

}  // namespace strata
