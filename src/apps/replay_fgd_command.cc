#include <CLI/CLI.hpp>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "apps/flags.h"
#include "apps/input.h"
#include "apps/replay_commands.h"
#include "apps/replay_input.h"
#include "apps/terminal.h"
#include "replay/batch.h"
#include "replay/fgd/core_placer.h"
#include "replay/fgd/fill_report.h"
#include "replay/input_files.h"

namespace strata {
namespace {

namespace fgd = replay::fgd;

constexpr const char* kFgdFooter = R"(
Repeats the study of FGD (Beware of Fragmentation, ATC '23): pods come one after another until they
ask for 130 % of all GPUs, none ever ends, and the policy that allocates most is the best. Each LIST
is one list of pods with shares of GPUs. docs/lab.md says where the lists of the paper are.

Policies: rules, our reading of the authors' program: rule:random, rule:dot-product, rule:clustering,
rule:packing, rule:best-fit, rule:fgd, rule:fgd,scores=exact; and conf:FILE, the scheduler itself
with a volcano-scheduler.conf. Default: the first six.

Examples:
  strata replay fgd openb_pod_list_*.csv.gz --cluster openb_node_list_gpu_node.csv --seeds 10
  strata replay fgd pods.csv --cluster nodes.csv --policy rule:fgd --policy rule:best-fit -o json
  strata replay fgd pods.csv --cluster nodes.csv --policy conf:examples/lab/fragmentation.conf)";

constexpr std::uint64_t kFirstSeed = 42;  // of the study

struct FgdFlags {
  ReplayInputFlags input;
  std::vector<std::string> policies;
  std::uint64_t seed = kFirstSeed;
  std::uint64_t seeds = 1;
  double target = 1.3;
  bool check = false;
  unsigned threads = 0;
  OutputFormat output = OutputFormat::kTable;
  std::string published;
};

// A rule, or the scheduler with a configuration.
struct FgdPolicy {
  fgd::RuleInfo rule;
  SchedulerConfig config;
};

constexpr std::string_view kConfPolicy = "conf:";

Status CheckFgdPolicy(const std::string& name) {
  if (name.starts_with(kConfPolicy) && name.size() > kConfPolicy.size()) return {};
  TRY(fgd::ChooseRule(name));
  return {};
}

Result<std::vector<FgdPolicy>> ReadPolicies(const std::vector<std::string>& names) {
  std::vector<FgdPolicy> policies;
  if (names.empty()) {
    for (const fgd::RuleInfo& rule : fgd::KnownRules()) {
      if (rule.rule != fgd::Rule::kFgdExact) policies.push_back({.rule = rule, .config = {}});
    }
  }
  for (const std::string& name : names) {
    FgdPolicy policy;
    if (name.starts_with(kConfPolicy)) {
      TRY_ASSIGN(const replay::PolicyChoice choice, ReadPolicy(name));
      policy.config = choice.config;
      policy.rule = {.rule = fgd::Rule::kCore,
                     .name = choice.info.name,
                     .published = "",
                     .says = choice.info.stands_for};
    } else {
      TRY_ASSIGN(policy.rule, fgd::ChooseRule(name));
    }
    policies.push_back(std::move(policy));
  }
  return policies;
}

struct Lists {
  std::vector<fgd::PodList> lists;
  replay::Fabric fabric;
};

// Reads the lists into `report`, too.
Result<Lists> ReadLists(const FgdFlags& flags, fgd::FillReport& report) {
  if (flags.input.traces.empty()) return Fail(Code::kInvalidArgument, "want a LIST");
  if (flags.input.cluster.empty()) return Fail(Code::kInvalidArgument, "want --cluster");
  TRY_ASSIGN(NamedFabric named, ReadFabric(flags.input));
  report.version = STRATA_VERSION;
  report.cluster = flags.input.cluster;
  report.cluster_sha256 = named.sha256;
  report.nodes = static_cast<std::int64_t>(named.fabric.nodes.size());
  report.gpus = named.fabric.TotalGpus();
  report.target = flags.target;
  if (report.gpus == 0) {
    return Fail(Code::kInvalidArgument, fmt::format("{}: no GPUs", report.cluster));
  }
  Lists out{.lists = {}, .fabric = std::move(named.fabric)};
  for (const std::string& path : flags.input.traces) {
    ReplayInputFlags one = flags.input;
    one.traces = {path};
    TRY_ASSIGN(const replay::Trace trace, ReadTraceFiles(one));
    auto list = fgd::MakePodList(fgd::ListNameOf(path), trace, out.fabric);
    if (!list) return tl::unexpected<Error>(std::move(list.error()).Context(path));
    std::int64_t asked = 0;
    for (const std::uint32_t pod : list->pods) asked += list->kinds[pod].TotalMilli();
    report.lists.push_back(
        {.name = list->name,
         .sha256 = replay::Sha256(replay::WriteTrace(trace)),
         .pods = static_cast<std::int64_t>(list->pods.size()),
         .kinds = static_cast<std::int64_t>(list->kinds.size()),
         .typical = static_cast<std::int64_t>(list->typical.size()),
         .asked = static_cast<double>(asked) / static_cast<double>(report.gpus * fgd::kWholeGpu)});
    out.lists.push_back(std::move(*list));
  }
  return out;
}

// One run for each list, policy and seed, none made yet.
std::vector<fgd::FillRun> ListRuns(const FgdFlags& flags,
                                   std::size_t lists,
                                   const std::vector<FgdPolicy>& policies) {
  std::vector<fgd::FillRun> runs;
  runs.reserve(lists * policies.size() * flags.seeds);
  for (std::size_t list = 0; list < lists; ++list) {
    for (const FgdPolicy& policy : policies) {
      for (std::uint64_t i = 0; i < flags.seeds; ++i) {
        runs.push_back({.list = list, .rule = policy.rule, .seed = flags.seed + i, .result = {}});
      }
    }
  }
  return runs;
}

Status MakeRun(const FgdFlags& flags,
               const Lists& input,
               const SchedulerConfig& config,
               fgd::FillRun& run) {
  const fgd::PodList& list = input.lists[run.list];
  const fgd::FillOptions options{.seed = run.seed, .target = flags.target, .check = flags.check};
  if (run.rule.rule != fgd::Rule::kCore) {
    run.result = fgd::Fill(list, input.fabric, run.rule.rule, options);
    return {};
  }
  auto placer = fgd::MakeCorePlacer(config, list, input.fabric, run.seed);
  if (!placer) {
    return tl::unexpected<Error>(
        std::move(placer.error()).Context(fmt::format("{}, list {}", run.rule.name, list.name)));
  }
  run.result = fgd::Fill(list, input.fabric, **placer, options);
  return {};
}

Result<fgd::FillReport> Study(const FgdFlags& flags, Progress& progress) {
  fgd::FillReport report;
  TRY_ASSIGN(const std::vector<FgdPolicy> policies, ReadPolicies(flags.policies));
  progress.Stage("reading the lists");
  if (!flags.published.empty()) {
    TRY_ASSIGN(const auto texts, ReadTexts({flags.published}));
    TRY_ASSIGN(report.published, fgd::ReadPublished(flags.published, texts.front().text));
  }
  TRY_ASSIGN(const Lists input, ReadLists(flags, report));
  report.runs = ListRuns(flags, input.lists.size(), policies);
  progress.Stage(fmt::format("{} runs", report.runs.size()));
  const unsigned threads = flags.threads > 0 ? flags.threads : std::thread::hardware_concurrency();
  std::vector<Status> made(report.runs.size());
  replay::RunInParallel(report.runs.size(), threads, [&](std::size_t i) {
    const FgdPolicy& policy = policies[i / flags.seeds % policies.size()];
    made[i] = MakeRun(flags, input, policy.config, report.runs[i]);
    return made[i].has_value();
  });
  for (Status& status : made) TRY(std::move(status));
  return report;
}

int RunFgd(const FgdFlags& flags) {
  Progress progress;
  bool faulty = false;
  const auto text = [&]() -> Result<std::string> {
    TRY_ASSIGN(const fgd::FillReport report, Study(flags, progress));
    for (const fgd::FillRun& run : report.runs) faulty = faulty || !run.result.faults.empty();
    if (flags.output == OutputFormat::kJson) return fgd::RenderFillJson(report);
    return fgd::RenderFillTable(report, StandardOutputStyle());
  }();
  progress.Finish();
  const int status = PrintResult(text, {});
  return faulty ? 1 : status;
}

void AddFgdFlags(CLI::App& command, FgdFlags& flags) {
  command.add_option("LIST", flags.input.traces, "Lists of pods, plain or .gz, each for itself")
      ->type_name("LIST")
      ->check(CheckPath);
  command
      .add_option("--cluster",
                  flags.input.cluster,
                  "The nodes: the node list of openb, or what strata replay takes")
      ->type_name("SPEC")
      ->check(CheckPath);
  command
      .add_option("--policy",
                  flags.policies,
                  "What decides; repeatable; default: the six of the "
                  "study")
      ->type_name("POLICY")
      ->allow_extra_args(false)
      ->check([](const std::string& name) { return MessageOf(CheckFgdPolicy(name)); });
  command.add_option("--seed", flags.seed, "The first seed; default: 42")->type_name("N");
  command.add_option("--seeds", flags.seeds, "Repeat with so many seeds; default: 1")
      ->type_name("N")
      ->check(CLI::Range(1, 10000).description(""));
  command
      .add_option("--target",
                  flags.target,
                  "Pods come until they ask for so many times all GPUs; default: 1.3")
      ->type_name("X")
      ->check(CLI::Range(0.01, 10.0).description(""));
  command
      .add_option(
          "--published", flags.published, "A CSV of published figures, which are shown beside ours")
      ->type_name("FILE")
      ->check(CheckPath);
  command.add_flag("--check", flags.check, "Recount everything after every pod; slow");
  command.add_option("--threads", flags.threads, "Runs at a time; default: one per core")
      ->type_name("N")
      ->check(CLI::Range(1, 1024).description(""));
  AddOutputFlag(command, flags.output, {"table", "json"});
}

}  // namespace

void AddReplayFgdCommand(CLI::App& replay_command, Run& run) {
  CLI::App& command = *replay_command.add_subcommand(
      "fgd", "Fill a cluster with pods that share GPUs, and compare what policies allocate");
  command.footer(kFgdFooter);
  const auto flags = std::make_shared<FgdFlags>();
  AddFgdFlags(command, *flags);
  command.callback([flags, &run] { run = [flags] { return RunFgd(*flags); }; });
}

}  // namespace strata
