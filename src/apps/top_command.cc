#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "apps/command_line.h"
#include "apps/flags.h"
#include "apps/input.h"
#include "apps/terminal.h"
#include "inspect/usage_report.h"
#include "report/tree_rows.h"
#include "whatif/run.h"

namespace strata {
namespace {

constexpr const char* kTopFooter = R"(
Shows what pods request, as the scheduler counts it, not what they use.

Examples:
  strata top
  strata top --watch
  strata top --depth 2                          the cluster, spines and racks
  strata top --under rack-3                     the nodes of one rack
  strata top --drain rack-3                     what if: where its pods would go
  strata top -f cluster.yaml -o json)";

struct TopFlags {
  InputFlags input;
  TreeView view;
  OutputFormat output = OutputFormat::kTable;
};

// More rows do not fit on a screen.
constexpr std::size_t kShownUsageRows = 64;

int RunTop(const TopFlags& flags) {
  return ShowCluster(flags.input, [&flags](Input& input, Progress&) -> Result<std::string> {
    if (!flags.input.edits.empty()) {
      RunOptions options;
      options.now = input.now;
      TRY(RunCycles(input.cluster, input.config, options));
    }
    inspect::UsageReport report =
        inspect::MakeUsageReport(*input.cluster.state, input.objects.objects.hypernodes);
    TRY(inspect::Narrow(flags.view, report));
    if (!flags.view.depth && flags.output == OutputFormat::kTable) {
      const std::size_t depth = DepthOfAtMost(kShownUsageRows, report.rows);
      TRY(inspect::Narrow({.under = {}, .depth = depth}, report));
    }
    return flags.output == OutputFormat::kJson
               ? inspect::RenderJson(report)
               : inspect::RenderTable(report, StandardOutputStyle());
  });
}

}  // namespace

void AddTopCommand(CLI::App& app, Run& run) {
  CLI::App& command = *app.add_subcommand(
      "top", "Show requests, what is free and capacity by HyperNode and node, and of every queue");
  command.footer(kTopFooter);
  const auto flags = std::make_shared<TopFlags>();
  AddClusterFlags(command, flags->input);
  AddWatchFlag(command, flags->input);
  AddTreeFlags(command, flags->view);
  AddWhatIfFlags(command, flags->input);
  AddOutputFlag(command, flags->output, {"table", "json"});
  command.callback([flags, &run] { run = [flags] { return RunTop(*flags); }; });
}

}  // namespace strata
