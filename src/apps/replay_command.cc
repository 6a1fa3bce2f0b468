#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "apps/command_line.h"
#include "apps/flags.h"
#include "apps/input.h"
#include "apps/replay_commands.h"
#include "apps/replay_input.h"
#include "apps/terminal.h"
#include "base/plural.h"
#include "replay/batch.h"
#include "replay/generate.h"
#include "replay/lab_report.h"
#include "replay/run_files.h"

namespace strata {
namespace {

constexpr const char* kReplayFooter = R"(
Plays a trace of jobs against a cluster in virtual time, once per policy, and compares waiting times,
use and how gangs lie in the network. docs/lab.md has the formats of traces and what is measured.

Policies: strata (default), conf:FILE (Strata with a volcano-scheduler.conf), and rules, our reading
of what others do: rule:random, rule:first-fit[,order=shuffled|topology], rule:spread, rule:binpack,
rule:lowest-switch, rule:kueue-balanced, rule:kueue-bestfit, rule:block[,segment=PODS],
rule:buddy[,quota=counts]; exec:PROGRAM asks a program about each job, in lines of JSON.

Examples:
  strata replay jobs.csv --cluster spines=2,racks=8,nodes=16,gpus=8
  strata replay itp/*.csv.gz --cluster topo.csv:P8 --load 1.2 --policy strata --policy rule:binpack
  strata replay jobs.csv --cluster cluster.yaml --policy rule:random --seeds 10 --report page.html
  strata replay generate jobs=1000,rate=0.1,duration=3600,sizes=1:8+8:2+32:1 > jobs.csv
  strata replay convert --from itp cluster01.csv > jobs.csv)";

constexpr int kInterrupted = 130;

// The signal handler touches nothing else.
// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables)
volatile std::sig_atomic_t interrupted = 0;

void OnInterrupt(int /*signal*/) {
  interrupted = 1;
}

struct ReplayFlags {
  ReplayInputFlags input;
  std::vector<std::string> policies = {"strata"};
  replay::Discipline queue = replay::Discipline::kFifo;
  std::uint64_t seed = 1;
  std::uint64_t seeds = 1;
  double startup = 0;
  double crossing = 1;
  bool check = false;
  unsigned threads = 0;
  OutputFormat output = OutputFormat::kTable;
  std::string out;
  std::string report;
};

const char* QueueName(replay::Discipline queue) {
  switch (queue) {
    case replay::Discipline::kFifo:
      return "fifo";
    case replay::Discipline::kSkip:
      return "skip";
    case replay::Discipline::kEasy:
      return "easy";
  }
  return "";
}

// Every policy once per seed; those that no seed changes once.
Result<std::vector<replay::BatchRun>> ListRuns(const ReplayFlags& flags) {
  std::vector<replay::BatchRun> runs;
  for (const std::string& name : flags.policies) {
    TRY_ASSIGN(const replay::PolicyChoice policy, ReadPolicy(name));
    const std::uint64_t seeds = policy.info.random ? flags.seeds : 1;
    for (std::uint64_t i = 0; i < seeds; ++i) runs.push_back({policy, flags.seed + i});
  }
  return runs;
}

replay::LabRun LabRunOf(const replay::BatchRun& run) {
  return {.policy = run.policy.info.name,
          .stands_for = run.policy.info.stands_for,
          .seed = run.seed,
          .random = run.policy.info.random,
          .figures = {},
          .faults = {}};
}

std::string RunFolder(const ReplayFlags& flags, const replay::LabRun& run) {
  std::string name = fmt::format("{}-{}", run.policy, run.seed);
  for (char& letter : name) {
    if (letter == ':' || letter == '/' || letter == ',') letter = '-';
  }
  return (std::filesystem::path(flags.out) / name).string();
}

// Makes the runs that `report` lacks, and keeps what is finished when it is interrupted.
class Lab {
 public:
  Lab(const ReplayFlags& flags, const ReplayInput& input, Progress& progress)
      : flags_(flags), input_(input), progress_(progress) {}

  Result<replay::LabReport> Run() {
    TRY_ASSIGN(std::vector<replay::BatchRun> all, ListRuns(flags_));
    for (replay::BatchRun& run : all) run.policy.tenants = input_.tenants;
    report_.input = input_.described;
    report_.input.queue = QueueName(flags_.queue);
    report_.input.startup_s = flags_.startup;
    report_.input.crossing_slowdown = flags_.crossing;
    std::vector<replay::BatchRun> missing;
    for (const replay::BatchRun& run : all) {
      replay::LabRun lab_run = LabRunOf(run);
      const bool kept = !flags_.out.empty() && !flags_.check &&
                        replay::ReadRun(RunFolder(flags_, lab_run), report_.input, lab_run);
      if (!kept) {
        places_.push_back(report_.runs.size());
        missing.push_back(run);
      }
      report_.runs.push_back(std::move(lab_run));
    }
    done_.assign(missing.size(), false);
    TRY(RunMissing(missing));
    for (std::size_t i = 0; i < done_.size(); ++i) {
      if (!done_[i]) return Interrupted();
    }
    return std::move(report_);
  }

