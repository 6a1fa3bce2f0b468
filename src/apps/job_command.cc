#include <CLI/CLI.hpp>
#include <algorithm>
#include <functional>
#include <iterator>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "apiserver/request/selectors.h"
#include "apps/command_line.h"
#include "apps/flags.h"
#include "apps/input.h"
#include "apps/job_commands.h"
#include "apps/terminal.h"
#include "inspect/job_actions.h"
#include "inspect/job_choice.h"
#include "inspect/job_lookup.h"
#include "inspect/job_ranks.h"
#include "inspect/job_report.h"
#include "inspect/live_cluster.h"
#include "inspect/render_jobs.h"
#include "inspect/snapshot.h"

namespace strata {
namespace {

constexpr const char* kJobFooter = R"(
Examples:
  strata job list -A                            every job, where it runs or why it waits
  strata job list --state waiting --sort-by time
                                                who has waited for how long
  strata job list --queue ml -l team=vision -o wide
  strata job list -A --watch
  strata job describe ml/train                  its tasks, pods, conditions and history
  strata job describe train -n ml               the same
  strata job run train -r 8 -m 8 -R cpu=4,nvidia.com/gpu=1 --tier 2
  strata job run hello -i busybox -- echo hello
  strata job run -f train.yaml
  strata job logs train --tail 20               of all its pods; --task and -c choose
  strata job logs train -f                      go on with what they write
  strata job suspend train                      delete its pods, keep the Job
  strata job resume train
  strata job cancel train --yes                 delete the Job and its pods)";

constexpr std::size_t kShownEvents = 10;
constexpr std::size_t kShownHistory = 20;

std::string RenderJobs(const JobFlags& flags, std::vector<inspect::JobReport> jobs) {
  const Time now = kube::SystemClock().Now();
  inspect::ChooseJobs(flags.choice, now, jobs);
  switch (flags.output) {
    case OutputFormat::kJson:
      return inspect::RenderJobListJson(jobs);
    case OutputFormat::kYaml:
      return inspect::RenderJobListYaml(jobs);
    case OutputFormat::kName:
      return inspect::RenderJobNames(jobs);
    case OutputFormat::kWide:
    case OutputFormat::kTable:
      break;
  }
  const bool wide = flags.output == OutputFormat::kWide;
  return inspect::RenderJobList(
      jobs, {.ns = flags.all_namespaces, .wide = wide}, now, StandardOutputStyle());
}

bool ShowsRanks(const JobFlags& flags) {
  return flags.output == OutputFormat::kWide || flags.output == OutputFormat::kJson ||
         flags.output == OutputFormat::kYaml;
}

// None where not all of the cluster can be read: then the list shows no ranks.
inspect::Ranks RanksIn(inspect::LiveCluster& cluster) {
  std::vector<inspect::ListedObject> objects;
  for (const kube::WatchSpec& part : inspect::SnapshotParts()) {
    auto more = inspect::ReadPart(cluster, part);
    if (!more) return {};
    std::move(more->begin(), more->end(), std::back_inserter(objects));
  }
  std::vector<std::string_view> texts;
  texts.reserve(objects.size());
  for (const inspect::ListedObject& object : objects) texts.push_back(object.text);
  return inspect::FindRanks(texts).value_or(inspect::Ranks());
}

Result<std::string> ListJobs(const JobFlags& flags, std::vector<std::string>& warnings) {
  TRY_ASSIGN(const ClusterPtr cluster, Connect(flags));
  const std::string ns = flags.all_namespaces ? "" : NamespaceOf(flags, *cluster);
  TRY_ASSIGN(const inspect::JobObjects objects, inspect::ReadJobObjects(*cluster, ns));
  TRY_ASSIGN(std::vector<inspect::JobReport> jobs,
             inspect::MakeJobReports(objects.Texts(), warnings));
  if (jobs.empty() && !ns.empty()) TRY(inspect::CheckExists(*cluster, kube::kNamespaces, ns));
  const std::string& queue = flags.choice.queue;
  const bool in_queue = std::any_of(
      jobs.begin(), jobs.end(), [&](const inspect::JobReport& job) { return job.queue == queue; });
  if (!queue.empty() && !in_queue) TRY(inspect::CheckExists(*cluster, kube::kQueues, queue));
  if (ShowsRanks(flags)) inspect::SetRanks(RanksIn(*cluster), jobs);
  return RenderJobs(flags, std::move(jobs));
}

std::string FrameOfJobs(const JobFlags& flags,
                        const inspect::LiveCluster& cluster,
                        const inspect::ClusterWatch& objects) {
  inspect::JobTexts texts;
  texts.jobs = objects.TextsOf(kube::kJobs);
  texts.pods = objects.TextsOf(kube::kPods);
  texts.has_classes = true;
  for (const kube::Resource& kind :
       {kube::kPodGroups, kube::kNodes, kube::kHyperNodes, kube::kPriorityClasses}) {
    const std::vector<std::string_view> more = objects.TextsOf(kind);
    texts.others.insert(texts.others.end(), more.begin(), more.end());
  }
  std::vector<std::string> warnings;
  Result<std::vector<inspect::JobReport>> jobs = inspect::MakeJobReports(texts, warnings);
  if (!jobs) return jobs.error().message + "\n";
  if (!flags.all_namespaces) {
    const std::string ns = NamespaceOf(flags, cluster);
    std::erase_if(*jobs, [&](const inspect::JobReport& job) { return job.key.ns != ns; });
  }
  if (ShowsRanks(flags)) {
    inspect::SetRanks(inspect::FindRanks(objects.Texts()).value_or(inspect::Ranks()), *jobs);
  }
  std::string text = RenderJobs(flags, std::move(*jobs));
  for (const std::string& warning : warnings) text += "warning: " + warning + "\n";
  return text;
}

int WatchJobs(const JobFlags& flags) {
  const Status end =
      WatchCluster(flags.connection,
                   [&](const inspect::LiveCluster& cluster, const inspect::ClusterWatch& objects) {
                     return FrameOfJobs(flags, cluster, objects);
                   });
  fmt::print(stderr, "{}\n", end.error().message);
  return 1;
}

Result<std::string> DescribeJob(const JobFlags& flags, std::vector<std::string>& warnings) {
  TRY_ASSIGN(const ClusterPtr cluster, Connect(flags));
  TRY_ASSIGN(const inspect::JobReport job, FindNamedJob(flags, *cluster, warnings));
  std::set<std::string> names = {job.key.name, job.group};
  for (const inspect::JobReport::Pod& pod : job.pods) names.insert(pod.name);
  TRY_ASSIGN(const auto listed, cluster->List(kube::kEvents, job.key.ns, {}));
  const auto objects = listed.value_or(std::vector<inspect::ListedObject>());
  const inspect::JobEvents events = {.history = inspect::HistoryOf(job, objects, kShownHistory),
                                     .last = inspect::LastEvents(objects, names, kShownEvents)};
  if (flags.output == OutputFormat::kJson) return inspect::RenderJobJson(job, events);
  return inspect::RenderJob(job, events, kube::SystemClock().Now(), StandardOutputStyle());
}

Result<std::string> CommandJob(const JobFlags& flags, inspect::JobAction action) {
  TRY_ASSIGN(const ClusterPtr cluster, Connect(flags));
  TRY_ASSIGN(const kube::ObjectKey job, KeyOf(flags, *cluster));
  TRY_ASSIGN(const std::string said, inspect::RequestAction(*cluster, job, action));
  return fmt::format("job {}/{}: {}\n", job.ns, job.name, said);
}

Result<std::string> CancelJob(const JobFlags& flags) {
  TRY_ASSIGN(const ClusterPtr cluster, Connect(flags));
  TRY_ASSIGN(const kube::ObjectKey job, KeyOf(flags, *cluster));
  TRY_ASSIGN(const std::string uid, inspect::FindJobUid(*cluster, job));
  if (!flags.yes) {
    const std::string question = fmt::format("Delete job {}/{} and its pods?", job.ns, job.name);
    TRY_ASSIGN(const bool sure, Confirm(question, StandardInputTerminal()));
    if (!sure) return fmt::format("job {}/{} not deleted\n", job.ns, job.name);
  }
  TRY(inspect::DeleteJob(*cluster, job, uid));
  return fmt::format("job {}/{} deleted\n", job.ns, job.name);
}

using Work = Result<std::string> (*)(const JobFlags& flags, std::vector<std::string>& warnings);

// A predicate over labels from kubectl's syntax.
Result<std::function<bool(const Labels&)>> ParseLabelFilter(const std::string& text) {
  TRY_ASSIGN(auto requirements, apiserver::ParseLabelSelector(text));
  return [requirements = std::move(requirements)](const Labels& labels) {
    return apiserver::MatchesAll(requirements, {labels.begin(), labels.end()});
  };
}

int RunJob(Work work, const JobFlags& flags) {
  std::vector<std::string> warnings;
  const Result<std::string> text = work(flags, warnings);
  return PrintResult(text, warnings);
}

// One of the commands below `job`.
struct JobCommand {
  const char* name;
  const char* what;
  Work work;
};

CLI::App& AddJobCommandOf(CLI::App& parent,
                          const JobCommand& what,
                          const std::shared_ptr<JobFlags>& flags,
                          Run& run) {
  CLI::App& command = *parent.add_subcommand(what.name, what.what);
  command.footer(kJobFooter);
  AddJobConnection(command, *flags);
  command.callback(
      [flags, work = what.work, &run] { run = [flags, work] { return RunJob(work, *flags); }; });
  return command;
}

CLI::App& AddNamedJobCommand(CLI::App& parent,
                             const JobCommand& what,
                             const std::shared_ptr<JobFlags>& flags,
                             Run& run) {
  CLI::App& command = AddJobCommandOf(parent, what, flags, run);
  AddJobName(command, *flags);
  command.callback([flags, work = what.work, &run] {
    WantJobName(*flags);
    run = [flags, work] { return RunJob(work, *flags); };
  });
  return command;
}

// Which jobs, in which order, and how.
void AddListFlags(CLI::App& list, const std::shared_ptr<JobFlags>& flags, Run& run) {
  list.add_flag("-A,--all-namespaces", flags->all_namespaces, "List the jobs of all namespaces");
  list.add_option("--queue", flags->choice.queue, "Only jobs of this queue")->type_name("QUEUE");
  list.add_option_function<std::string>(
          "--state",
          [flags](const std::string& text) {
            flags->choice.states = inspect::ParseStates(text).value();
          },
          "Only jobs in one of these: waiting, running, finished, suspended, or a phase")
      ->type_name("STATE,...")
      ->check([](const std::string& text) { return MessageOf(inspect::ParseStates(text)); });
  list.add_option_function<std::string>(
          "-l,--selector",
          [flags](const std::string& text) {
            flags->choice.labels = ParseLabelFilter(text).value();
          },
          "Only jobs with these labels, as kubectl takes them: a=b,c!=d,e in (f,g),h,!i")
      ->type_name("LABELS")
      ->check([](const std::string& text) { return MessageOf(ParseLabelFilter(text)); });
  list.add_option_function<std::string>(
          "--sort-by",
          [flags](const std::string& text) {
            flags->choice.order = inspect::ParseJobOrder(text).value();
          },
          "Order; most GPUs, longest time and greatest age come first; default: name")
      ->type_name(inspect::KnownJobOrders())
      ->check([](const std::string& text) { return MessageOf(inspect::ParseJobOrder(text)); });
  list.add_flag("-w,--watch", flags->watch, "Print the list again after each change");
  AddOutputFlag(list, flags->output, {"table", "wide", "name", "json", "yaml"});
  list.callback([flags, &run] {
    run = [flags] { return flags->watch ? WatchJobs(*flags) : RunJob(ListJobs, *flags); };
  });
}

}  // namespace

