#include <CLI/CLI.hpp>
#include <array>
#include <cstdint>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "admission/manifest_judge.h"
#include "apps/command_line.h"
#include "apps/flags.h"
#include "apps/input.h"
#include "apps/terminal.h"
#include "base/plural.h"
#include "defrag/plan.h"
#include "defrag/render_plan.h"
#include "explain/own_names.h"
#include "explain/subject.h"
#include "objects/load.h"
#include "objects/read_files.h"
#include "report/topology_report.h"

namespace strata {
namespace {

constexpr const char* kDefragFooter = R"(
A plan for people to read: which pods would have to move, and where to, so that a gang has room or HyperNodes are free.
Every pod that moves has another place. Pods that may not be evicted stay where they are.

Examples:
  strata defrag --plan --for default/train      room for a job that waits
  strata defrag --plan --free 1=2               two HyperNodes of tier 1 without pods
  strata defrag --plan --pods 16 --pod nvidia.com/gpu=8
                                                room for a gang that does not exist yet
  strata defrag --plan --pods 16 --pod pod.yaml the same; annotations of the pod say queue and topology
  strata defrag --plan --for train --max-gangs 2 --max-pods 20
  strata defrag --plan -f snapshot.json --free 2=1 -o json)";

struct DefragFlags {
  InputFlags input;
  bool plan = false;
  std::string job;                     // --for
  std::optional<FreeHyperNodes> free;  // --free
  std::int32_t pods = 0;               // --pods
  std::string pod;                     // --pod: a shape or a file
  DefragLimits limits;
  OutputFormat output = OutputFormat::kTable;
};

// "TIER=N".
Result<FreeHyperNodes> ParseFree(const std::string& text) {
  FreeHyperNodes free;
  const std::size_t equals = text.find('=');
  const bool ok = equals != std::string::npos &&
                  CLI::detail::lexical_cast(text.substr(0, equals), free.tier) &&
                  CLI::detail::lexical_cast(text.substr(equals + 1), free.count) &&
                  free.tier >= 0 && free.count > 0;
  if (ok) return free;
  return Fail(Code::kInvalidArgument,
              fmt::format("\"{}\": want TIER=N, such as 1=2: two HyperNodes of tier 1", text));
}

bool IsShape(const std::string& pod) {
  return pod.find('=') != std::string::npos;
}

std::string CheckPod(const std::string& text) {
  return IsShape(text) ? MessageOf(ParsePodShape(text)) : CheckPath(text);
}

// What is wrong with the flags together; "" when nothing is.
std::string Problem(const DefragFlags& flags) {
  if (!flags.plan) return "want --plan: there is nothing else that it does";
  const std::array given = {!flags.job.empty(), flags.free.has_value(), flags.pods > 0};
  int goals = 0;
  for (const bool one : given) goals += one ? 1 : 0;
  if (goals != 1) return "want one of --for, --free and --pods";
  if ((flags.pods > 0) != !flags.pod.empty()) return "--pods and --pod go together";
  return "";
}

// The one pod of a file.
Result<objects::Pod> ReadPod(const DefragFlags& flags) {
  TRY_ASSIGN(const std::vector<objects::Source> sources,
             objects::ReadSources(std::vector<std::string>{flags.pod}, std::cin));
  TRY_ASSIGN(objects::ObjectSet objects,
             objects::ParseManifests(sources, admission::JudgeManifest, flags.input.on_fault));
  if (objects.pods.size() == 1) return std::move(objects.pods.front());
  return Fail(
      Code::kInvalidArgument,
      fmt::format("{}: want one Pod, found {}", flags.pod, Plural(objects.pods.size(), "Pod")));
}

Result<objects::Pod> MakePod(const DefragFlags& flags, const std::string& ns) {
  objects::Pod pod;
  if (IsShape(flags.pod)) {
    pod.spec.scheduler_name = "volcano";
    objects::Container& container = pod.spec.containers.emplace_back();
    container.name = "main";
    TRY_ASSIGN(container.requests, ParsePodShape(flags.pod));
    container.limits = container.requests;
    pod.meta.ns = ns;
    return pod;
  }
  return ReadPod(flags);
}

// What the plan is for, and how that is said.
struct Goal {
  DefragGoal goal;
  std::string before;  // as in PlanWords
  std::string behind;
};

Result<Goal> GoalOf(const DefragFlags& flags, const Input& input) {
  if (flags.free) {
    return Goal{*flags.free, "", " can be free of pods"};
  }
  if (flags.pods > 0) {
    TRY_ASSIGN(objects::Pod pod, MakePod(flags, input.ns));
    const auto count = static_cast<std::uint64_t>(flags.pods);
    return Goal{RoomForPods{std::move(pod), flags.pods},
                "A gang of " + Plural(count, "pod") + " can start in ",
                ""};
  }
  TRY_ASSIGN(const NamespacedKey key, ResolveName(flags.job, flags.input.ns, input.ns));
  TRY_ASSIGN(const Subject subject, FindSubject(input.objects, key.ns + "/" + key.name, key.kind));
  if (subject.groups.empty()) {
    return Fail(Code::kInvalidArgument, subject.name + " has no pods that a scheduler places");
  }
  return Goal{RoomForJob{subject.groups.front()}, subject.name + " can start in ", ""};
}

Result<std::string> Plan(const DefragFlags& flags, Input& input, Progress& progress) {
  TRY_ASSIGN(const Goal goal, GoalOf(flags, input));
  const DefragQuery query{
      .goal = goal.goal,
      .limits = flags.limits,
      .now = input.now,
      .on_stage = [&](const std::string& what) { progress.Stage("looking for room in " + what); }};
  const OwnNames names(input.objects);
  const PlanWords words{.before = goal.before,
                        .behind = goal.behind,
                        .name_of = [&names](const std::string& group) { return names.Of(group); }};
  TRY_ASSIGN(const DefragPlan plan, PlanDefrag(input.objects, input.as_configured, query));
  return flags.output == OutputFormat::kJson ? RenderJson(plan, words)
                                             : RenderTable(plan, words, StandardOutputStyle());
}

int RunDefrag(const DefragFlags& flags) {
  return ShowCluster(flags.input, [&flags](Input& input, Progress& progress) {
    return Plan(flags, input, progress);
  });
}

void AddGoalFlags(CLI::App& command, DefragFlags& flags) {
  command.add_option("--for", flags.job, "Room for a job that waits")
      ->type_name("[NS/]JOB")
      ->check(CheckName);
  command
      .add_option_function<std::string>(
          "--free",
          [&flags](const std::string& text) { flags.free = ParseFree(text).value(); },
          "So many HyperNodes of a tier without pods, apart from those of DaemonSets")
      ->type_name("TIER=N")
      ->check([](const std::string& text) { return MessageOf(ParseFree(text)); });
  command.add_option("--pods", flags.pods, "Room for a gang of so many pods")
      ->type_name("N")
      ->check(CLI::Range(1, 100000));
  command.add_option("--pod", flags.pod, "What each of them requests, or a file with such a Pod")
      ->type_name("NAME=AMOUNT,...|FILE")
      ->check(CheckPod);
}

}  // namespace

