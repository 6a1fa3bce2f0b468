#include "inspect/eviction_report.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/age.h"
#include "base/timestamp.h"
#include "json/dump.h"
#include "objects/cursor.h"
#include "objects/document.h"

namespace strata::inspect {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kPodsFor = " pods, for ";
constexpr std::string_view kPodsSince = " pods, since ";  // nobody gets their room
constexpr std::string_view kIn = " in ";

// The part of `text` before `mark`, which is taken off together with the mark; all of it where
// there is no mark.
std::string_view TakeUpTo(std::string_view& text, std::string_view mark) {
  const std::size_t end = text.find(mark);
  const std::string_view before = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + mark.size());
  return before;
}

// Reads "gangpreempt: 3 of 3 pods, for ns/job in HyperNode s0 (tier 1)", or the same with a reason
// ("gangpreempt: 2 of 4 pods, since ..."); Volcano's is "preempt".
void ReadMessage(std::string_view message, EvictionLine& line) {
  line.action = TakeUpTo(message, ": ");
  if (message.find(kPodsSince) != std::string_view::npos) line.pods = TakeUpTo(message, kPodsSince);
  if (message.find(kPodsFor) == std::string_view::npos) return;
  line.pods = TakeUpTo(message, kPodsFor);
  line.claimant = TakeUpTo(message, kIn);
  line.where = message;
}

std::optional<EvictionLine> ReadEviction(const std::string& text) {
  const Result<objects::Document> document = objects::Document::ParseJson(text);
  if (!document) return std::nullopt;
  objects::ReadLog log;
  const objects::Cursor object(document->root(), log);
  const objects::Cursor about = object.At("involvedObject");
  std::string kind;
  std::string ns;
  std::string name;
  std::string reason;
  std::string message;
  std::optional<Time> last;
  std::optional<Time> made;
  EvictionLine line;
  about.At("kind").Read(kind);
  about.At("namespace").Read(ns);
  about.At("name").Read(name);
  object.At("reason").Read(reason);
  object.At("message").Read(message);
  object.At("lastTimestamp").Read(last);
  object.At("eventTime").Read(made);
  object.At("count").Read(line.count);
  if (!log.error.empty() || kind != "PodGroup" || reason != "Evict") return std::nullopt;
  line.last = last.value_or(made.value_or(Time{}));
  line.evicted = fmt::format("{}/{}", ns, name);
  ReadMessage(message, line);
  return line;
}

std::string DashIfNone(const std::string& text) {
  return text.empty() ? "-" : text;
}

}  // namespace

std::vector<EvictionLine> MakeEvictionReport(const std::vector<ListedObject>& events) {
  std::vector<EvictionLine> lines;
  for (const ListedObject& event : events) {
    if (auto line = ReadEviction(event.text)) lines.push_back(std::move(*line));
  }
  std::stable_sort(lines.begin(), lines.end(), [](const EvictionLine& a, const EvictionLine& b) {
    return a.last < b.last;
  });
  return lines;
}

std::string RenderEvictions(const std::vector<EvictionLine>& evictions,
                            Time now,
                            const TextStyle& style) {
  if (evictions.empty()) {
    return "No evictions among the events of the cluster, which keeps them for an hour by "
           "default.\n";
  }
  TextTable table(
      {{"AGE", TextTable::Align::kRight}, {"ACTION"}, {"EVICTED"}, {"PODS"}, {"FOR"}, {"IN"}});
  for (const EvictionLine& line : evictions) {
    table.AddRow({{line.last == Time{} ? "-" : HumanDuration(now - line.last)},
                  {line.action},
                  {line.evicted},
                  {DashIfNone(line.pods)},
                  {DashIfNone(line.claimant)},
                  {DashIfNone(line.where)}});
  }
  return table.Render(style);
}

std::string RenderEvictionsJson(const std::vector<EvictionLine>& evictions) {
  Json list = Json::array();
  for (const EvictionLine& line : evictions) {
    list.push_back({{"time", line.last == Time{} ? "" : FormatTimestamp(line.last)},
                    {"action", line.action},
                    {"evicted", line.evicted},
                    {"pods", line.pods},
                    {"for", line.claimant},
                    {"in", line.where},
                    {"count", line.count}});
  }
  return DumpPrettyJson(Json{{"evictions", std::move(list)}}) + "\n";
}

}  // namespace strata::inspect
