#include "apps/input.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <iostream>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "convert/scheduler_conf.h"
#include "objects/load.h"
#include "objects/read_files.h"

namespace strata {
namespace {

bool TakesStandardInput(const InputFlags& flags) {
  return std::find(flags.files.begin(), flags.files.end(), "-") != flags.files.end();
}

Result<SchedulerConf> LoadConf(const InputFlags& flags) {
  const std::string& path = flags.scheduler_conf;
  if (path.empty()) return SchedulerConf{.config = DefaultSchedulerConfig(), .warnings = {}};
  if (path == "-" && TakesStandardInput(flags)) {
    return Fail(Code::kInvalidArgument, "--scheduler-conf -: -f - reads standard input already");
  }
  TRY_ASSIGN(const std::vector<objects::Source> sources,
             objects::ReadSources(std::span(&path, 1), std::cin));
  if (sources.size() != 1) {
    return Fail(Code::kInvalidArgument, path + ": want one file, found a directory");
  }
  return ParseSchedulerConf(sources.front());
}

Result<Input> ReadInput(const InputFlags& flags, Progress& progress) {
  Input input;
  progress.Stage("reading manifests");
  TRY_ASSIGN(SchedulerConf conf, LoadConf(flags));
  TRY_ASSIGN(const std::vector<objects::Source> sources,
             objects::ReadSources(flags.files, std::cin));
  progress.Stage(
      fmt::format("parsing {} manifest file{}", sources.size(), sources.size() == 1 ? "" : "s"));
  TRY_ASSIGN(objects::ObjectSet objects, objects::ParseObjects(sources));
  input.config = std::move(conf.config);
  input.warnings = std::move(conf.warnings);
  input.warnings.insert(input.warnings.end(), objects.warnings.begin(), objects.warnings.end());
  progress.Stage("building the cluster");
  TRY_ASSIGN(input.objects, CompleteObjects(std::move(objects)));
  TRY_ASSIGN(input.cluster, LoadCompleted(input.objects));
  return input;
}

}  // namespace

Result<Input> LoadInput(const InputFlags& flags, Progress& progress) {
  auto input = ReadInput(flags, progress);
#ifdef __GLIBC__
  // Parsing leaves many small pieces of free memory behind. Joined here, they need not be joined by
  // the first large allocation of a cycle.
  malloc_trim(0);
#endif
  return input;
}

int PrintResult(const Result<std::string>& text, const std::vector<std::string>& warnings) {
  if (!text) {
    fmt::print(stderr, "{}\n", text.error().message);
    return 1;
  }
  for (const std::string& warning : warnings) fmt::print(stderr, "warning: {}\n", warning);
  const std::size_t written = std::fwrite(text->data(), 1, text->size(), stdout);
  if (written == text->size() && std::fflush(stdout) == 0) return 0;
  fmt::print(stderr, "standard output: {}\n", std::generic_category().message(errno));
  return 1;
}

}  // namespace strata
