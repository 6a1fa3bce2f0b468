#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "apps/command_line.h"
#include "apps/flags.h"
#include "apps/input.h"
#include "apps/terminal.h"
#include "explain/own_names.h"
#include "simulate/compare.h"
#include "simulate/render_compare.h"
#include "whatif/edit.h"
#include "whatif/run.h"
#include "whatif/what_if.h"

namespace strata {
namespace {

constexpr const char* kCompareFooter = R"(
A and B are each played to the end, as `strata simulate` does; nothing is written anywhere. Without B, B is A with
--against-conf and the changes of "What if"; without A, A is what -f names, else the running cluster.

Examples:
  strata compare cluster-a/ cluster-b/          two clusters, each with its own jobs
  strata compare cluster-a/ cluster-b/ -f jobs/ which of them would place these jobs better
  strata compare monday.json tuesday.json       two snapshots
  strata compare context:prod context:test      two running clusters, by contexts of the kubeconfig
  strata compare -f cluster.yaml --against-conf new.conf
                                                two configurations of the scheduler
  strata compare --against-conf new.conf        the same, for the running cluster
  strata compare snapshot.json --scheduler-conf old.conf --against-conf new.conf -o json
  strata compare --drain rack-3                 what if, with all figures)";

constexpr std::string_view kContext = "context:";

struct CompareFlags {
  std::string a;  // "" when it is not given; likewise b
  std::string b;
  InputFlags shared;  // what holds for both sides; its edits are made in B
  std::string against_conf;
  OutputFormat output = OutputFormat::kTable;
};

bool IsContext(const std::string& side) {
  return side.starts_with(kContext);
}

// What an argument reads.
InputFlags InputOf(const std::string& side, const InputFlags& shared) {
  InputFlags input = shared;
  input.edits.clear();
  if (IsContext(side)) {
    input.connection.context = side.substr(kContext.size());
  } else if (!side.empty()) {
    input.files.insert(input.files.begin(), side);
  }
  return input;
}

// What is wrong with the flags together; "" when nothing is.
std::string Problem(const CompareFlags& flags) {
  if (flags.b.empty() && flags.against_conf.empty() && flags.shared.edits.empty()) {
    return "nothing to compare: want B, --against-conf, or a change such as --drain NODE";
  }
  std::int64_t inputs = std::count(flags.shared.files.begin(), flags.shared.files.end(), "-");
  for (const std::string* one :
       {&flags.a, &flags.b, &flags.shared.scheduler_conf, &flags.against_conf}) {
    inputs += *one == "-" ? 1 : 0;
  }
  if (inputs > 1) return "standard input (-) can be read only once";
  if (!flags.b.empty() && std::count(flags.shared.files.begin(), flags.shared.files.end(), "-")) {
    return "-f -: standard input cannot be added to two sides";
  }
  const bool live = IsContext(flags.a) || IsContext(flags.b);
  if (live && !flags.shared.files.empty()) {
    return "-f adds manifests to manifests, not to a running cluster (save it with strata "
           "snapshot)";
  }
  if (!flags.a.empty() && !flags.shared.connection.context.empty()) {
    return "--context: name it as an argument, context:NAME";
  }
  return "";
}

std::string SourceName(const std::string& side, const InputFlags& shared) {
  std::string name = side;
  if (name.empty() && shared.live()) name = "the running cluster";
  for (const std::string& file : shared.files) name += (name.empty() ? "" : " + ") + file;
  return name;
}

// How the sides are called above the table.
std::string NameOfA(const CompareFlags& flags) {
  const std::string& conf = flags.shared.scheduler_conf;
  return SourceName(flags.a, flags.shared) + (conf.empty() ? "" : ", " + conf);
}

std::string NameOfB(const CompareFlags& flags) {
  const std::string& conf =
      flags.against_conf.empty() ? flags.shared.scheduler_conf : flags.against_conf;
  std::string name = SourceName(flags.b.empty() ? flags.a : flags.b, flags.shared);
  if (!conf.empty()) name += ", " + conf;
  for (const Edit& edit : flags.shared.edits) name += ", " + TextOf(edit);
  return name;
}

// One side before its run.
struct Side {
  std::string name;
  CompletedObjects objects;
  SchedulerConfig config;
  RunOptions options;
  std::string ns;
};

// Lines for standard error.
struct Notes {
  std::vector<std::string> warnings;
  std::vector<std::string> changes;

