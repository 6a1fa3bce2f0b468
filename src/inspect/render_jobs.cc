#include "inspect/render_jobs.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "base/age.h"
#include "base/timestamp.h"
#include "json/dump.h"

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

// A message of the cluster on lines of its own; it may hold anything.
std::string Sentence(std::string_view text, std::size_t indent, const TextStyle& style) {
  std::string clean;
  for (const char c : text) clean += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
  return clean.empty() ? "" : Wrap(clean, indent, style);
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

Json Summary(const JobReport& job) {
  return {{"namespace", job.key.ns},
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
}

}  // namespace

std::string RenderJobList(const std::vector<JobReport>& jobs,
                          NamespaceColumn column,
                          Time now,
                          const TextStyle& style) {
  if (jobs.empty()) return "No jobs.\n";
  std::vector<TextTable::Column> columns = {{"JOB"},
                                            {"PHASE"},
                                            {"QUEUE"},
                                            {"READY", Align::kRight},
                                            {"DOMAIN"},
                                            {"TIER", Align::kRight},
                                            {"AGE", Align::kRight},
                                            {"REASON"}};
  const bool show_namespace = column == NamespaceColumn::kShow;
  if (show_namespace) columns.insert(columns.begin(), {"NAMESPACE"});
  TextTable table(std::move(columns));
  for (const JobReport& job : jobs) {
    std::vector<Cell> cells = {{job.key.name},
                               {job.phase, InkOf(job.phase)},
                               {job.queue},
                               {fmt::format("{}/{}", job.ready, job.total)},
                               {OrDash(job.domain)},
                               {job.domain.empty() ? "-" : std::to_string(job.tier)},
                               {Age(job.created, now)},
                               {OrDash(job.reason)}};
    if (show_namespace) cells.insert(cells.begin(), {job.key.ns});
    table.AddRow(std::move(cells));
    table.AddText(Sentence(job.message, 4, style));
  }
  return table.Render(style);
}

std::string RenderJob(const JobReport& job,
                      const std::vector<EventLine>& events,
                      Time now,
                      const TextStyle& style) {
  std::string text = RenderJobList({job}, NamespaceColumn::kShow, now, style);
  text += fmt::format("\nPodGroup {}; {} of {} pods must run for it to start.\n",
                      OrDash(job.group),
                      job.min_available,
                      job.total);
  text += "\n" + TaskTable(job, style);
  text += "\n" + PodTable(job, style);
  if (!job.conditions.empty()) text += "\n" + ConditionTable(job, now, style);
  if (!events.empty()) text += "\n" + EventTable(events, now, style);
  return text;
}

std::string RenderJobListJson(const std::vector<JobReport>& jobs) {
  Json json = Json::object();
  Json& list = json["jobs"] = Json::array();
  for (const JobReport& job : jobs) list.push_back(Summary(job));
  return DumpPrettyJson(json) + "\n";
}

std::string RenderJobJson(const JobReport& job, const std::vector<EventLine>& events) {
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
  json["events"] = Json::array();
  for (const EventLine& event : events) {
    json["events"].push_back({{"last", TimeText(event.last)},
                              {"type", event.type},
                              {"reason", event.reason},
                              {"object", event.object},
                              {"message", event.message},
                              {"count", event.count}});
  }
  return DumpPrettyJson(json) + "\n";
}

}  // namespace strata::inspect
