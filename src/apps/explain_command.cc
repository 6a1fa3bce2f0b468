#include <string>
#include <utility>
#include <vector>

#include "apps/commands.h"
#include "apps/input.h"
#include "apps/terminal.h"
#include "simulate/explain.h"
#include "simulate/job_names.h"
#include "simulate/render_explain.h"
#include "simulate/simulation.h"

namespace strata {
namespace {

Result<std::string> Explain(const ExplainFlags& flags,
                            Progress& progress,
                            std::vector<std::string>& warnings) {
  TRY_ASSIGN(Input input, LoadInput(flags.input, progress));
  warnings = std::move(input.warnings);
  SimulationOptions options;
  options.now = flags.input.now;
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

}  // namespace

int RunExplain(const ExplainFlags& flags) {
  Progress progress;
  std::vector<std::string> warnings;
  const Result<std::string> text = Explain(flags, progress, warnings);
  progress.Finish();
  return PrintResult(text, warnings);
}

}  // namespace strata
