#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/ascii.h"
#include "kube/delta.h"

namespace strata::kube {

// A collection of pods as an API server shows it: versions, history, pages of one snapshot. What to
// answer, not how: the tests bring it over a fake transport and over sockets, with faults.
class FakeApi {
 public:
  struct Event {
    std::uint64_t version;
    std::string line;
  };
  struct Answer {
    bool stream = false;
    std::string body;                // of a list
    std::vector<std::string> lines;  // that a stream starts with
    std::uint64_t from = 0;          // a stream goes on behind this version
  };

  void Put(const std::string& name, const std::string& payload) {
    Stored& stored = objects_[name];
    const bool is_new = stored.uid.empty();
    if (is_new) stored.uid = "u" + std::to_string(++version_);
    stored.payload = payload;
    stored.version = ++version_;
    Record(is_new ? "ADDED" : "MODIFIED", Text(name, stored));
  }
  void Remove(const std::string& name) {
    const auto found = objects_.find(name);
    if (found == objects_.end()) return;
    Stored last = found->second;
    objects_.erase(found);
    last.version = ++version_;
    Record("DELETED", Text(name, last));
  }
  // History and snapshots are gone: who asks for them gets 410.
  void Forget() {
    history_.clear();
    snapshots_.clear();
    forgotten_ = version_;
  }

  // Whether somebody who stands at `version` would miss changes.
  [[nodiscard]] bool HasForgotten(std::uint64_t version) const { return version < forgotten_; }