 private:
  Status RunMissing(const std::vector<replay::BatchRun>& missing) {
    const std::size_t jobs = missing.size() * input_.workload.jobs.size();
    replay::BatchOptions options;
    options.engine.discipline = flags_.queue;
    options.engine.startup = static_cast<replay::Millis>(flags_.startup * 1000);
    options.engine.crossing_slowdown = flags_.crossing;
    options.engine.check = flags_.check;
    options.engine.keep_places = !flags_.out.empty();
    options.threads = flags_.threads > 0 ? flags_.threads : std::thread::hardware_concurrency();
    options.on_progress = [&, jobs](std::size_t over) {
      progress_.Stage(fmt::format("{} of {} jobs replayed", over, jobs));
      return interrupted == 0;
    };
    Status written;
    options.on_result = [&](std::size_t run, const replay::EngineResult& result) {
      replay::LabRun& out = report_.runs[places_[run]];
      out.figures = replay::MakeFigures(input_.workload, input_.fabric, result);
      out.faults = result.faults;
      done_[run] = true;
      if (flags_.out.empty() || !written) return;
      written = replay::WriteRun(RunFolder(flags_, out),
                                 {.input = &report_.input,
                                  .run = &out,
                                  .trace = &input_.trace,
                                  .workload = &input_.workload,
                                  .fabric = &input_.fabric,
                                  .result = &result});
    };
    TRY(replay::RunBatch(input_.workload, input_.fabric, missing, options));
    return written;
  }

  tl::unexpected<Error> Interrupted() const {
    return Fail(
        Code::kUnavailable,
        flags_.out.empty()
            ? std::string("interrupted; with --out DIR finished runs are kept")
            : fmt::format("interrupted; finished runs are kept in {}, the same command goes "
                          "on with the others",
                          flags_.out));
  }

