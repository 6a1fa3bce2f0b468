// The events of a job, for people.
#include <algorithm>
#include <functional>
#include <optional>
#include <utility>

#include "inspect/job_report.h"
#include "objects/cursor.h"
#include "objects/value.h"

namespace strata::inspect {
namespace {

struct Event {
  EventLine line;
  std::string kind;  // of the object that it is about
  std::string name;
  std::string uid;  // "" where the event does not say it
};

// None when the text is not an event.
std::optional<Event> ReadEvent(const std::string& text) {
  const Result<objects::Document> document = objects::Document::ParseJson(text);
  if (!document) return std::nullopt;
  objects::ReadLog log;
  const objects::Cursor object(document->root(), log);
  const objects::Cursor about = object.At("involvedObject");
  Event event;
  std::optional<Time> first;
  std::optional<Time> last;
  std::optional<Time> made;
  about.At("kind").Read(event.kind);
  about.At("name").Read(event.name);
  about.At("uid").Read(event.uid);
  object.At("firstTimestamp").Read(first);
  object.At("lastTimestamp").Read(last);
  object.At("eventTime").Read(made);
  object.At("type").Read(event.line.type);
  object.At("reason").Read(event.line.reason);
  object.At("message").Read(event.line.message);
  object.At("count").Read(event.line.count);
  if (!log.error.empty()) return std::nullopt;
  event.line.last = last.value_or(made.value_or(Time{}));
  event.line.first = first.value_or(made.value_or(event.line.last));
  event.line.object = event.kind + " " + event.name;
  return event;
}

// Those that are wanted, the last `count` of them, oldest first.
std::vector<EventLine> Choose(const std::vector<ListedObject>& events,
                              std::size_t count,
                              const std::function<bool(const Event&)>& wanted) {
  std::vector<EventLine> lines;
  for (const ListedObject& object : events) {
    std::optional<Event> event = ReadEvent(object.text);
    if (event && wanted(*event)) lines.push_back(std::move(event->line));
  }
  std::stable_sort(lines.begin(), lines.end(), [](const EventLine& a, const EventLine& b) {
    return a.last < b.last;
  });
  if (lines.size() > count) {
    lines.erase(lines.begin(), lines.end() - static_cast<std::ptrdiff_t>(count));
  }
  return lines;
}

}  // namespace

std::vector<EventLine> LastEvents(const std::vector<ListedObject>& events,
                                  const std::set<std::string>& names,
                                  std::size_t count) {
  return Choose(events, count, [&](const Event& event) { return names.contains(event.name); });
}

std::vector<EventLine> HistoryOf(const JobReport& job,
                                 const std::vector<ListedObject>& events,
                                 std::size_t count) {
  const std::string kind = job.kind == JobReport::Kind::kJob ? "Job" : "PodGroup";
  return Choose(events, count, [&](const Event& event) {
    if (event.kind == "PodGroup" && event.name == job.group) return true;
    const bool is_other = !event.uid.empty() && !job.uid.empty() && event.uid != job.uid;
    return event.kind == kind && event.name == job.key.name && !is_other;
  });
}

}  // namespace strata::inspect