Result<ClusterPtr> Connect(const JobFlags& flags) {
  return inspect::LiveCluster::Open(flags.connection, kube::SystemSurroundings());
}

std::string NamespaceOf(const JobFlags& flags, const inspect::LiveCluster& cluster) {
  return flags.ns.empty() ? cluster.ns() : flags.ns;
}

Result<kube::ObjectKey> KeyOf(const JobFlags& flags, const inspect::LiveCluster& cluster) {
  TRY_ASSIGN(NamespacedKey key, ResolveName(flags.name, flags.ns, cluster.ns()));
  if (!key.kind.empty() && key.kind != "Job") {
    return Fail(Code::kInvalidArgument,
                fmt::format("{}: this is for Jobs, not for a {}", flags.name, key.kind));
  }
  return kube::ObjectKey{std::move(key.ns), std::move(key.name)};
}

Result<inspect::JobReport> FindNamedJob(const JobFlags& flags,
                                        inspect::LiveCluster& cluster,
                                        std::vector<std::string>& warnings) {
  TRY_ASSIGN(const NamespacedKey key, ResolveName(flags.name, flags.ns, cluster.ns()));
  return inspect::FindJob(cluster, {key.ns, key.name}, key.kind, warnings);
}

void WantJobName(const JobFlags& flags) {
  if (flags.name.empty()) {
    throw CLI::ValidationError("job", "want the name of a Job, [NS/]JOB");
  }
}

