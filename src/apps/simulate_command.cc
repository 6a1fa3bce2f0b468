#include <CLI/CLI.hpp>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "apps/command_line.h"
#include "apps/flags.h"
#include "apps/input.h"
#include "apps/terminal.h"
#include "explain/explain.h"
#include "explain/own_names.h"
#include "explain/render_explain.h"
#include "simulate/render_data.h"
#include "simulate/render_table.h"
#include "simulate/trace_json.h"
#include "whatif/run.h"

namespace strata {
namespace {

constexpr const char* kSimulateFooter = R"(
Examples:
  strata simulate -f cluster.yaml -f jobs/
  strata snapshot | strata simulate -f - -o json
  strata simulate -f . --scheduler-conf volcano-scheduler.conf --trace decisions.jsonl
  strata simulate -f . --explain default/train
  strata simulate -f . --drain node-3 --scale ml/train=16 --set research.weight=4
                                                what if: which jobs would be placed otherwise)";

struct SimulateFlags {
  InputFlags input;
  std::optional<std::int32_t> cycles;
  OutputFormat output = OutputFormat::kTable;
  std::string trace_file;  // "" for none
  bool timings = false;
  bool recreate = false;
  bool grace = false;
  std::string explain;  // "ns/job", "" for none
};

std::chrono::nanoseconds SteadyNow() {
  return std::chrono::steady_clock::now().time_since_epoch();
}

tl::unexpected<Error> CannotWrite(const std::string& path) {
  return Fail(Code::kUnavailable,
              fmt::format("{}: cannot write: {}", path, std::generic_category().message(errno)));
}

std::string Render(const RunResult& result, const Input& input, OutputFormat format) {
  const OwnNames own(input.objects);
  switch (format) {
    case OutputFormat::kJson:
      return RenderJson(result);
    case OutputFormat::kYaml:
      return RenderYaml(result);
    case OutputFormat::kTable:
    case OutputFormat::kWide:
    case OutputFormat::kName:
      return RenderTable(
          result, *input.cluster.state, StandardOutputStyle(), [&](const std::string& group) {
            return own.Of(group);
          });
  }
  return "";
}

Result<std::string> Simulate(const SimulateFlags& flags,
                             Progress& progress,
                             std::vector<std::string>& warnings,
                             std::vector<std::string>& what_if) {
  const auto start = SteadyNow();
  TRY_ASSIGN(Input input, LoadInput(flags.input, progress));
  const auto loaded = SteadyNow();
  warnings = std::move(input.warnings);
  what_if = std::move(input.what_if);
  // A trace of an earlier run is worth keeping when this one cannot begin.
  std::optional<Subject> subject;
  if (!flags.explain.empty()) {
    TRY_ASSIGN(subject, FindSubject(input.objects, flags.explain));
  }

  TraceTee traces;
  std::ofstream trace_file;
  std::optional<JsonLinesTrace> trace_writer;
  if (!flags.trace_file.empty()) {
    trace_file.open(flags.trace_file, std::ios::binary | std::ios::trunc);
    if (!trace_file) return CannotWrite(flags.trace_file);
    traces.Add(trace_writer.emplace(trace_file));
  }

  RunOptions options{.cycles = flags.cycles,
                     .now = input.now,
                     .recreate = flags.recreate,
                     .play_grace = flags.grace,
                     .trace = traces.empty() ? nullptr : &traces,
                     .stopwatch = nullptr,
                     .on_cycle = nullptr};
  if (flags.timings) options.stopwatch = SteadyNow;
  options.on_cycle = [&](std::int32_t cycle) { progress.Stage(fmt::format("cycle {}", cycle)); };
  TRY_ASSIGN(RunResult result, RunCycles(input.cluster, input.config, options));
  if (trace_writer && !trace_file.flush()) return CannotWrite(flags.trace_file);
  if (result.timings) {
    result.timings->load_ms = std::chrono::duration<double, std::milli>(loaded - start).count();
  }
  if (subject) {
    options.on_cycle = nullptr;
    options.stopwatch = nullptr;
    const ExplainQuery query{.objects = &input.objects,
                             .config = &input.config,
                             .options = options,
                             .job = {},
                             .progress = [&](const std::string& what) { progress.Stage(what); }};
    TRY_ASSIGN(const Explanation explanation,
               ExplainSubject(query, *subject, *input.cluster.state));
    result.explain = ExplainLines(explanation);
  }
  progress.Stage("writing");
  return Render(result, input, flags.output);
}

int RunSimulate(const SimulateFlags& flags) {
  Progress progress;
  std::vector<std::string> warnings;
  std::vector<std::string> what_if;
  const Result<std::string> text = Simulate(flags, progress, warnings, what_if);
  progress.Finish();
  return PrintResult(text, warnings, what_if);
}

}  // namespace

void AddSimulateCommand(CLI::App& app, Run& run) {
  CLI::App& command = *app.add_subcommand(
      "simulate", "Place the pending pods of manifests, without a cluster, and show the decisions");
  command.footer(kSimulateFooter);
  const auto flags = std::make_shared<SimulateFlags>();
  AddManifestFlags(command, flags->input);
  command
      .add_option("--cycles",
                  flags->cycles,
                  "Run exactly N cycles; default: until one changes nothing, at most 100")
      ->type_name("N")
      ->check(CLI::Range(1, 1000000).description(""));
  AddOutputFlag(command, flags->output, {"table", "json", "yaml"});
  command
      .add_option("--trace",
                  flags->trace_file,
                  "Write every score and decision into this file, as one JSON object per line")
      ->type_name("FILE")
      ->check(CheckPath);
  command.add_flag("--timings", flags->timings, "Print how long loading and deciding took");
  command.add_flag("--recreate",
                   flags->recreate,
                   "Evicted pods come back and wait, as their controllers would make them anew; "
                   "default: they are gone");
  command.add_flag("--grace",
                   flags->grace,
                   "Evicted pods hold their room until their grace period is over, in simulated "
                   "time; default: they are gone in the next cycle");
  command
      .add_option("--explain", flags->explain, "Also explain one Job, PodGroup, pod or Deployment")
      ->type_name("NS/NAME")
      ->check(CheckJobName);
  AddWhatIfFlags(command, flags->input);
  command.callback([flags, &run] { run = [flags] { return RunSimulate(*flags); }; });
}

}  // namespace strata
