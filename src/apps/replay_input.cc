#include "apps/replay_input.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <memory>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "apps/exec_program.h"
#include "apps/flags.h"
#include "apps/input.h"
#include "apps/terminal.h"
#include "base/plural.h"
#include "convert/scheduler_conf.h"
#include "objects/read_files.h"
#include "replay/formats/table.h"
#include "replay/input_files.h"
#include "replay/policies/told.h"
#include "virtual_nodes/generate.h"

namespace strata {
namespace {

constexpr std::size_t kMaxBytes = std::size_t{4} << 30U;  // of a trace, decompressed
constexpr std::string_view kConf = "conf:";
constexpr std::string_view kExec = "exec:";

Result<NamedFabric> FabricFromCsv(const ReplayInputFlags& flags) {
  std::string path = flags.cluster;
  std::string psw;
  const std::size_t colon = path.rfind(".csv:");
  if (colon != std::string::npos) {
    psw = path.substr(colon + 5);
    path.resize(colon + 4);
  }
  TRY_ASSIGN(const auto texts, ReadTexts({path}));
  const std::string& text = texts.front().text;
  NamedFabric named{.fabric = {}, .sha256 = replay::Sha256(text)};
  if (text.starts_with("sn,")) {
    TRY_ASSIGN(named.fabric, replay::ReadOpenbNodes(path, text));
  } else {
    TRY_ASSIGN(named.fabric, replay::ReadLingjun(path, text, psw, flags.node_gpus));
  }
  return named;
}

Result<replay::WorkloadOptions> ReadGangs(const std::string& text) {
  if (text == "soft") return replay::WorkloadOptions{.wish = replay::Wish::kSoft, .tier = ""};
  if (text == "none") return replay::WorkloadOptions{.wish = replay::Wish::kNone, .tier = ""};
  constexpr std::string_view kHard = "hard:";
  if (text.starts_with(kHard) && text.size() > kHard.size()) {
    return replay::WorkloadOptions{.wish = replay::Wish::kHard, .tier = text.substr(kHard.size())};
  }
  return Fail(Code::kInvalidArgument,
              fmt::format("unknown wish \"{}\" (want soft, none or hard:TIER)", text));
}

struct Window {
  replay::Millis from = 0;
  replay::Millis to = 0;
};
Result<Window> ReadWindow(const std::string& text) {
  const std::size_t comma = text.find(',');
  const auto from = replay::ParseSeconds(std::string_view(text).substr(0, comma));
  const auto to = comma == std::string::npos
                      ? std::nullopt
                      : replay::ParseSeconds(std::string_view(text).substr(comma + 1));
  if (from && to && *from < *to) return Window{*from, *to};
  return Fail(Code::kInvalidArgument,
              fmt::format("\"{}\": want FROM,TO in seconds, FROM before TO", text));
}

// GPU time asked for, of all GPU time between the first and the last submission.
double OfferedLoad(const replay::Workload& workload, const replay::Fabric& fabric) {
  double asked = 0;
  for (const replay::Workload::Job& job : workload.jobs) {
    asked += static_cast<double>(workload.classes[job.job_class].TotalGpus()) *
             static_cast<double>(job.duration);
  }
  const auto span = static_cast<double>(workload.jobs.back().submit - workload.jobs.front().submit);
  const double had = span * static_cast<double>(fabric.TotalGpus());
  return had > 0 ? asked / had : 0;
}

replay::LabInput Describe(const ReplayInputFlags& flags, const ReplayInput& input) {
  replay::LabInput out;
  out.version = STRATA_VERSION;
  out.traces = flags.traces;
  out.cluster = flags.cluster;
  out.format = input.trace.format;
  out.jobs = static_cast<std::int64_t>(input.trace.jobs.size());
  for (const replay::TraceJob& job : input.trace.jobs) out.gangs += job.pods > 1 ? 1 : 0;
  out.left_out = static_cast<std::int64_t>(input.trace.left_out);
  out.nodes = static_cast<std::int64_t>(input.fabric.nodes.size());
  out.gpus = input.fabric.TotalGpus();
  for (const replay::Fabric::Level& level : input.fabric.levels) {
    out.tiers.push_back(fmt::format("{}{}: {}",
                                    level.tier,
                                    level.name.empty() ? "" : fmt::format(" ({})", level.name),
                                    Plural(level.domains.size(), "domain")));
  }
  out.gpus_per_pod = input.trace.gangs_assumed ? input.trace.gpus_per_pod : 0;
  out.wish = flags.gangs;
  out.load = flags.load;
  out.offered_load = OfferedLoad(input.workload, input.fabric);
  out.window = flags.window;
  return out;
}

}  // namespace

void AddTraceFlags(CLI::App& command, ReplayInputFlags& flags) {
  command
      .add_option("TRACE", flags.traces, "Traces, plain or .gz, read as one; - for standard input")
      ->type_name("TRACE")
      ->check(CheckPath);
  command.add_option("--from", flags.format, "The format of the traces; default: by their header")
      ->type_name("FORMAT")
      ->check([](const std::string& text) {
        const auto known = replay::KnownFormats();
        const bool found = std::find(known.begin(), known.end(), text) != known.end();
        return found ? std::string()
                     : fmt::format("unknown format \"{}\" (want {})", text, fmt::join(known, ", "));
      });
  command
      .add_option("--pods-of",
                  flags.gpus_per_pod,
                  "Where a trace says only how many GPUs: one pod up to N, more are pods of N; "
                  "default: 8")
      ->type_name("N")
      ->check(CLI::Range(1, 1024).description(""));
}

void AddReplayClusterFlags(CLI::App& command, ReplayInputFlags& flags) {
  command
      .add_option("--cluster",
                  flags.cluster,
                  "Manifests of nodes and HyperNodes, spines=S,racks=R,nodes=N,gpus=G, or a CSV of "
                  "hosts or nodes (FILE.csv:P8 for one PSW)")
      ->type_name("SPEC")
      ->check(CheckPath);
  command
      .add_option(
          "--gpus", flags.node_gpus, "GPUs of a node where the cluster does not say it; default: 8")
      ->type_name("N")
      ->check(CLI::Range(1, 1024).description(""));
  command
      .add_option(
          "--gangs",
          flags.gangs,
          "What gangs want of the network unless the trace says it: soft (default), none or "
          "hard:TIER")
      ->type_name("WISH")
      ->check([](const std::string& text) { return MessageOf(ReadGangs(text)); });
  command.add_option("--load", flags.load, "Divide the times between submissions by X; default: 1")
      ->type_name("X")
      ->check(CLI::Range(0.001, 1000.0).description(""));
  command.add_option("--window", flags.window, "Only jobs submitted in these seconds of the trace")
      ->type_name("FROM,TO")
      ->check([](const std::string& text) { return MessageOf(ReadWindow(text)); });
  command
      .add_option("--tenants",
                  flags.tenants,
                  "For rule:buddy: a CSV queue,gpus,cells of the cells that queues own")
      ->type_name("FILE")
      ->check(CheckPath);
}

Result<std::vector<replay::TraceText>> ReadTexts(const std::vector<std::string>& paths) {
  TRY_ASSIGN(auto sources, objects::ReadSources(paths, std::cin));
  std::vector<replay::TraceText> texts;
  for (objects::Source& source : sources) {
    auto text = replay::Decompressed(std::move(source.text), kMaxBytes);
    if (!text) return tl::unexpected<Error>(std::move(text.error()).Context(source.name));
    texts.push_back({.path = source.name, .text = std::move(*text)});
  }
  return texts;
}

Result<NamedFabric> ReadFabric(const ReplayInputFlags& flags) {
  const std::string& text = flags.cluster;
  if (text.find(".csv") != std::string::npos) return FabricFromCsv(flags);
  if (text.find('=') != std::string::npos) {
    auto spec = virtual_nodes::ParseGenerateSpec(text);
    if (!spec) return tl::unexpected<Error>(std::move(spec.error()).Context("--cluster"));
    const auto gpus = static_cast<std::int32_t>(spec->gpus > 0 ? spec->gpus : flags.node_gpus);
    return NamedFabric{replay::MakeFabric(spec->spines, spec->racks, spec->nodes, gpus),
                       replay::Sha256(text)};
  }
  InputFlags manifests;
  manifests.files = {text};
  Progress progress;
  TRY_ASSIGN(const Input input, LoadInput(manifests, progress));
  NamedFabric named{replay::FabricOf(*input.cluster.state), ""};
  std::string described;
  for (const replay::Fabric::Node& node : named.fabric.nodes) {
    described += fmt::format("{} {}\n", node.name, node.gpus);
  }
  for (const replay::Fabric::Level& level : named.fabric.levels) {
    described += fmt::format("{}: {}\n", level.tier, fmt::join(level.of_node, " "));
  }
  named.sha256 = replay::Sha256(described);
  if (!named.fabric.nodes.empty()) return named;
  return Fail(Code::kInvalidArgument, fmt::format("{}: no nodes", text));
}

Result<replay::Trace> ReadTraceFiles(const ReplayInputFlags& flags) {
  if (flags.traces.empty()) return Fail(Code::kInvalidArgument, "want a TRACE");
  TRY_ASSIGN(const auto texts, ReadTexts(flags.traces));
  return replay::ReadTrace(texts, {.format = flags.format, .gpus_per_pod = flags.gpus_per_pod});
}

Result<ReplayInput> ReadReplayInput(const ReplayInputFlags& flags) {
  if (flags.cluster.empty()) return Fail(Code::kInvalidArgument, "want --cluster");
  ReplayInput input;
  TRY_ASSIGN(input.trace, ReadTraceFiles(flags));
  const std::string trace_sha256 = replay::Sha256(replay::WriteTrace(input.trace));
  if (!flags.window.empty()) {
    TRY_ASSIGN(const Window window, ReadWindow(flags.window));
    replay::CutWindow(input.trace, window.from, window.to);
    if (input.trace.jobs.empty()) return Fail(Code::kInvalidArgument, "--window: no jobs in it");
  }
  replay::ScaleLoad(input.trace, flags.load);
  TRY_ASSIGN(NamedFabric named, ReadFabric(flags));
  input.fabric = std::move(named.fabric);
  TRY_ASSIGN(const replay::WorkloadOptions options, ReadGangs(flags.gangs));
  TRY_ASSIGN(input.workload, replay::MakeWorkload(input.trace, input.fabric, options));
  input.described = Describe(flags, input);
  if (!flags.tenants.empty()) {
    TRY_ASSIGN(const auto texts, ReadTexts({flags.tenants}));
    TRY_ASSIGN(input.tenants, replay::ReadTenants(flags.tenants, texts.front().text));
    input.described.tenants =
        fmt::format("{}, sha256 {}", flags.tenants, replay::Sha256(texts.front().text));
  }
  input.described.trace_sha256 = trace_sha256;
  input.described.cluster_sha256 = named.sha256;
  return input;
}

Status CheckPolicyName(const std::string& name) {
  if (name.starts_with(kConf) && name.size() > kConf.size()) return {};
  if (name.starts_with(kExec) && name.size() > kExec.size()) return {};
  TRY(replay::ChoosePolicy(name));
  return {};
}

namespace {

// A program of its own for each run.
replay::PolicyChoice ToldBy(const std::string& program) {
  replay::PolicyChoice choice;
  choice.info.name = std::string(kExec) + program;
  choice.info.stands_for = "a program, which was asked about each job";
  choice.info.random = true;  // it is told the seed
  choice.make = [program](const replay::Workload& workload,
                          const replay::Fabric& fabric,
                          std::uint64_t seed) -> Result<std::unique_ptr<replay::Policy>> {
    TRY_ASSIGN(std::shared_ptr<ExecProgram> running, ExecProgram::Start(program));
    const replay::SayLine say = [running](const std::string& line,
                                          replay::Answer answer) -> Result<std::string> {
      TRY(running->Say(line));
      if (answer == replay::Answer::kNone) return std::string();
      return running->Hear();
    };
    return replay::MakeToldPolicy(say, workload, fabric, seed);
  };
  return choice;
}

}  // namespace

Result<replay::PolicyChoice> ReadPolicy(const std::string& name) {
  if (name.starts_with(kExec)) return ToldBy(name.substr(kExec.size()));
  if (!name.starts_with(kConf)) return replay::ChoosePolicy(name);
  TRY_ASSIGN(const auto sources,
             objects::ReadSources(std::vector<std::string>{name.substr(kConf.size())}, std::cin));
  TRY_ASSIGN(const SchedulerConf conf, ParseSchedulerConf(sources.front()));
  replay::PolicyChoice choice;
  choice.info.name = name;
  choice.info.stands_for =
      fmt::format("the scheduler itself with this configuration, sha256 {:.12}",
                  replay::Sha256(sources.front().text));
  choice.config = conf.config;
  return choice;
}

}  // namespace strata