  void Warn(const std::vector<std::string>& lines) {
    for (const std::string& line : lines) {
      const bool known = std::find(warnings.begin(), warnings.end(), line) != warnings.end();
      if (!known) warnings.push_back(line);
    }
  }
};

Result<Side> LoadSide(const InputFlags& flags, Progress& progress, Notes& notes) {
  TRY_ASSIGN(Input input, LoadInput(flags, progress));
  notes.Warn(input.warnings);
  Side side;
  side.objects = std::move(input.objects);
  // Also of a running cluster: both sides are played, not shown as they are.
  side.config = std::move(input.as_configured);
  side.options.now = input.now;
  side.options.recreate = true;  // a job that lost its pods is one that waits
  side.ns = std::move(input.ns);
  return side;
}

// B as it is to be played: another source, or a copy of A.
Result<Side> MakeB(const CompareFlags& flags, const Side& a, Progress& progress, Notes& notes) {
  Side side;
  if (flags.b.empty()) {
    side = a;
  } else {
    TRY_ASSIGN(side, LoadSide(InputOf(flags.b, flags.shared), progress, notes));
  }
  side.name = NameOfB(flags);
  if (!flags.against_conf.empty()) {
    TRY_ASSIGN(SchedulerConf conf, ReadSchedulerConf(flags.against_conf));
    notes.Warn(conf.warnings);
    side.config = std::move(conf.config);
  }
  TRY_ASSIGN(notes.changes, ApplyEdits(flags.shared.edits, side.ns, side.objects));
  return side;
}

Result<Outcome> Play(Side& side, const char* which, Progress& progress) {
  side.options.on_cycle = [&progress, which](std::int32_t cycle) {
    progress.Stage(fmt::format("{}: cycle {}", which, cycle));
  };
  return WhatIf(
      side.objects, [](objects::ObjectSet&) {}, side.config, side.options);
}

std::string Render(const Comparison& comparison, OutputFormat format) {
  switch (format) {
    case OutputFormat::kJson:
      return RenderJson(comparison);
    case OutputFormat::kYaml:
      return RenderYaml(comparison);
    case OutputFormat::kTable:
    case OutputFormat::kWide:
    case OutputFormat::kName:
      break;
  }
  return RenderTable(comparison, StandardOutputStyle());
}

Result<std::string> CompareBoth(const CompareFlags& flags, Progress& progress, Notes& notes) {
  TRY_ASSIGN(Side a, LoadSide(InputOf(flags.a, flags.shared), progress, notes));
  a.name = NameOfA(flags);
  TRY_ASSIGN(Side b, MakeB(flags, a, progress, notes));
  TRY_ASSIGN(const Outcome outcome_a, Play(a, "A", progress));
  TRY_ASSIGN(const Outcome outcome_b, Play(b, "B", progress));
  const auto compared = [](const Side& side, const Outcome& outcome, const OwnNames& names) {
    return ComparedSide{.name = side.name,
                        .objects = &side.objects.objects,
                        .config = &side.config,
                        .outcome = &outcome,
                        .name_of = [&names](const std::string& group) { return names.Of(group); }};
  };
  const OwnNames names_a(a.objects);
  const OwnNames names_b(b.objects);
  return Render(Compare(compared(a, outcome_a, names_a), compared(b, outcome_b, names_b)),
                flags.output);
}

int RunCompare(const CompareFlags& flags) {
  Progress progress;
  Notes notes;
  const Result<std::string> text = CompareBoth(flags, progress, notes);
  progress.Finish();
  return PrintResult(text, notes.warnings, notes.changes);
}

void AddSide(CLI::App& command, const char* name, std::string& side, const char* what) {
  command.add_option(name, side, what)
      ->type_name("FILE|DIR|-|context:NAME")
      ->check([](const std::string& text) {
        return text == kContext ? "context: wants the name of a context" : CheckPath(text);
      });
}

}  // namespace

void AddCompareCommand(CLI::App& app, Run& run) {
  CLI::App& command = *app.add_subcommand(
      "compare",
      "Compare two clusters, snapshots or configurations: jobs placed, tiers, stranded GPUs");
  command.footer(kCompareFooter);
  const auto flags = std::make_shared<CompareFlags>();
  AddSide(command, "A", flags->a, "Manifests, a snapshot, or a context of the kubeconfig");
  AddSide(command, "B", flags->b, "The same of the other side; default: A, changed");
  AddSharedFlags(command, flags->shared);
  command
      .add_option("--against-conf",
                  flags->against_conf,
                  "The configuration of the scheduler in B; default: as in A, or that of B")
      ->type_name("FILE")
      ->check(CheckPath);
  AddWhatIfFlags(command, flags->shared);
  AddOutputFlag(command, flags->output, {"table", "json", "yaml"});
  command.callback([flags, &run] {
    const std::string problem = Problem(*flags);
    if (!problem.empty()) throw CLI::ValidationError(problem, CLI::ExitCodes::ValidationError);
    run = [flags] { return RunCompare(*flags); };
  });
}

}  // namespace strata
