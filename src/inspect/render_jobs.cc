#include "inspect/render_jobs.h"

#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "base/age.h"
#include "base/timestamp.h"
#include "json/dump.h"
#include "objects/yaml_writer.h"

namespace strata::inspect {
namespace {

using Json = nlohmann::ordered_json;
using Align = TextTable::Align;
using Cell = TextTable::Cell;

Ink InkOf(std::string_view phase) {
  if (phase == "Running" || phase == "Completed" || phase == "Succeeded") return Ink::kGreen;
  if (phase == "Failed" || phase == "Terminated") return Ink::kRed;
  return Ink::kYellow;
}

std::string OrDash(const std::string& text) {
  return text.empty() ? "-" : text;
}

std::string Age(Time created, Time now) {
  return created == Time{} ? "-" : HumanDuration(now - created);
}

// A message of the cluster, which may hold anything, without line breaks.
std::string OneLine(std::string_view text) {
  std::string line;
  for (const char c : text) line += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
  return line;
}

// A message of the cluster on lines of its own.
std::string Sentence(std::string_view text, std::size_t indent, const TextStyle& style) {
  return text.empty() ? "" : Wrap(OneLine(text), indent, style);
}

std::string PhasesOf(const JobReport::Task& task) {
  std::vector<std::string> parts;
  for (const auto& [phase, count] : task.pods) parts.push_back(fmt::format("{} {}", count, phase));
  return parts.empty() ? "-" : fmt::format("{}", fmt::join(parts, ", "));
}

std::string TaskTable(const JobReport& job, const TextStyle& style) {
  TextTable table({{"TASK"}, {"REPLICAS", Align::kRight}, {"MIN", Align::kRight}, {"PODS"}});
  for (const JobReport::Task& task : job.tasks) {
    table.AddRow({{task.name},
                  {std::to_string(task.replicas)},
                  {std::to_string(task.min_available)},
                  {PhasesOf(task)}});
  }
  return table.Render(style);
}

std::string PodTable(const JobReport& job, const TextStyle& style) {
  if (job.pods.empty()) return "No pods.\n";
  TextTable table({{"LEAF"}, {"POD"}, {"PHASE"}, {"NODE"}});
  for (const JobReport::Pod& pod : job.pods) {
    table.AddRow(
        {{OrDash(pod.leaf)}, {pod.name}, {pod.phase, InkOf(pod.phase)}, {OrDash(pod.node)}});
  }
  return table.Render(style);
}

std::string ConditionTable(const JobReport& job, Time now, const TextStyle& style) {
  TextTable table({{"CONDITION"}, {"STATUS"}, {"REASON"}, {"AGE", Align::kRight}});
  for (const objects::Condition& condition : job.conditions) {
    table.AddRow({{condition.type},
                  {condition.status},
                  {OrDash(condition.reason)},
                  {Age(condition.last_transition.value_or(Time{}), now)}});
    table.AddText(Sentence(condition.message, 4, style));
  }
  return table.Render(style);
}

std::string HistoryTable(const std::vector<EventLine>& events, Time now, const TextStyle& style) {
  TextTable table({{"FIRST", Align::kRight},
                   {"LAST", Align::kRight},
                   {"COUNT", Align::kRight},
                   {"HISTORY"},
                   {"OBJECT"}});
  for (const EventLine& event : events) {
    table.AddRow({{Age(event.first, now)},
                  {Age(event.last, now)},
                  {std::to_string(event.count)},
                  {event.reason, event.type == "Warning" ? Ink::kYellow : Ink::kPlain},
                  {event.object}});
    table.AddText(Sentence(event.message, 4, style));
  }
  return table.Render(style);
}

std::string EventTable(const std::vector<EventLine>& events, Time now, const TextStyle& style) {
  TextTable table(
      {{"AGE", Align::kRight}, {"TYPE"}, {"REASON"}, {"COUNT", Align::kRight}, {"OBJECT"}});
  for (const EventLine& event : events) {
    table.AddRow({{Age(event.last, now)},
                  {event.type, event.type == "Warning" ? Ink::kYellow : Ink::kPlain},
                  {event.reason},
                  {std::to_string(event.count)},
                  {event.object}});
    table.AddText(Sentence(event.message, 4, style));
  }
  return table.Render(style);
}

std::string TimeText(Time time) {
  return time == Time{} ? "" : FormatTimestamp(time);
}

std::string TimeText(const std::optional<Time>& time) {
  return TimeText(time.value_or(Time{}));
}

std::int64_t GpusOf(const JobReport& job) {
  return job.gpus.Value().value_or(std::numeric_limits<std::int64_t>::max());
}

Json Summary(const JobReport& job) {
  Json json = {{"namespace", job.key.ns},
               {"name", job.key.name},
               {"phase", job.phase},
               {"queue", job.queue},
               {"podGroup", job.group},
               {"ready", job.ready},
               {"total", job.total},
               {"minAvailable", job.min_available},
               {"hyperNode", job.domain},
               {"tier", job.tier},
               {"created", TimeText(job.created)},
               {"reason", job.reason},
               {"message", job.message}};
  json["kind"] = job.kind == JobReport::Kind::kJob ? "Job" : "PodGroup";
  json["owner"] = job.owner;
  json["state"] = ToString(job.state);
  if (job.rank > 0) json["rank"] = job.rank;
  json["gpus"] = GpusOf(job);
  json["sharesGpus"] = job.shares_gpus;
  json["nodes"] = job.nodes;
  json["started"] = TimeText(job.started);
  json["finished"] = TimeText(job.finished);
  if (job.exit_code) json["exitCode"] = *job.exit_code;
  return json;
}

Json EventsJson(const std::vector<EventLine>& events) {
  Json json = Json::array();
  for (const EventLine& event : events) {
    json.push_back({{"last", TimeText(event.last)},
                    {"type", event.type},
                    {"reason", event.reason},
                    {"object", event.object},
                    {"message", event.message},
                    {"count", event.count},
                    {"first", TimeText(event.first)}});
  }
  return json;
}

Json ListJson(const std::vector<JobReport>& jobs) {
  Json json = Json::object();
  Json& list = json["jobs"] = Json::array();
  for (const JobReport& job : jobs) list.push_back(Summary(job));
  return json;
}

std::string GpuCell(const JobReport& job) {
  if (job.gpus.IsZero()) return "-";
  return std::to_string(GpusOf(job)) + (job.shares_gpus ? " shared" : "");
}

std::string TimeCell(const JobReport& job, Time now) {
  const std::optional<Duration> time = TimeOf(job, now);
  return time ? HumanDuration(*time) : "-";
}

// Why it waits, or how it ended.
std::string ReasonCell(const JobReport& job) {
  if (!job.reason.empty()) return job.reason;
  if (job.state == JobState::kFinished && job.exit_code) {
    return fmt::format("exit code {}", *job.exit_code);
  }
  return "-";
}

std::string NodesCell(const JobReport& job) {
  if (job.nodes.empty()) return "-";
  return job.nodes.size() == 1 ? *job.nodes.begin() : std::to_string(job.nodes.size());
}

std::vector<TextTable::Column> ColumnsOf(JobColumns columns) {
  std::vector<TextTable::Column> all = {{"JOB", Align::kLeft, 0, 8},
                                        {"QUEUE", Align::kLeft, 0, 6},
                                        {"PODS", Align::kRight},
                                        {"GPUS", Align::kRight},
                                        {"PHASE"},
                                        {"TIME", Align::kRight},
                                        {"DOMAIN", Align::kLeft, 0, 6},
                                        {"REASON", Align::kLeft, 0, 8}};
  if (columns.ns) all.insert(all.begin(), {"NAMESPACE", Align::kLeft, 0, 8});
  if (!columns.wide) return all;
  const std::vector<TextTable::Column> more = {{"RANK", Align::kRight},
                                               {"TIER", Align::kRight},
                                               {"NODES"},
                                               {"MIN", Align::kRight},
                                               {"AGE", Align::kRight},
                                               {"OWNER"},
                                               {"MESSAGE"}};
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

std::vector<Cell> CellsOf(const JobReport& job, JobColumns columns, Time now) {
  std::vector<Cell> cells = {{ShownName(job)},
                             {job.queue},
                             {fmt::format("{}/{}", job.ready, job.total)},
                             {GpuCell(job)},
                             {job.phase, InkOf(job.phase)},
                             {TimeCell(job, now)},
                             {OrDash(job.domain)},
                             {ReasonCell(job)}};
  if (columns.ns) cells.insert(cells.begin(), {job.key.ns});
  if (!columns.wide) return cells;
  const std::vector<Cell> more = {{job.rank == 0 ? "-" : std::to_string(job.rank)},
                                  {job.domain.empty() ? "-" : std::to_string(job.tier)},
                                  {NodesCell(job)},
                                  {std::to_string(job.min_available)},
                                  {Age(job.created, now)},
                                  {OrDash(job.owner)},
                                  {OrDash(OneLine(job.message))}};
  cells.insert(cells.end(), more.begin(), more.end());
  return cells;
}

}  // namespace

std::string RenderJobList(const std::vector<JobReport>& jobs,
                          JobColumns columns,
                          Time now,
                          const TextStyle& style) {
  if (jobs.empty()) return "No jobs.\n";
  TextTable table(ColumnsOf(columns));
  for (const JobReport& job : jobs) table.AddRow(CellsOf(job, columns, now));
  // What was asked for beyond the usual is shown as it is.
  TextStyle as_wide = style;
  as_wide.fit = style.fit && !columns.wide;
  return table.Render(as_wide);
}

std::string RenderJobNames(const std::vector<JobReport>& jobs) {
  std::string names;
  for (const JobReport& job : jobs) {
    const char* kind = job.kind == JobReport::Kind::kJob ? "job.batch.volcano.sh"
                                                         : "podgroup.scheduling.volcano.sh";
    names += fmt::format("{}/{}\n", kind, job.key.name);
  }
  return names;
}

std::string RenderJob(const JobReport& job,
                      const JobEvents& events,
                      Time now,
                      const TextStyle& style) {
  std::string text = RenderJobList({job}, {.ns = true, .wide = false}, now, style);
  text += Sentence(job.message, 4, style);
  text += fmt::format("\nPodGroup {}; {} of {} pods must run for it to start.\n",
                      OrDash(job.group),
                      job.min_available,
                      job.total);
  text += "\n" + TaskTable(job, style);
  text += "\n" + PodTable(job, style);
  if (!job.conditions.empty()) text += "\n" + ConditionTable(job, now, style);
  if (!events.history.empty()) text += "\n" + HistoryTable(events.history, now, style);
  std::vector<EventLine> of_pods = events.last;
  std::erase_if(of_pods, [](const EventLine& event) { return !event.object.starts_with("Pod "); });
  if (!of_pods.empty()) text += "\n" + EventTable(of_pods, now, style);
  return text;
}

std::string RenderJobListJson(const std::vector<JobReport>& jobs) {
  return DumpPrettyJson(ListJson(jobs)) + "\n";
}

std::string RenderJobListYaml(const std::vector<JobReport>& jobs) {
  return objects::WriteYaml(ListJson(jobs));
}

std::string RenderJobJson(const JobReport& job, const JobEvents& events) {
  Json json = Summary(job);
  json["tasks"] = Json::array();
  for (const JobReport::Task& task : job.tasks) {
    Json pods = Json::object();
    for (const auto& [phase, count] : task.pods) pods[phase] = count;
    json["tasks"].push_back({{"name", task.name},
                             {"replicas", task.replicas},
                             {"minAvailable", task.min_available},
                             {"pods", std::move(pods)}});
  }
  json["pods"] = Json::array();
  for (const JobReport::Pod& pod : job.pods) {
    json["pods"].push_back({{"name", pod.name},
                            {"task", pod.task},
                            {"phase", pod.phase},
                            {"node", pod.node},
                            {"leaf", pod.leaf}});
  }
  json["conditions"] = Json::array();
  for (const objects::Condition& condition : job.conditions) {
    json["conditions"].push_back({{"type", condition.type},
                                  {"status", condition.status},
                                  {"reason", condition.reason},
                                  {"message", condition.message}});
  }
  json["events"] = EventsJson(events.last);
  json["history"] = EventsJson(events.history);
  return DumpPrettyJson(json) + "\n";
}

}  // namespace strata::inspect
