#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <utility>

#include "apps/command_line.h"
#include "apps/flags.h"
#include "apps/input.h"
#include "apps/terminal.h"
#include "simulate/explain.h"
#include "simulate/job_names.h"
#include "simulate/render_explain.h"
#include "simulate/simulation.h"

namespace strata {
namespace {

constexpr const char* kExplainFooter = R"(
Every change that is listed was made in a copy of the cluster and solved again.

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
  SimulationOptions options;
  options.now = input.now;
  progress.Stage("placing pending pods");
  TRY_ASSIGN(const SimulationResult result, RunSimulation(input.cluster, input.config, options));
  TRY_ASSIGN(std::string job, FindJobByName(result, input.cluster, flags.job));
  TRY_ASSIGN(const Explanation explanation,
             ExplainJob({.objects = &input.objects,
                         .config = &input.config,
                         .options = options,
                         .job = std::move(job),
                         .progress = [&](const std::string& what) { progress.Stage(what); }}));
  return flags.output == OutputFormat::kJson
             ? RenderJson(explanation)
             : RenderText(ExplainLines(explanation), StandardOutputStyle());
}

int RunExplain(const ExplainFlags& flags) {
  return ShowCluster(flags.input, [&flags](Input& input, Progress& progress) {
    return ExplainOne(flags, input, progress);
  });
}

}  // namespace

void AddExplainCommand(CLI::App& app, Run& run) {
  CLI::App& command = *app.add_subcommand(
      "explain", "Tell why one job waits or runs where it does, and what would let it start");
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
