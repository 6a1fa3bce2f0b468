#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

#include "apps/command_line.h"
#include "apps/flags.h"
#include "apps/input.h"
#include "apps/terminal.h"
#include "explain/explain.h"
#include "explain/job_names.h"
#include "explain/render_explain.h"
#include "whatif/run.h"

namespace strata {
namespace {

constexpr const char* kExplainFooter = R"(
Every listed change was tried: made in a copy of the cluster and solved again.

Examples:
  strata explain default/train                  a job of the running cluster
  strata explain -f cluster.yaml -f jobs/ default/train
  strata explain -f examples/hard-pending default/pytorch-distributed-training
  strata explain -f . --scheduler-conf volcano-scheduler.conf -o json default/train)";

struct ExplainFlags {
  InputFlags input;
  std::string job;  // "ns/job"
  OutputFormat output = OutputFormat::kTable;
};

Result<std::string> ExplainOne(const ExplainFlags& flags, Input& input, Progress& progress) {
  RunOptions options;
  options.now = input.now;
  progress.Stage("placing pending pods");
  TRY(RunCycles(input.cluster, input.as_configured, options));
  ExplainQuery query;
  query.objects = &input.objects;
  query.config = &input.as_configured;
  query.options = options;
  TRY_ASSIGN(query.job, FindJobByName(input.cluster, flags.job));
  query.progress = [&](const std::string& what) { progress.Stage(what); };
  TRY_ASSIGN(const Explanation explanation, ExplainJob(query));
  if (flags.output == OutputFormat::kJson) return RenderJson(explanation);
  std::vector<std::string> lines = ExplainLines(explanation);
  if (WasPlacedEarlier(explanation)) {
    TRY_ASSIGN(const Explanation again, ExplainPlacedAgain(query));
    const std::vector<std::string> more = PlacedAgainLines(again);
    lines.insert(lines.end(), more.begin(), more.end());
  }
  return WrapLines(lines, StandardOutputStyle());
}

int RunExplain(const ExplainFlags& flags) {
  return ShowCluster(flags.input, [&flags](Input& input, Progress& progress) {
    return ExplainOne(flags, input, progress);
  });
}

}  // namespace

void AddExplainCommand(CLI::App& app, Run& run) {
  CLI::App& command = *app.add_subcommand(
      "explain", "Explain why one job waits or runs where it does, and what would let it start");
  command.footer(kExplainFooter);
  const auto flags = std::make_shared<ExplainFlags>();
  AddClusterFlags(command, flags->input);
  command.add_option("job", flags->job, "The Job or PodGroup")
      ->type_name("NS/JOB")
      ->required()
      ->check(CheckJobName);
  AddOutputFlag(command, flags->output, {"table", "json"});
  command.callback([flags, &run] { run = [flags] { return RunExplain(*flags); }; });
}

}  // namespace strata
