#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "apps/command_line.h"
#include "apps/flags.h"
#include "apps/input.h"
#include "apps/terminal.h"
#include "inspect/eviction_report.h"
#include "inspect/live_cluster.h"

namespace strata {
namespace {

constexpr const char* kEvictionsFooter = R"(
The list is read from the events of the cluster, which keeps them for an hour by default.

Examples:
  strata evictions                              who was evicted, when, by which action and for whom
  strata evictions -n ml -o json)";

struct EvictionsFlags {
  kube::ConnectionFlags connection;
  std::string ns;  // "": all
  OutputFormat output = OutputFormat::kTable;
};

Result<std::string> ListEvictions(const EvictionsFlags& flags) {
  TRY_ASSIGN(const auto cluster,
             inspect::LiveCluster::Open(flags.connection, kube::SystemSurroundings()));
  TRY_ASSIGN(const auto events, cluster->List(kube::kEvents, flags.ns, {}));
  const std::vector<inspect::EvictionLine> lines =
      inspect::MakeEvictionReport(events.value_or(std::vector<inspect::ListedObject>()));
  if (flags.output == OutputFormat::kJson) return inspect::RenderEvictionsJson(lines);
  return inspect::RenderEvictions(lines, kube::SystemClock().Now(), StandardOutputStyle());
}

}  // namespace

void AddEvictionsCommand(CLI::App& app, Run& run) {
  CLI::App& command = *app.add_subcommand(
      "evictions", "List who was evicted in a running cluster, when, by which action and for whom");
  command.footer(kEvictionsFooter);
  const auto flags = std::make_shared<EvictionsFlags>();
  AddConnectionFlags(command, flags->connection);
  command
      .add_option(
          "-n,--namespace", flags->ns, "Only PodGroups of this namespace; default: of all of them")
      ->type_name("NAME");
  command.add_flag_callback(
      "-A,--all-namespaces",
      [flags] { flags->ns.clear(); },
      "Those of all namespaces; the default");
  AddOutputFlag(command, flags->output, {"table", "json"});
  command.callback(
      [flags, &run] { run = [flags] { return PrintResult(ListEvictions(*flags), {}); }; });
}

}  // namespace strata