  [[nodiscard]] std::map<std::string, std::string> Objects() const {
    std::map<std::string, std::string> texts;
    for (const auto& [name, stored] : objects_) texts[name] = Text(name, stored);
    return texts;
  }
  [[nodiscard]] std::string Bookmark(bool ends_initial = false) const {
    std::string meta = R"("resourceVersion":")" + std::to_string(version_) + '"';
    if (ends_initial) meta += R"(,"annotations":{"k8s.io/initial-events-end":"true"})";
    return R"({"type":"BOOKMARK","object":{"kind":"Pod","apiVersion":"v1","metadata":{)" + meta +
           "}}}";
  }
  static std::string StatusText(int code, const std::string& reason) {
    return R"({"kind":"Status","apiVersion":"v1","status":"Failure","message":"no","reason":")" +
           reason + R"(","code":)" + std::to_string(code) + '}';
  }
  static std::string ErrorLine(int code) {
    return R"({"type":"ERROR","object":)" + StatusText(code, code == 410 ? "Expired" : "") + '}';
  }

  // The lines behind `version`, which is moved on.
  [[nodiscard]] std::vector<std::string> LinesSince(std::uint64_t& version) const {
    std::vector<std::string> lines;
    for (const Event& event : history_) {
      if (event.version <= version) continue;
      lines.push_back(event.line);
      version = event.version;
    }
    return lines;
  }

  // An answer to GET of `query`; none: 410.
  [[nodiscard]] std::optional<Answer> Get(std::string_view query) {
    if (query.find("watch=true") != std::string_view::npos) return Watch(query);
    return List(query);
  }

 private:
  struct Stored {
    std::string payload;
    std::string uid;
    std::uint64_t version = 0;
  };
  struct Snapshot {
    std::uint64_t version;
    std::vector<std::string> items;
  };

  static std::string Parameter(std::string_view query, std::string_view name) {
    for (const std::string_view part : Split(query, '&')) {
      if (part.size() > name.size() && part.starts_with(name) && part[name.size()] == '=') {
        return std::string(part.substr(name.size() + 1));
      }
    }
    return "";
  }
  static std::uint64_t Number(const std::string& text) {
    return static_cast<std::uint64_t>(WholeNumber(text, INT64_MAX).value_or(0));
  }
  static std::string Inside(const std::string& name, const Stored& stored) {
    return R"("metadata":{"name":")" + name + R"(","namespace":"ns","uid":")" + stored.uid +
           R"(","resourceVersion":")" + std::to_string(stored.version) + R"("},"data":")" +
           stored.payload + "\"}";
  }
  static std::string Text(const std::string& name, const Stored& stored) {
    return R"({"kind":"Pod","apiVersion":"v1",)" + Inside(name, stored);
  }
  void Record(const std::string& type, const std::string& text) {
    history_.push_back({version_, R"({"type":")" + type + R"(","object":)" + text + '}'});
  }

  std::optional<Answer> Watch(std::string_view query) {
    Answer answer;
    answer.stream = true;
    answer.from = Number(Parameter(query, "resourceVersion"));
    if (Parameter(query, "sendInitialEvents") == "true") {
      for (const auto& [name, stored] : objects_) {
        answer.lines.push_back(R"({"type":"ADDED","object":)" + Text(name, stored) + '}');
      }
      answer.lines.push_back(Bookmark(true));
      answer.from = version_;
    } else if (HasForgotten(answer.from)) {
      answer.lines.push_back(ErrorLine(410));
      answer.from = UINT64_MAX;
    }
    return answer;
  }

  std::optional<Answer> List(std::string_view query) {
    const std::string token = Parameter(query, "continue");
    const auto limit = static_cast<std::size_t>(Number(Parameter(query, "limit")));
    Snapshot snapshot{version_, {}};
    std::size_t begin = 0;
    std::string id = std::to_string(next_snapshot_++);
    if (token.empty()) {
      for (const auto& [name, stored] : objects_) {
        snapshot.items.push_back('{' + Inside(name, stored));
      }
    } else {
      id = token.substr(0, token.find('.'));
      begin = static_cast<std::size_t>(Number(token.substr(token.find('.') + 1)));
      const auto found = snapshots_.find(id);
      if (found == snapshots_.end()) return std::nullopt;
      snapshot = found->second;
    }
    snapshots_[id] = snapshot;
    const std::size_t end =
        limit == 0 ? snapshot.items.size() : std::min(snapshot.items.size(), begin + limit);
    Answer answer;
    answer.body = R"({"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":")" +
                  std::to_string(snapshot.version) + '"';
    if (end < snapshot.items.size()) {
      answer.body += R"(,"continue":")" + id + '.' + std::to_string(end) + '"';
    }
    answer.body += R"(},"items":[)";
    for (std::size_t i = begin; i < end; ++i) {
      answer.body += (i == begin ? "" : ",") + snapshot.items[i];
    }
    answer.body += "]}";
    return answer;
  }

  std::map<std::string, Stored> objects_;
  std::vector<Event> history_;
  std::map<std::string, Snapshot> snapshots_;
  std::uint64_t version_ = 10;
  std::uint64_t next_snapshot_ = 0;
  std::uint64_t forgotten_ = 0;
};

// A consumer that believes only exact changes; a broken promise of Delta is in `complaints`.
struct StrictView {
  std::map<std::string, std::string> objects;
  std::map<std::string, std::pair<std::string, std::string>> identity;  // uid, version
  int synced = 0;
  int caught_up = 0;
  std::vector<std::string> complaints;

  void Apply(const Delta& delta) {
    const bool known = objects.contains(delta.key.name);
    const auto complain = [&](const std::string& what) {
      complaints.push_back(delta.key.name + ": " + what);
    };
    switch (delta.type) {
      case Delta::Type::kSynced:
        ++synced;
        return;
      case Delta::Type::kCaughtUp:
        ++caught_up;
        return;
      case Delta::Type::kAdded:
        if (known) complain("added, but there");
        break;
      case Delta::Type::kModified:
        if (!known) complain("modified, but not there");
        if (identity[delta.key.name].second == delta.version) complain("modified to the same");
        if (identity[delta.key.name].first != delta.uid) complain("modified to another uid");
        break;
      case Delta::Type::kDeleted:
        if (!known) complain("deleted, but not there");
        objects.erase(delta.key.name);
        return;
    }
    objects[delta.key.name] = delta.text;
    identity[delta.key.name] = {delta.uid, delta.version};
  }
};

}  // namespace strata::kube
