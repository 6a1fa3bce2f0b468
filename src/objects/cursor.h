#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/quantity.h"
#include "model/labels.h"
#include "objects/meta.h"
#include "objects/value.h"

namespace strata::objects {

// What happened while one object was read. The first error wins; afterwards every read does
// nothing.
struct ReadLog {
  std::string error;  // "spec.weight: want ...", "" while all is well
  // Set for a pod that already has its node: it is there whatever rule it breaks, so only what
  // cannot be read at all is an error (Fail), and a broken rule (Refuse) is noted.
  bool lenient = false;
  std::vector<std::string> notes;  // one line each, as errors; only of a lenient object
};

struct IntRange {
  std::int64_t min = 0;
  std::int64_t max = 0;
};
inline constexpr IntRange kAnyInt32 = {INT32_MIN, INT32_MAX};
inline constexpr IntRange kCount32 = {0, INT32_MAX};

// A place in a document that is being read into types: the value there (if any), and the way to it
// for messages. null is the same as absent, as everywhere in Kubernetes.
//
// Cursors live on the stack; one made by At() or ForEach() must not outlive its parent (calling
// At() on a temporary does not compile). Reads leave `out` alone when nothing is there. Not
// thread-safe.
class Cursor {
 public:
  Cursor(Value root, ReadLog& log);

  // The member `key`; absent when there is none. Anything but an object is an error.
  [[nodiscard]] Cursor At(std::string_view key) const&;
  Cursor At(std::string_view key) const&& = delete;
  [[nodiscard]] bool present() const { return value_.has_value(); }
  [[nodiscard]] bool ok() const { return log_->error.empty(); }
  // REQUIRES: present().
  [[nodiscard]] const Value& value() const { return *value_; }

  void Read(std::string& out) const;
  void Read(bool& out) const;
  void Read(Quantity& out) const;  // a number is fine too; negative is refused
  void Read(Time& out) const;
  void Read(std::vector<std::string>& out) const;
  void Read(std::int32_t& out, IntRange range = kAnyInt32) const;
  void Read(std::int64_t& out, IntRange range) const;
  void Read(std::optional<std::int32_t>& out, IntRange range = kAnyInt32) const;
  // A Go duration ("1h30m", "500ms"), not negative.
  void Read(Duration& out) const;
  template <typename T>
  void Read(std::optional<T>& out) const {
    if (present() && ok()) Read(out.emplace());
  }
  // A map of strings, with the syntax of the keys and values left to the caller.
  void ReadStrings(Labels& out) const;

  // One of the words of `table`; the message lists them, all but "", which stands for none.
  template <typename Enum, std::size_t kSize>
  void ReadEnum(Enum& out,
                const std::array<std::pair<std::string_view, Enum>, kSize>& table) const {
    std::string word;
    Read(word);
    if (!present() || !ok()) return;
    for (const auto& [name, value] : table) {
      if (name == word) {
        out = value;
        return;
      }
    }
    std::vector<std::string_view> names;
    names.reserve(kSize);
    for (const auto& [name, value] : table) {
      if (!name.empty()) names.push_back(name);
    }
    UnknownWord(word, names);
  }

  // Calls `item` for each element of a list, in order, until an error.
  void ForEach(const std::function<void(const Cursor&)>& item) const;
  // Calls `member` for each member of an object, in document order, until an error; a key that is
  // there twice is one.
  void ForEachMember(const std::function<void(std::string_view, const Cursor&)>& member) const;
  // Reads a list into `out`, one default-made element each.
  template <typename T, typename ReadItem>
  void ReadList(std::vector<T>& out, ReadItem&& read_item) const {
    ForEach([&](const Cursor& item) { read_item(item, out.emplace_back()); });
  }
  // The same for a list of rules: of a lenient object one that breaks a rule itself is left out.
  template <typename T, typename ReadItem>
  void ReadRules(std::vector<T>& out, ReadItem&& read_item) const {
    ForEach([&](const Cursor& item) {
      const std::size_t noted = log_->notes.size();
      T rule;
      read_item(item, rule);
      if (log_->notes.size() == noted) out.push_back(std::move(rule));
    });
  }
  // Refused when nothing is there.
  const Cursor& Required() const;

  // Records "path: message" unless there is an error already.
  void Fail(std::string_view message) const;
  // The same of a value that can be read and breaks a rule; of a lenient object only a note, one
  // for each place. The caller goes on with what the object then counts as.
  void Refuse(std::string_view message) const;
  // Refuses: "unknown value "medium" (want hard or soft)", or "<what>medium (want ...)".
  void UnknownWord(std::string_view word,
                   const std::vector<std::string_view>& known,
                   std::string_view what = {}) const;

  // "spec.tasks[0].name"; "" at the root.
  [[nodiscard]] std::string Path() const;

 private:
  static constexpr std::size_t kNoIndex = static_cast<std::size_t>(-1);

  Cursor(const Cursor& parent, std::string_view key, std::size_t index, std::optional<Value> value);
  // False, with an error, unless the value is of that type.
  [[nodiscard]] bool Expect(Value::Type type, std::string_view wanted) const;
  // The integer here; none when nothing is, or it is not one of `range`.
  [[nodiscard]] std::optional<std::int64_t> Whole(IntRange range) const;
  // "path: message", on one line.
  [[nodiscard]] std::string Line(std::string_view message) const;

  ReadLog* log_;
  const Cursor* parent_;
  std::string_view key_;
  std::size_t index_;
  std::optional<Value> value_;
};

}  // namespace strata::objects
