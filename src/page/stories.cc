#include "page/stories.h"

#include <utility>

#include <nlohmann/json.hpp>

#include "json/dump.h"

namespace strata::page {
namespace {

// The page asks each second as long as somebody looks at the story.
constexpr Duration kStoryPatience = std::chrono::seconds(10);
// The cluster goes on: a story of a minute ago is found out anew, and shown until then.
constexpr Duration kFresh = std::chrono::seconds(60);
constexpr Duration kKept = std::chrono::minutes(10);

using OrderedJson = nlohmann::ordered_json;

std::string KnownAtOnce(const Stories::Question& question, const char* state) {
  const OrderedJson json = {{"job", question.group},
                            {"sentence", question.sentence},
                            {"phase", question.phase},
                            {"reason", question.reason},
                            {"message", question.sentence},
                            {"state", state},
                            {"source", "verdict"}};
  return DumpJson(json) + "\n";
}

std::string Failed(const Error& error) {
  return DumpJson(OrderedJson{{"state", "failed"}, {"problem", error.message}}) + "\n";
}

}  // namespace

std::string Stories::Tell(const Question& question,
                          const MakeCase& make_case,
                          net::SteadyTime now) {
  Entry& entry = entries_[question.group];
  entry.asked = now;
  const bool is_old = entry.verdict != question.verdict || now - entry.began > kFresh;
  if (entry.number == 0 || is_old) {
    if (entry.verdict != question.verdict) entry.answer.clear();
    entry.stop.request_stop();
    entry.verdict = question.verdict;
    entry.began = now;
    Begin(question, make_case, entry);
  }
  return entry.answer.empty() ? KnownAtOnce(question, "computing") : entry.answer;
}

void Stories::Begin(const Question& question, const MakeCase& make_case, Entry& entry) {
  entry.is_done = false;
  entry.stop = std::stop_source();
  entry.number = ++last_;
  const auto take = [this, group = question.group, number = entry.number](std::string answer,
                                                                          bool is_done) {
    mailbox_->Post([this, group, number, answer = std::move(answer), is_done]() mutable {
      Take(group, number, std::move(answer), is_done);
    });
  };
  const bool added = worker_.Add(
      [objects = make_case(), group = question.group, take](const std::stop_token& stop) {
        auto story = TellStory(
            *objects, group, [&](std::string json) { take(std::move(json), false); }, stop);
        if (stop.stop_requested()) return;
        take(story ? *std::move(story) : Failed(story.error()), true);
      },
      entry.stop);
  if (added) return;
  entry.number = 0;  // too many wait: the next question tries again
}

void Stories::Take(const std::string& group,
                   std::uint64_t number,
                   std::string answer,
                   bool is_done) {
  const auto found = entries_.find(group);
  if (found == entries_.end() || found->second.number != number) return;
  // An answer that is whole stands until the next whole one.
  if (!is_done && !found->second.answer.empty()) return;
  found->second.answer = std::move(answer);
  found->second.is_done = is_done;
}

void Stories::Tidy(net::SteadyTime now) {
  for (auto it = entries_.begin(); it != entries_.end();) {
    Entry& entry = it->second;
    const bool is_left = now - entry.asked > kStoryPatience && !entry.is_done;
    if (is_left) entry.stop.request_stop();
    it = is_left || now - entry.asked > kKept ? entries_.erase(it) : std::next(it);
  }
}

}  // namespace strata::page