void AddDefragCommand(CLI::App& app, Run& run) {
  CLI::App& command = *app.add_subcommand(
      "defrag", "Plan moves of running pods that make room for a gang, or free HyperNodes");
  command.footer(kDefragFooter);
  const auto flags = std::make_shared<DefragFlags>();
  command.add_flag("--plan", flags->plan, "Print a plan; nothing is changed");
  AddGoalFlags(command, *flags);
  command.add_option("--max-gangs", flags->limits.max_gangs, "So many gangs may stop meanwhile")
      ->type_name("N")
      ->check(CLI::NonNegativeNumber);
  command.add_option("--max-pods", flags->limits.max_pods, "So many pods may move")
      ->type_name("N")
      ->check(CLI::NonNegativeNumber);
  command.add_flag("--allow-higher-tier",
                   flags->limits.allow_higher_tier,
                   "Jobs with a topology may end up in a higher tier, within their limits");
  AddClusterFlags(command, flags->input);
  command
      .add_option("-n,--namespace",
                  flags->input.ns,
                  "Namespace of JOB and of new pods; default: that of the context, default for "
                  "manifests")
      ->type_name("NAMESPACE");
  AddWhatIfFlags(command, flags->input);
  AddOutputFlag(command, flags->output, {"table", "json"});
  command.callback([flags, &run] {
    const std::string problem = Problem(*flags);
    if (!problem.empty()) throw CLI::ValidationError(problem, CLI::ExitCodes::ValidationError);
    run = [flags] { return RunDefrag(*flags); };
  });
}

}  // namespace strata
