#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "apps/command_line.h"
#include "apps/flags.h"
#include "apps/input.h"
#include "apps/terminal.h"
#include "inspect/usage_report.h"

namespace strata {
namespace {

constexpr const char* kTopFooter = R"(
Shows what pods request, as the scheduler counts it, not what they use.

Examples:
  strata top
  strata top --watch
  strata top -f cluster.yaml -o json)";

struct TopFlags {
  InputFlags input;
  OutputFormat output = OutputFormat::kTable;
};

int RunTop(const TopFlags& flags) {
  return ShowCluster(flags.input, [&flags](Input& input, Progress&) -> Result<std::string> {
    const inspect::UsageReport report = inspect::MakeUsageReport(*input.cluster.state);
    return flags.output == OutputFormat::kJson
               ? inspect::RenderJson(report)
               : inspect::RenderTable(report, StandardOutputStyle());
  });
}

}  // namespace

void AddTopCommand(CLI::App& app, Run& run) {
  CLI::App& command =
      *app.add_subcommand("top", "Show requests and capacity of every node and queue");
  command.footer(kTopFooter);
  const auto flags = std::make_shared<TopFlags>();
  AddClusterFlags(command, flags->input);
  AddWatchFlag(command, flags->input);
  AddOutputFlag(command, flags->output, {"table", "json"});
  command.callback([flags, &run] { run = [flags] { return RunTop(*flags); }; });
}

}  // namespace strata