void AddJobConnection(CLI::App& command, JobFlags& flags) {
  AddConnectionFlags(command, flags.connection);
  command
      .add_option("-n,--namespace", flags.ns, "Namespace of the Job; default: that of the context")
      ->type_name("NAMESPACE");
}

void AddJobName(CLI::App& command, JobFlags& flags) {
  command.add_option("job,-N,--name", flags.name, "The Job; without NS that of -n")
      ->type_name("[NS/]JOB")
      ->check(CheckName);
}

void AddJobCommand(CLI::App& app, Run& run) {
  CLI::App& job = *app.add_subcommand(
      "job", "List, describe, run, suspend, resume or cancel the Jobs of a running cluster");
  job.require_subcommand(1);
  job.footer(kJobFooter);
  const auto flags = std::make_shared<JobFlags>();
  CLI::App& list = AddJobCommandOf(
      job,
      {"list", "List jobs with pods, GPUs, phase, time and domain, and why they wait", ListJobs},
      flags,
      run);
  AddListFlags(list, flags, run);
  CLI::App& describe = AddNamedJobCommand(
      job,
      {"describe",
       "Show tasks, pods by leaf HyperNode, conditions, and the history of its reasons",
       DescribeJob},
      flags,
      run);
  AddOutputFlag(describe, flags->output, {"table", "json"});
  AddJobRunCommand(job, kJobFooter, run);
  AddJobLogsCommand(job, kJobFooter, run);
  AddNamedJobCommand(job,
                     {"suspend",
                      "Delete the pods of a Job and keep the Job (Volcano's AbortJob)",
                      [](const JobFlags& f, std::vector<std::string>&) {
                        return CommandJob(f, inspect::JobAction::kSuspend);
                      }},
                     flags,
                     run);
  AddNamedJobCommand(job,
                     {"resume",
                      "Start a suspended Job again (Volcano's ResumeJob)",
                      [](const JobFlags& f, std::vector<std::string>&) {
                        return CommandJob(f, inspect::JobAction::kResume);
                      }},
                     flags,
                     run);
  CLI::App& cancel = AddNamedJobCommand(
      job,
      {"cancel",
       "Delete a Job and its pods, after confirmation",
       [](const JobFlags& f, std::vector<std::string>&) { return CancelJob(f); }},
      flags,
      run);
  cancel.add_flag("-y,--yes", flags->yes, "Do not ask for confirmation");
}

}  // namespace strata
