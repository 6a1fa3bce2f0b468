#include "kube/event_correlator.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/timestamp.h"
#include "base/utf8.h"
#include "json/dump.h"

namespace strata::kube {
namespace {

using EventJson = nlohmann::ordered_json;

constexpr std::size_t kMaxMessage = 1024;
constexpr std::size_t kMaxName = 230;  // with what is added, a name has at most 253
constexpr std::size_t kManySimilar = 10;
constexpr Duration kSimilarTime = std::chrono::minutes(10);
constexpr TokenBucket::Limits kNotesPerObject{1.0 / 300, 25};
constexpr std::string_view kCombined = "(combined from similar events): ";

std::string WholeSeconds(Time time) {
  return FormatTimestamp(std::chrono::floor<std::chrono::seconds>(time));
}

std::string NamespaceOf(const ObjectReference& about) {
  return about.ns.empty() ? "default" : about.ns;
}

std::string_view TypeName(EventNote::Type type) {
  return type == EventNote::Type::kNormal ? "Normal" : "Warning";
}

std::string Shortened(std::string_view message) {
  return std::string(CutUtf8(message, kMaxMessage));
}

std::string KeyOf(const ObjectReference& about) {
  return fmt::format("{}\n{}\n{}\n{}", about.kind, about.ns, about.name, about.uid);
}

}  // namespace

template <typename T>
T& EventCorrelator::Recent<T>::Get(const std::string& key) {
  const auto found = by_key_.find(key);
  if (found != by_key_.end()) {
    by_use_.splice(by_use_.begin(), by_use_, found->second);
    return found->second->second;
  }
  if (by_use_.size() >= kMax) {
    by_key_.erase(by_use_.back().first);
    by_use_.pop_back();
  }
  by_use_.emplace_front(key, T{});
  by_key_.emplace(key, by_use_.begin());
  return by_use_.front().second;
}

bool EventCorrelator::MaySpeakOf(const ObjectReference& about, net::SteadyTime now) {
  Pace& pace = pace_.Get(KeyOf(about));
  if (!pace.bucket) pace.bucket.emplace(kNotesPerObject);
  return pace.bucket->TryTake(now);
}

std::string EventCorrelator::MessageOf(const EventNote& note, net::SteadyTime now) {
  const std::string key =
      fmt::format("{}\n{}\n{}", KeyOf(note.about), TypeName(note.type), note.reason);
  Similar& similar = similar_.Get(key);
  if (now - similar.last > kSimilarTime) similar.messages.clear();
  similar.last = now;
  std::string message = Shortened(note.message);
  if (similar.messages.contains(message)) return message;
  if (similar.messages.size() >= kManySimilar) return std::string(kCombined);
  similar.messages.insert(message);
  return message;
}

std::string EventCorrelator::Body(const EventNote& note, const Kept& kept, Time wall) const {
  EventJson event = {{"kind", "Event"}, {"apiVersion", "v1"}};
  event["metadata"] = {{"name", kept.name}, {"namespace", NamespaceOf(note.about)}};
  EventJson about = {{"kind", note.about.kind}, {"apiVersion", note.about.api_version}};
  if (!note.about.ns.empty()) about["namespace"] = note.about.ns;
  about["name"] = note.about.name;
  if (!note.about.uid.empty()) about["uid"] = note.about.uid;
  if (!note.about.version.empty()) about["resourceVersion"] = note.about.version;
  event["involvedObject"] = std::move(about);
  event["reason"] = note.reason;
  event["message"] = note.message;
  event["source"] = {{"component", component_}};
  event["firstTimestamp"] = WholeSeconds(kept.first);
  event["lastTimestamp"] = WholeSeconds(wall);
  event["count"] = kept.count;
  event["type"] = TypeName(note.type);
  event["eventTime"] = nullptr;
  event["reportingComponent"] = component_;
  event["reportingInstance"] = "";
  return DumpJson(event);
}

std::optional<EventCorrelator::Write> EventCorrelator::Decide(const EventNote& note,
                                                              Time wall,
                                                              net::SteadyTime now) {
  if (!MaySpeakOf(note.about, now)) return std::nullopt;
  EventNote said = note;
  const std::string key_message = MessageOf(note, now);
  const bool combined = key_message == kCombined;
  said.message = combined ? Shortened(std::string(kCombined) + note.message) : key_message;
  Kept& kept = kept_.Get(fmt::format(
      "{}\n{}\n{}\n{}", KeyOf(note.about), TypeName(note.type), note.reason, key_message));
  Write write;
  write.ns = NamespaceOf(note.about);
  const bool is_new = kept.name.empty();
  if (is_new) {
    // Unique for this process, and for another one that speaks of the object later.
    const auto stamp = static_cast<std::uint64_t>(wall.time_since_epoch().count());
    std::string base(CutUtf8(note.about.name, kMaxName));
    // A part of a name ends with a letter or digit.
    while (base.ends_with('-') || base.ends_with('.')) base.pop_back();
    kept = {fmt::format("{}.{:x}{:04x}", base, stamp, ++made_ & 0xFFFFU), wall, 0};
  }
  ++kept.count;
  wall = std::max(wall, kept.first);  // a clock may go back
  write.name = kept.name;
  Call create = CreateCall({kEvents, write.ns, "", ""}, Body(said, kept, wall));
  if (is_new) {
    write.call = std::move(create);
    return write;
  }
  EventJson patch = {{"count", kept.count}, {"lastTimestamp", WholeSeconds(wall)}};
  if (combined) patch["message"] = said.message;
  write.call =
      PatchCall({kEvents, write.ns, kept.name, ""}, {PatchType::kMerge, "", {}}, DumpJson(patch));
  write.otherwise = std::move(create);
  return write;
}

}  // namespace strata::kube