  const ReplayFlags& flags_;
  const ReplayInput& input_;
  Progress& progress_;
  replay::LabReport report_;
  std::vector<std::size_t> places_;  // of the runs that are made, in the report
  std::vector<bool> done_;
};

Status WriteFileOf(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << text;
  if (file.flush()) return {};
  return Fail(Code::kUnavailable, fmt::format("{}: cannot write", path));
}

Result<std::string> Show(const ReplayFlags& flags, const replay::LabReport& report) {
  if (!flags.report.empty()) TRY(WriteFileOf(flags.report, replay::RenderLabPage(report)));
  if (flags.output == OutputFormat::kJson) return replay::RenderLabJson(report);
  return replay::RenderLabTable(report, StandardOutputStyle());
}

int RunReplay(const ReplayFlags& flags) {
  std::signal(SIGINT, OnInterrupt);
  std::signal(SIGTERM, OnInterrupt);
  Progress progress;
  bool faulty = false;
  const auto text = [&]() -> Result<std::string> {
    progress.Stage("reading the trace");
    TRY_ASSIGN(const ReplayInput input, ReadReplayInput(flags.input));
    TRY_ASSIGN(const replay::LabReport report, Lab(flags, input, progress).Run());
    for (const replay::LabRun& run : report.runs) faulty = faulty || !run.faults.empty();
    return Show(flags, report);
  }();
  progress.Finish();
  const int status = PrintResult(text, {});
  if (!text && interrupted != 0) return kInterrupted;
  return faulty ? 1 : status;
}

int RunConvert(const ReplayInputFlags& flags) {
  const auto text = [&]() -> Result<std::string> {
    TRY_ASSIGN(replay::Trace trace, ReadTraceFiles(flags));
    trace.provenance.push_back(fmt::format("# Converted by strata replay convert from {} ({}).",
                                           fmt::join(flags.traces, ", "),
                                           trace.format));
    if (trace.gangs_assumed) {
      trace.provenance.push_back(fmt::format(
          "# Assumed: up to {0} GPUs are one pod, more are pods of {0}.", trace.gpus_per_pod));
    }
    return replay::WriteTrace(trace);
  }();
  return PrintResult(text, {});
}

int RunCompare(const ReplayFlags& flags, const std::vector<std::string>& folders) {
  const auto text = [&]() -> Result<std::string> {
    TRY_ASSIGN(const replay::LabReport report, replay::ReadRuns(folders));
    return Show(flags, report);
  }();
  return PrintResult(text, {});
}

void AddQueueFlag(CLI::App& command, replay::Discipline& queue) {
  command
      .add_option_function<std::string>(
          "--queue",
          [&queue](const std::string& text) {
            queue = text == "fifo"   ? replay::Discipline::kFifo
                    : text == "skip" ? replay::Discipline::kSkip
                                     : replay::Discipline::kEasy;
          },
          "The queue: the first job blocks the others (fifo, default), a job that does not fit "
          "lets "
          "the next one try (skip), or one may start early if the first is not delayed (easy)")
      ->type_name("fifo|skip|easy")
      ->check([](const std::string& text) {
        const bool known = text == "fifo" || text == "skip" || text == "easy";
        return known ? std::string()
                     : fmt::format("unknown queue \"{}\" (want fifo, skip or easy)", text);
      });
}

void AddShowFlags(CLI::App& command, ReplayFlags& flags) {
  AddOutputFlag(command, flags.output, {"table", "json"});
  command.add_option("--report", flags.report, "Write a page with drawings into this HTML file")
      ->type_name("FILE")
      ->check(CheckPath);
}

void AddRunFlags(CLI::App& command, ReplayFlags& flags) {
  command.add_option("--policy", flags.policies, "What decides; repeatable; default: strata")
      ->type_name("POLICY")
      ->allow_extra_args(false)
      ->check([](const std::string& name) { return MessageOf(CheckPolicyName(name)); });
  AddQueueFlag(command, flags.queue);
  command.add_option("--seed", flags.seed, "The first seed; default: 1")->type_name("N");
  command
      .add_option(
          "--seeds", flags.seeds, "Repeat policies that draw lots with so many seeds; default: 1")
      ->type_name("N")
      ->check(CLI::Range(1, 10000).description(""));
  command
      .add_option(
          "--startup", flags.startup, "Seconds until a started job begins to work; default: 0")
      ->type_name("SECONDS")
      ->check(CLI::Range(0.0, 86400.0).description(""));
  command
      .add_option("--slowdown-across-leaves",
                  flags.crossing,
                  "Gangs in several leaves take so many times as long; declared, not measured; "
                  "default: 1")
      ->type_name("FACTOR")
      ->check(CLI::Range(1.0, 100.0).description(""));
  command.add_flag("--check", flags.check, "Recount everything at every moment; slow");
  command.add_option("--threads", flags.threads, "Replays at a time; default: one per core")
      ->type_name("N")
      ->check(CLI::Range(1, 1024).description(""));
  command
      .add_option(
          "--out",
          flags.out,
          "Write the jobs, the series and the figures of each run below this directory; runs "
          "that are there are not made again")
      ->type_name("DIR")
      ->check(CheckPath);
}

void AddGenerateCommand(CLI::App& replay_command, Run& run) {
  CLI::App& command =
      *replay_command.add_subcommand("generate", "Print a trace of jobs that are made up");
  const auto spec = std::make_shared<std::string>();
  const auto seed = std::make_shared<std::uint64_t>(1);
  command
      .add_option(
          "SPEC",
          *spec,
          "jobs=N,rate=PER-SECOND,duration=MEAN-SECONDS[,sizes=GPUS:WEIGHT+...][,pods-of=GPUS]")
      ->type_name("SPEC")
      ->required()
      ->check(
          [](const std::string& text) { return MessageOf(replay::ParseGenerateTraceSpec(text)); });
  command.add_option("--seed", *seed, "Another seed, another trace; default: 1")->type_name("N");
  command.callback([spec, seed, &run] {
    run = [spec, seed] {
      const auto parsed = replay::ParseGenerateTraceSpec(*spec);
      return PrintResult(replay::WriteTrace(replay::GenerateTrace(parsed.value(), *seed)), {});
    };
  });
}

void AddConvertCommand(CLI::App& replay_command, Run& run) {
  CLI::App& command =
      *replay_command.add_subcommand("convert", "Print a trace of another format in our own");
  const auto flags = std::make_shared<ReplayInputFlags>();
  AddTraceFlags(command, *flags);
  command.callback([flags, &run] { run = [flags] { return RunConvert(*flags); }; });
}

void AddReplayCompareCommand(CLI::App& replay_command, Run& run) {
  CLI::App& command = *replay_command.add_subcommand(
      "compare", "Show finished runs, of --out, in one table and page");
  const auto flags = std::make_shared<ReplayFlags>();
  const auto folders = std::make_shared<std::vector<std::string>>();
  command.add_option("DIR", *folders, "Directories of --out, or single runs below them")
      ->type_name("DIR")
      ->required()
      ->check(CheckPath);
  AddShowFlags(command, *flags);
  command.callback(
      [flags, folders, &run] { run = [flags, folders] { return RunCompare(*flags, *folders); }; });
}

}  // namespace

void AddReplayCommand(CLI::App& app, Run& run) {
  CLI::App& command =
      *app.add_subcommand("replay", "Play a trace of jobs in virtual time and compare policies");
  command.footer(kReplayFooter);
  const auto flags = std::make_shared<ReplayFlags>();
  AddTraceFlags(command, flags->input);
  AddReplayClusterFlags(command, flags->input);
  AddRunFlags(command, *flags);
  AddShowFlags(command, *flags);
  AddGenerateCommand(command, run);
  AddConvertCommand(command, run);
  AddReplayCompareCommand(command, run);
  AddReplayFgdCommand(command, run);
  command.callback([flags, &command, &run] {
    if (command.get_subcommands().empty()) run = [flags] { return RunReplay(*flags); };
  });
}

}  // namespace strata
