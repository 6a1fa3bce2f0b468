#include "apps/input.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <iostream>
#include <memory>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "admission/manifest_judge.h"
#include "convert/scheduler_conf.h"
#include "inspect/cluster_watch.h"
#include "inspect/live_cluster.h"
#include "inspect/snapshot.h"
#include "objects/load.h"
#include "objects/read_files.h"
#include "sched/eviction/settings.h"
#include "whatif/answer.h"
#include "whatif/cluster_conf.h"
#include "whatif/missing_classes.h"

namespace strata {
namespace {

// Changes come in bursts: after the first one, changes are collected for this long.
constexpr Duration kSettleTime = std::chrono::milliseconds(200);

bool TakesStandardInput(const InputFlags& flags) {
  return std::find(flags.files.begin(), flags.files.end(), "-") != flags.files.end();
}

// The one of --scheduler-conf; none when that is not given.
Result<std::optional<SchedulerConf>> LoadGivenConf(const InputFlags& flags) {
  const std::string& path = flags.scheduler_conf;
  if (path.empty()) return std::nullopt;
  if (path == "-" && TakesStandardInput(flags)) {
    return Fail(Code::kInvalidArgument, "--scheduler-conf -: -f - reads standard input already");
  }
  return ReadSchedulerConf(path);
}

Result<SchedulerConf> ConfOf(const objects::ObjectSet& objects) {
  Result<SchedulerConf> conf = FindSchedulerConf(objects);
  if (conf) return conf;
  Error error = std::move(conf).error();
  error.message += "; --scheduler-conf names another";
  return tl::unexpected(std::move(error));
}

Result<Input> MakeInput(objects::ObjectSet objects,
                        const std::optional<SchedulerConf>& given,
                        Progress& progress,
                        const objects::MakesPods& makes_pods = {}) {
  Input input;
  TRY_ASSIGN(SchedulerConf conf, given ? Result<SchedulerConf>(*given) : ConfOf(objects));
  input.config = std::move(conf.config);
  input.warnings = std::move(conf.warnings);
  progress.Stage("building the cluster");
  TRY_ASSIGN(input.objects, CompleteObjects(std::move(objects), IsOurs, makes_pods));
  const std::vector<std::string>& warnings = input.objects.objects.warnings;
  input.warnings.insert(input.warnings.end(), warnings.begin(), warnings.end());
  TRY_ASSIGN(input.cluster, LoadCompleted(input.objects));
  return input;
}

Result<objects::ObjectSet> ReadManifests(const InputFlags& flags, Progress& progress) {
  progress.Stage("reading manifests");
  TRY_ASSIGN(const std::vector<objects::Source> sources,
             objects::ReadSources(flags.files, std::cin));
  progress.Stage(
      fmt::format("parsing {} manifest file{}", sources.size(), sources.size() == 1 ? "" : "s"));
  TRY_ASSIGN(objects::ObjectSet objects,
             objects::ParseManifests(sources, admission::JudgeManifest, flags.on_fault));
  objects.warnings.insert(objects.warnings.end(), objects.faults.begin(), objects.faults.end());
  return objects;
}

Result<objects::ObjectSet> ReadCluster(const InputFlags& flags,
                                       Progress& progress,
                                       std::string& ns) {
  progress.Stage("connecting");
  TRY_ASSIGN(const std::unique_ptr<inspect::LiveCluster> cluster,
             inspect::LiveCluster::Open(flags.connection, kube::SystemSurroundings()));
  if (ns.empty()) ns = cluster->ns();
  std::vector<inspect::ListedObject> objects;
  for (const kube::WatchSpec& part : inspect::SnapshotParts()) {
    progress.Stage(fmt::format("reading {}", part.resource.plural));
    TRY_ASSIGN(std::vector<inspect::ListedObject> more, inspect::ReadPart(*cluster, part));
    objects.insert(
        objects.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
  }
  progress.Stage(fmt::format("parsing {} objects", objects.size()));
  std::vector<std::string_view> texts;
  texts.reserve(objects.size());
  for (const inspect::ListedObject& object : objects) texts.push_back(object.text);
  return inspect::ParseTexts(texts);
}

// Sets what depends on where the objects come from. A running cluster is shown as it is: nothing is
// evicted to show it.
void FollowSource(const InputFlags& flags, Input& input) {
  input.now = flags.now;
  input.as_configured = input.config;
  if (!flags.live()) return;
  RemoveEvictionActions(input.config);
  if (!flags.now) input.now = kube::SystemClock().Now();
}

// Makes the changes that are asked about.
Status AskWhatIf(const InputFlags& flags, Progress& progress, Input& input) {
  if (flags.edits.empty()) return {};
  progress.Stage("trying the changes");
  RunOptions options;
  options.now = input.now;
  const std::string ns = input.ns.empty() ? "default" : input.ns;
  TRY_ASSIGN(WhatIfAnswer answer,
             AnswerWhatIf(input.objects, flags.edits, ns, input.config, options));
  input.what_if = std::move(answer.changes);
  const std::vector<std::string> more = Sentences(answer.differences);
  input.what_if.insert(input.what_if.end(), more.begin(), more.end());
  if (more.empty()) input.what_if.emplace_back("no job is placed otherwise");
  input.objects = std::move(answer.objects);
  TRY_ASSIGN(input.cluster, LoadCompleted(input.objects));
  return {};
}

Result<Input> ReadInput(const InputFlags& flags, Progress& progress, const ChooseJobs& choose) {
  TRY_ASSIGN(const std::optional<SchedulerConf> conf, LoadGivenConf(flags));
  std::string ns = flags.ns;
  TRY_ASSIGN(objects::ObjectSet objects,
             flags.live() ? ReadCluster(flags, progress, ns) : ReadManifests(flags, progress));
  objects::MakesPods makes_pods;
  if (flags.live() && choose) {
    TRY_ASSIGN(makes_pods, choose(objects, ns));
  }
  TRY_ASSIGN(Input input, MakeInput(std::move(objects), conf, progress, makes_pods));
  input.ns = ns.empty() ? "default" : ns;
  FollowSource(flags, input);
  TRY(AskWhatIf(flags, progress, input));
  if (flags.live()) return input;
  for (const auto& lines :
       {OtherSchedulers(input.objects), MissingPriorityClasses(input.objects)}) {
    input.warnings.insert(input.warnings.end(), lines.begin(), lines.end());
  }
  return input;
}

// What is shown of the cluster as it is now; a cluster that cannot be shown says why, and may be
// another after its next change.
std::string FrameOf(const std::vector<std::string_view>& texts,
                    const InputFlags& flags,
                    const std::optional<SchedulerConf>& conf,
                    const View& view) {
  Progress progress;
  const auto show = [&]() -> Result<std::string> {
    TRY_ASSIGN(objects::ObjectSet objects, inspect::ParseTexts(texts));
    TRY_ASSIGN(Input input, MakeInput(std::move(objects), conf, progress));
    input.ns = flags.ns;
    FollowSource(flags, input);
    TRY(AskWhatIf(flags, progress, input));
    TRY_ASSIGN(std::string text, view(input, progress));
    for (const std::string& line : input.what_if) text += "what if: " + line + "\n";
    for (const std::string& warning : input.warnings) text += "warning: " + warning + "\n";
    return text;
  };
  const Result<std::string> text = show();
  return text ? *text : text.error().message + "\n";
}

Status Watch(const InputFlags& flags, const View& view) {
  TRY_ASSIGN(const std::optional<SchedulerConf> conf, LoadGivenConf(flags));
  return WatchCluster(flags.connection,
                      [&](const inspect::LiveCluster&, const inspect::ClusterWatch& objects) {
                        return FrameOf(objects.Texts(), flags, conf, view);
                      });
}

}  // namespace

Result<SchedulerConf> ReadSchedulerConf(const std::string& path) {
  TRY_ASSIGN(const std::vector<objects::Source> sources,
             objects::ReadSources(std::span(&path, 1), std::cin));
  if (sources.size() != 1) {
    return Fail(Code::kInvalidArgument, path + ": want one file, found a directory");
  }
  return ParseSchedulerConf(sources.front());
}

Result<Input> LoadInput(const InputFlags& flags, Progress& progress, const ChooseJobs& choose) {
  auto input = ReadInput(flags, progress, choose);
#ifdef __GLIBC__
  // Parsing leaves many small pieces of free memory behind. Joined here, they need not be joined by
  // the first large allocation of a cycle.
  malloc_trim(0);
#endif
  return input;
}

Status WatchCluster(const kube::ConnectionFlags& connection, const Frame& frame) {
  TRY_ASSIGN(const std::unique_ptr<inspect::LiveCluster> cluster,
             inspect::LiveCluster::Open(connection, kube::SystemSurroundings()));
  TRY_ASSIGN(const std::unique_ptr<inspect::ClusterWatch> watch,
             inspect::ClusterWatch::Start(*cluster));
  std::string shown;
  Duration settle = kSettleTime;
  while (true) {
    watch->Wait(settle);
    const auto start = std::chrono::steady_clock::now();
    std::string text = frame(*cluster, *watch);
    if (text != shown) TRY(WriteOut(NextFrame(text)));
    shown = std::move(text);
    // A large cluster that changes all the time must not take all of a core.
    const auto took =
        std::chrono::duration_cast<Duration>(std::chrono::steady_clock::now() - start);
    settle = std::max(kSettleTime, took);
  }
}

int ShowCluster(const InputFlags& flags, const View& view, const ChooseJobs& choose) {
  if (flags.watch) {
    const Status end = Watch(flags, view);
    fmt::print(stderr, "{}\n", end.error().message);
    return 1;
  }
  Progress progress;
  std::vector<std::string> warnings;
  std::vector<std::string> what_if;
  const auto show = [&]() -> Result<std::string> {
    TRY_ASSIGN(Input input, LoadInput(flags, progress, choose));
    warnings = input.warnings;
    what_if = input.what_if;
    return view(input, progress);
  };
  const Result<std::string> text = show();
  progress.Finish();
  return PrintResult(text, warnings, what_if);
}

Status WriteOut(std::string_view text) {
  const std::size_t written = std::fwrite(text.data(), 1, text.size(), stdout);
  if (written == text.size() && std::fflush(stdout) == 0) return {};
  return Fail(Code::kUnavailable, "standard output: " + std::generic_category().message(errno));
}

int PrintResult(const Result<std::string>& text,
                const std::vector<std::string>& warnings,
                const std::vector<std::string>& what_if) {
  if (!text) {
    fmt::print(stderr, "{}\n", text.error().message);
    return 1;
  }
  for (const std::string& warning : warnings) fmt::print(stderr, "warning: {}\n", warning);
  for (const std::string& line : what_if) fmt::print(stderr, "what if: {}\n", line);
  const Status written = WriteOut(*text);
  if (written) return 0;
  fmt::print(stderr, "{}\n", written.error().message);
  return 1;
}

}  // namespace strata
