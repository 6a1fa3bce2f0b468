// The events of a job, for people.
#include <algorithm>
#include <optional>
#include <utility>

#include "inspect/job_report.h"
#include "objects/cursor.h"
#include "objects/value.h"

namespace strata::inspect {
namespace {

// None when the text is not an event about one of `names`.
std::optional<EventLine> ReadEvent(const std::string& text, const std::set<std::string>& names) {
  const Result<objects::Document> document = objects::Document::ParseJson(text);
  if (!document) return std::nullopt;
  objects::ReadLog log;
  const objects::Cursor object(document->root(), log);
  const objects::Cursor about = object.At("involvedObject");
  std::string kind;
  std::string name;
  EventLine event;
  std::optional<Time> last;
  std::optional<Time> made;
  about.At("kind").Read(kind);
  about.At("name").Read(name);
  object.At("lastTimestamp").Read(last);
  object.At("eventTime").Read(made);
  object.At("type").Read(event.type);
  object.At("reason").Read(event.reason);
  object.At("message").Read(event.message);
  object.At("count").Read(event.count);
  if (!log.error.empty() || !names.contains(name)) return std::nullopt;
  event.last = last.value_or(made.value_or(Time{}));
  event.object = kind + " " + name;
  return event;
}

}  // namespace

std::vector<EventLine> LastEvents(const std::vector<ListedObject>& events,
                                  const std::set<std::string>& names,
                                  std::size_t count) {
  std::vector<EventLine> lines;
  for (const ListedObject& event : events) {
    if (auto line = ReadEvent(event.text, names)) lines.push_back(std::move(*line));
  }
  std::stable_sort(lines.begin(), lines.end(), [](const EventLine& a, const EventLine& b) {
    return a.last < b.last;
  });
  if (lines.size() > count) {
    lines.erase(lines.begin(), lines.end() - static_cast<std::ptrdiff_t>(count));
  }
  return lines;
}

}  // namespace strata::inspect
