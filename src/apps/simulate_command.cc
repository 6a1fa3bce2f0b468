#include <cerrno>
#include <chrono>
#include <fstream>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "apps/commands.h"
#include "apps/input.h"
#include "apps/terminal.h"
#include "simulate/explain.h"
#include "simulate/job_names.h"
#include "simulate/render_data.h"
#include "simulate/render_explain.h"
#include "simulate/render_table.h"
#include "simulate/simulation.h"
#include "simulate/trace_json.h"

namespace strata {
namespace {

std::chrono::nanoseconds SteadyNow() {
  return std::chrono::steady_clock::now().time_since_epoch();
}

tl::unexpected<Error> CannotWrite(const std::string& path) {
  return Fail(Code::kUnavailable,
              fmt::format("{}: cannot write: {}", path, std::generic_category().message(errno)));
}

std::string Render(const SimulationResult& result, const ClusterState& state, OutputFormat format) {
  switch (format) {
    case OutputFormat::kJson:
      return RenderJson(result);
    case OutputFormat::kYaml:
      return RenderYaml(result);
    case OutputFormat::kTable:
      return RenderTable(result, state, StandardOutputStyle());
  }
  return "";
}

Result<std::string> Simulate(const SimulateFlags& flags,
                             Progress& progress,
                             std::vector<std::string>& warnings) {
  const auto start = SteadyNow();
  TRY_ASSIGN(Input input, LoadInput(flags.input, progress));
  const auto loaded = SteadyNow();
  warnings = std::move(input.warnings);

  TraceTee traces;
  std::ofstream trace_file;
  std::optional<JsonLinesTrace> trace_writer;
  if (!flags.trace_file.empty()) {
    trace_file.open(flags.trace_file, std::ios::binary | std::ios::trunc);
    if (!trace_file) return CannotWrite(flags.trace_file);
    traces.Add(trace_writer.emplace(trace_file));
  }

  SimulationOptions options{.cycles = flags.cycles,
                            .now = flags.input.now,
                            .trace = traces.empty() ? nullptr : &traces,
                            .stopwatch = nullptr,
                            .on_cycle = nullptr};
  if (flags.timings) options.stopwatch = SteadyNow;
  options.on_cycle = [&](std::int32_t cycle) { progress.Stage(fmt::format("cycle {}", cycle)); };
  TRY_ASSIGN(SimulationResult result, RunSimulation(input.cluster, input.config, options));
  if (trace_writer && !trace_file.flush()) return CannotWrite(flags.trace_file);
  if (result.timings) {
    result.timings->load_ms = std::chrono::duration<double, std::milli>(loaded - start).count();
  }
  if (!flags.explain.empty()) {
    TRY_ASSIGN(const std::string job, FindJobByName(result, input.cluster, flags.explain));
    options.on_cycle = nullptr;
    options.stopwatch = nullptr;
    TRY_ASSIGN(const Explanation explanation,
               ExplainJob({.objects = &input.objects,
                           .config = &input.config,
                           .options = options,
                           .job = job,
                           .progress = [&](const std::string& what) { progress.Stage(what); }}));
    result.explain = ExplainLines(explanation);
  }
  progress.Stage("writing");
  return Render(result, *input.cluster.state, flags.output);
}

}  // namespace

int RunSimulate(const SimulateFlags& flags) {
  Progress progress;
  std::vector<std::string> warnings;
  const Result<std::string> text = Simulate(flags, progress, warnings);
  progress.Finish();
  return PrintResult(text, warnings);
}

}  // namespace strata
