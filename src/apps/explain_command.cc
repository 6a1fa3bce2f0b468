#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "apps/command_line.h"
#include "apps/flags.h"
#include "apps/input.h"
#include "apps/page_link.h"
#include "apps/terminal.h"
#include "base/age.h"
#include "explain/explain.h"
#include "explain/render_explain.h"
#include "explain/subject.h"
#include "inspect/job_report.h"
#include "inspect/live_cluster.h"
#include "objects/expand_job.h"

namespace strata {
namespace {

constexpr const char* kExplainFooter = R"(
In a running cluster only what exists counts; what the scheduler would do is told as a forecast.
Every listed change was tried: made in a copy of the cluster and solved again.

Examples:
  strata explain default/train                  a Job of the running cluster
  strata explain train-worker-0 -n ml           a pod; PodGroups and Deployments have names, too
  strata explain pod/web -n ml                  the pod of that name, whatever else is called so
  strata explain train --without big            what if another job were gone
  strata explain train --add nodes=4            what if there were four more nodes
  strata explain -f cluster.yaml -f jobs/ default/train
  strata explain -f examples/hard-pending default/pytorch-distributed-training
  strata explain -f . --scheduler-conf volcano-scheduler.conf -o json default/train)";

constexpr std::size_t kShownWarnings = 2;

struct ExplainFlags {
  InputFlags input;
  std::string name;  // as ResolveName takes it
  OutputFormat output = OutputFormat::kTable;
};

// The pods that controllers have yet to make.
Result<objects::MakesPods> ChooseJob(const ExplainFlags& flags,
                                     const objects::ObjectSet& objects,
                                     const std::string& ns) {
  TRY_ASSIGN(const NamespacedKey key, ResolveName(flags.name, flags.input.ns, ns));
  return MakesUpPods(objects, key.ns + "/" + key.name);
}

// The last warnings about a job that lacks pods: who could not make them says why there.
Status AddWarnings(const ExplainFlags& flags, Time now, Explanation& story) {
  if (!story.reality || story.reality->exist >= story.reality->wanted) return {};
  const auto tail = [](const std::string& name) { return name.substr(name.find('/') + 1); };
  const std::string ns = story.job.substr(0, story.job.find('/'));
  TRY_ASSIGN(const std::unique_ptr<inspect::LiveCluster> cluster,
             inspect::LiveCluster::Open(flags.input.connection, kube::SystemSurroundings()));
  TRY_ASSIGN(auto listed, cluster->List(kube::kEvents, ns, {}));
  if (!listed) return {};
  std::vector<inspect::EventLine> events =
      inspect::LastEvents(*listed, {tail(story.job), tail(story.subject)}, listed->size());
  std::set<std::pair<std::string, std::string>> told;  // the same is said of Job and PodGroup
  for (auto event = events.rbegin(); event != events.rend(); ++event) {
    const bool news = event->type == "Warning" &&
                      !SaysNothingNew(story, event->reason, event->message) &&
                      told.emplace(event->reason, event->message).second;
    if (!news) event->type.clear();
  }
  std::erase_if(events, [](const inspect::EventLine& event) { return event.type.empty(); });
  const std::size_t skipped = events.size() - std::min(events.size(), kShownWarnings);
  for (std::size_t i = skipped; i < events.size(); ++i) {
    story.notes.push_back(fmt::format("warning of {}, {} ago: {}: {}",
                                      events[i].object,
                                      HumanDuration(now - events[i].last),
                                      events[i].reason,
                                      events[i].message));
  }
  return {};
}

Result<std::string> ExplainOne(const ExplainFlags& flags, Input& input, Progress& progress) {
  TRY_ASSIGN(const NamespacedKey key, ResolveName(flags.name, flags.input.ns, input.ns));
  TRY_ASSIGN(const Subject subject, FindSubject(input.objects, key.ns + "/" + key.name, key.kind));
  ExplainQuery query;
  query.objects = &input.objects;
  query.config = &input.as_configured;
  query.options.now = input.now;
  query.progress = [&](const std::string& what) { progress.Stage(what); };
  if (flags.input.live()) query.source = ExplainQuery::Source::kRunningCluster;
  progress.Stage("placing pending pods");
  TRY_ASSIGN(Explanation story, ExplainSubject(query, subject, *input.cluster.state));
  if (flags.input.live()) TRY(AddWarnings(flags, *input.now, story));
  if (flags.output == OutputFormat::kJson) return RenderJson(story);
  std::vector<std::string> lines = ExplainLines(story);
  if (WasPlacedEarlier(story)) {
    query.job = story.job;
    TRY_ASSIGN(const Explanation again, ExplainPlacedAgain(query));
    const std::vector<std::string> more = PlacedAgainLines(again);
    lines.insert(lines.end(), more.begin(), more.end());
  }
  const TextStyle style = StandardOutputStyle();
  std::string text = WrapLines(lines, style);
  // For people: what a program reads has no link.
  if (flags.input.live() && flags.input.edits.empty() && style.fit) {
    const std::string page = FindPage(flags.input.connection, kube::SystemSurroundings());
    const auto own = story.own_names.find(story.job);
    const std::string& name = own == story.own_names.end() ? story.job : own->second;
    if (!page.empty()) text += fmt::format("\nSee it: {}\n", LinkToJob(page, name));
  }
  return text;
}

int RunExplain(const ExplainFlags& flags) {
  return ShowCluster(
      flags.input,
      [&flags](Input& input, Progress& progress) { return ExplainOne(flags, input, progress); },
      [&flags](const objects::ObjectSet& objects, const std::string& ns) {
        return ChooseJob(flags, objects, ns);
      });
}

}  // namespace

void AddExplainCommand(CLI::App& app, Run& run) {
  CLI::App& command = *app.add_subcommand(
      "explain", "Explain why one job waits or runs where it does, and what would let it start");
  command.footer(kExplainFooter);
  const auto flags = std::make_shared<ExplainFlags>();
  AddClusterFlags(command, flags->input);
  command.add_option("name", flags->name, "The Job, PodGroup, pod or Deployment; without NS of -n")
      ->type_name("[NS/][KIND/]NAME")
      ->required()
      ->check(CheckName);
  command
      .add_option("-n,--namespace",
                  flags->input.ns,
                  "Namespace of NAME; default: that of the context, default for manifests")
      ->type_name("NAME");
  AddWhatIfFlags(command, flags->input);
  AddOutputFlag(command, flags->output, {"table", "json"});
  command.callback([flags, &run] { run = [flags] { return RunExplain(*flags); }; });
}

}  // namespace strata
