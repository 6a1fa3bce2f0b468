#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "apps/command_line.h"
#include "apps/input.h"
#include "apps/job_commands.h"
#include "inspect/job_logs.h"
#include "inspect/job_lookup.h"
#include "inspect/job_run.h"
#include "objects/read_files.h"
#include "report/topology_report.h"

// `strata job run` and `strata job logs`.
namespace strata {
namespace {

// What vcctl asks for where nothing else is said.
constexpr const char* kUsualRequests = "cpu=1000m,memory=100Mi";

struct JobRunFlags {
  JobFlags job;
  inspect::NewJob wanted;
  std::string requests = kUsualRequests;
  std::string limits;  // "": the requests
  std::string file;    // "": made from the flags
  bool dry_run = false;
};

Result<std::string> ReadJobFile(const std::string& path, const std::string& ns) {
  TRY_ASSIGN(const std::vector<objects::Source> sources,
             objects::ReadSources(std::span(&path, 1), std::cin));
  if (sources.size() != 1) {
    return Fail(Code::kInvalidArgument, path + ": want one file, found a directory");
  }
  return inspect::JobOfManifest(sources.front().name, sources.front().text, ns);
}

Result<std::string> MakeJob(const JobRunFlags& flags, const std::string& ns) {
  if (!flags.file.empty()) return ReadJobFile(flags.file, ns);
  TRY_ASSIGN(NamespacedKey key, ResolveName(flags.job.name, flags.job.ns, ns));
  if (!key.kind.empty()) {
    return Fail(Code::kInvalidArgument,
                fmt::format("{}: want a name without a kind", flags.job.name));
  }
  inspect::NewJob job = flags.wanted;
  job.key = {std::move(key.ns), std::move(key.name)};
  TRY_ASSIGN(job.requests, ParsePodShape(flags.requests));
  TRY_ASSIGN(job.limits, ParsePodShape(flags.limits.empty() ? flags.requests : flags.limits));
  return inspect::JobBody(job);
}

Result<std::string> RunNewJob(const JobRunFlags& flags) {
  if (flags.dry_run) {
    TRY_ASSIGN(const std::string body,
               MakeJob(flags, flags.job.ns.empty() ? "default" : flags.job.ns));
    return inspect::ToYaml(body);
  }
  TRY_ASSIGN(const ClusterPtr cluster, Connect(flags.job));
  TRY_ASSIGN(const std::string body, MakeJob(flags, NamespaceOf(flags.job, *cluster)));
  TRY_ASSIGN(const std::string name, inspect::CreateJob(*cluster, body));
  return fmt::format("job {} created\n", name);
}

struct JobLogFlags {
  JobFlags job;
  inspect::LogChoice choice;
  bool follow = false;
};

Result<std::string> PrintJobLogs(const JobLogFlags& flags, std::vector<std::string>& warnings) {
  TRY_ASSIGN(const ClusterPtr cluster, Connect(flags.job));
  TRY_ASSIGN(const inspect::JobReport job, FindNamedJob(flags.job, *cluster, warnings));
  TRY_ASSIGN(const auto pods, inspect::PodsWithLogs(job, flags.choice));
  if (!flags.follow) return inspect::ReadLogs(*cluster, job, pods, flags.choice);
  TRY(inspect::FollowJobLogs(*cluster, job, pods, flags.choice, WriteOut));
  return "";
}

int RunJobLogs(const JobLogFlags& flags) {
  std::vector<std::string> warnings;
  const Result<std::string> text = PrintJobLogs(flags, warnings);
  return PrintResult(text, warnings);
}

void AddPodFlags(CLI::App& command, JobRunFlags& flags) {
  command.add_option("-i,--image", flags.wanted.image, "Image of its containers; default: busybox")
      ->type_name("IMAGE");
  command.add_option("-r,--replicas", flags.wanted.replicas, "Number of its pods; default: 1")
      ->type_name("N")
      ->check(CLI::Range(1, 1000000).description(""));
  command
      .add_option("-m,--min",
                  flags.wanted.min_available,
                  "So many pods start together or none does; default: 1, as in vcctl")
      ->type_name("N")
      ->check(CLI::Range(1, 1000000).description(""));
  const auto check = [](const std::string& text) { return MessageOf(ParsePodShape(text)); };
  command
      .add_option("-R,--requests",
                  flags.requests,
                  fmt::format("What each pod requests; default: {}", kUsualRequests))
      ->type_name("NAME=AMOUNT,...")
      ->check(check);
  command.add_option("-L,--limits", flags.limits, "Limits of each pod; default: what it requests")
      ->type_name("NAME=AMOUNT,...")
      ->check(check);
}

}  // namespace

void AddJobRunCommand(CLI::App& parent, const char* footer, Run& run) {
  CLI::App& command = *parent.add_subcommand("run", "Start a Job of equal pods, or that of a file");
  command.footer(footer);
  const auto flags = std::make_shared<JobRunFlags>();
  AddJobConnection(command, flags->job);
  command
      .add_option("job,-N,--name", flags->job.name, "Name of the new Job; without NS that of -n")
      ->type_name("NAME")
      ->check(CheckName);
  AddPodFlags(command, *flags);
  command.add_option("-q,--queue", flags->wanted.queue, "Its queue; default: default")
      ->type_name("QUEUE");
  command
      .add_option("--tier",
                  flags->wanted.highest_tier,
                  "All pods below one HyperNode of at most this tier, or not at all")
      ->type_name("TIER")
      ->check(CLI::NonNegativeNumber);
  command.add_option("-S,--scheduler", flags->wanted.scheduler, "Its scheduler; default: volcano")
      ->type_name("NAME");
  command
      .add_option("-f,--filename", flags->file, "Start the Job of this file instead, - for stdin")
      ->type_name("FILE|-")
      ->check(CheckPath);
  command.add_flag("--dry-run", flags->dry_run, "Print the Job as YAML and create nothing");
  command.add_option("command", flags->wanted.command, "After --: the command of its containers")
      ->type_name("COMMAND");
  command.callback([flags, &run] {
    if (flags->job.name.empty() && flags->file.empty()) {
      throw CLI::ValidationError("job", "want a name, or a file with -f");
    }
    run = [flags] { return PrintResult(RunNewJob(*flags), {}); };
  });
}

void AddJobLogsCommand(CLI::App& parent, const char* footer, Run& run) {
  CLI::App& command = *parent.add_subcommand("logs", "Print the logs of the pods of a Job");
  command.footer(footer);
  const auto flags = std::make_shared<JobLogFlags>();
  AddJobConnection(command, flags->job);
  AddJobName(command, flags->job);
  command.add_option("--task", flags->choice.task, "Only the pods of this task")->type_name("TASK");
  command
      .add_option("-c,--container", flags->choice.container, "The container; default: the only one")
      ->type_name("NAME");
  command.add_option("--tail", flags->choice.tail, "Only the last lines of each pod; default: all")
      ->type_name("LINES")
      ->check(CLI::NonNegativeNumber);
  CLI::Option* const previous = command.add_flag(
      "-p,--previous", flags->choice.previous, "Of the containers before a restart");
  command
      .add_flag("-f,--follow",
                flags->follow,
                "Go on with the lines that come, of at most 64 pods, until all have ended")
      ->excludes(previous);
  command.callback([flags, &run] {
    WantJobName(flags->job);
    run = [flags] { return RunJobLogs(*flags); };
  });
}

}  // namespace strata
