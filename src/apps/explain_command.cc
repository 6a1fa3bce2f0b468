#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "apps/command_line.h"
#include "apps/flags.h"
#include "apps/input.h"
#include "apps/terminal.h"
#include "simulate/changes.h"
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

// Whether the job was where it is before this run, so that there is nothing to tell of it.
bool RanBefore(const Explanation& explanation) {
  return explanation.cycle == 0 && explanation.outcome.reason.empty() &&
         explanation.outcome.phase == "Running";
}

// The story of the job if all its pods were to be placed now, one step in.
Result<std::vector<std::string>> TellAgain(const CompletedObjects& objects, ExplainQuery query) {
  CompletedObjects released = objects;
  ReleaseGroup(released.objects, query.job);
  query.objects = &released;
  TRY_ASSIGN(const Explanation again, ExplainJob(query));
  std::vector<std::string> lines = {
      "Were it placed again now, with the rest of the cluster as it is:"};
  for (const std::string& line : ExplainLines(again)) lines.push_back("  " + line);
  return lines;
}

Result<std::string> ExplainOne(const ExplainFlags& flags, Input& input, Progress& progress) {
  SimulationOptions options;
  options.now = input.now;
  progress.Stage("placing pending pods");
  TRY(RunSimulation(input.cluster, input.config, options));
  ExplainQuery query;
  query.objects = &input.objects;
  query.config = &input.config;
  query.options = options;
  TRY_ASSIGN(query.job, FindJobByName(input.cluster, flags.job));
  query.progress = [&](const std::string& what) { progress.Stage(what); };
  TRY_ASSIGN(const Explanation explanation, ExplainJob(query));
  if (flags.output == OutputFormat::kJson) return RenderJson(explanation);
  std::vector<std::string> lines = ExplainLines(explanation);
  if (RanBefore(explanation)) {
    TRY_ASSIGN(const std::vector<std::string> again, TellAgain(input.objects, std::move(query)));
    lines.insert(lines.end(), again.begin(), again.end());
  }
  return RenderText(lines, StandardOutputStyle());
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
