#include "objects/cursor.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/timestamp.h"
#include "objects/text_check.h"

namespace strata::objects {
namespace {

std::optional<Value> NonNull(std::optional<Value> value) {
  if (value && value->type() == Value::Type::kNull) return std::nullopt;
  return value;
}

bool IsPlainKey(std::string_view key) {
  return !key.empty() && std::all_of(key.begin(), key.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_';
  });
}

// Keys come from the input, and an error is one line.
std::string Printable(std::string_view key) {
  std::string shown(key.substr(0, 100));
  for (char& c : shown) {
    if (static_cast<unsigned char>(c) < 0x20) c = ' ';
  }
  return shown;
}

// "a, b or c".
std::string Alternatives(const std::vector<std::string_view>& words) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0) text += i + 1 == words.size() ? " or " : ", ";
    text += words[i];
  }
  return text;
}

// An integer that is written as one, or as a number without a fraction ("3.0").
std::optional<std::int64_t> AsWhole(const Value& value) {
  if (value.type() == Value::Type::kInteger) return value.AsInteger();
  if (value.type() != Value::Type::kNumber) return std::nullopt;
  const double number = value.AsNumber();
  if (number != std::floor(number) || std::fabs(number) > 1e15) return std::nullopt;
  return static_cast<std::int64_t>(number);
}

std::optional<std::string_view> FirstDuplicate(const std::vector<Value::Member>& members) {
  std::vector<std::string_view> keys;
  keys.reserve(members.size());
  for (const Value::Member& member : members) keys.push_back(member.key);
  std::sort(keys.begin(), keys.end());
  const auto twice = std::adjacent_find(keys.begin(), keys.end());
  return twice == keys.end() ? std::nullopt : std::optional(*twice);
}

// "1h30m", "1.5s": a sum of numbers with a unit each.
std::optional<Duration> ParseDuration(std::string_view text) {
  constexpr std::array<std::pair<std::string_view, double>, 8> kUnits = {{{"ns", 1e-6},
                                                                          {"us", 1e-3},
                                                                          {"µs", 1e-3},
                                                                          {"μs", 1e-3},
                                                                          {"ms", 1},
                                                                          {"s", 1e3},
                                                                          {"m", 6e4},
                                                                          {"h", 3.6e6}}};
  if (text == "0") return Duration(0);
  double millis = 0;
  if (text.empty()) return std::nullopt;
  while (!text.empty()) {
    const std::size_t length = std::min(text.find_first_not_of("0123456789."), text.size());
    const std::string digits(text.substr(0, length));
    if (digits.empty() || digits.size() > 15 || std::count(digits.begin(), digits.end(), '.') > 1 ||
        digits == ".") {
      return std::nullopt;
    }
    text.remove_prefix(length);
    const auto unit = std::find_if(kUnits.begin(), kUnits.end(), [&](const auto& entry) {
      if (!text.starts_with(entry.first)) return false;
      const std::size_t next = entry.first.size();
      return next == text.size() || text[next] == '.' || (text[next] >= '0' && text[next] <= '9');
    });
    if (unit == kUnits.end()) return std::nullopt;
    text.remove_prefix(unit->first.size());
    millis += std::stod(digits) * unit->second;
  }
  return millis < 9e15 ? std::optional(Duration(static_cast<std::int64_t>(millis))) : std::nullopt;
}

}  // namespace

Cursor::Cursor(Value root, ReadLog& log)
    : log_(&log), parent_(nullptr), index_(kNoIndex), value_(root) {}

Cursor::Cursor(const Cursor& parent,
               std::string_view key,
               std::size_t index,
               std::optional<Value> value)
    : log_(parent.log_), parent_(&parent), key_(key), index_(index), value_(value) {}

Cursor Cursor::At(std::string_view key) const& {
  if (!present() || !ok() || !Expect(Value::Type::kObject, "an object")) {
    return {*this, key, kNoIndex, std::nullopt};
  }
  return {*this, key, kNoIndex, NonNull(value_->Find(key))};
}

bool Cursor::Expect(Value::Type type, std::string_view wanted) const {
  if (value_->type() == type) return true;
  std::string message = fmt::format("found {}, want {}", value_->Describe(), wanted);
  const bool bare = value_->type() == Value::Type::kBool ||
                    value_->type() == Value::Type::kInteger ||
                    value_->type() == Value::Type::kNumber;
  if (type == Value::Type::kString && bare) message += " (put it in quotes)";
  Fail(message);
  return false;
}

void Cursor::Read(std::string& out) const {
  if (!present() || !ok() || !Expect(Value::Type::kString, "a string")) return;
  out = value_->AsString();
}

void Cursor::Read(bool& out) const {
  if (!present() || !ok() || !Expect(Value::Type::kBool, "true or false")) return;
  out = value_->AsBool();
}

void Cursor::Read(Quantity& out) const {
  if (!present() || !ok()) return;
  const Value::Type type = value_->type();
  const bool number = type == Value::Type::kInteger || type == Value::Type::kNumber;
  if (!number && !Expect(Value::Type::kString, "a quantity")) return;
  const Result<Quantity> parsed =
      Quantity::Parse(number ? value_->NumberText() : std::string(value_->AsString()));
  if (!parsed) return Fail(parsed.error().message);
  if (parsed->IsNegative()) {
    return Refuse(
        fmt::format("found {}, want a quantity that is not negative", value_->Describe()));
  }
  out = *parsed;
}

void Cursor::Read(Time& out) const {
  if (!present() || !ok() || !Expect(Value::Type::kString, "a time")) return;
  const Result<Time> parsed = ParseTimestamp(value_->AsString());
  if (!parsed) return Fail(parsed.error().message);
  out = *parsed;
}

void Cursor::Read(Duration& out) const {
  if (!present() || !ok() || !Expect(Value::Type::kString, "a duration")) return;
  const std::optional<Duration> parsed = ParseDuration(value_->AsString());
  if (!parsed) {
    return Fail(
        fmt::format("bad duration \"{}\" (want 90s, 5m or 1h30m)", Printable(value_->AsString())));
  }
  out = *parsed;
}

void Cursor::Read(std::vector<std::string>& out) const {
  ReadList(out, [](const Cursor& item, std::string& text) { item.Read(text); });
}

std::optional<std::int64_t> Cursor::Whole(IntRange range) const {
  if (!present() || !ok()) return std::nullopt;
  const std::optional<std::int64_t> whole = AsWhole(*value_);
  if (whole && *whole >= range.min && *whole <= range.max) return whole;
  const bool low_only = range.max == INT32_MAX || range.max == INT64_MAX;
  const std::string wanted = range.min == INT32_MIN || range.min == INT64_MIN ? "a 32-bit integer"
                             : low_only && whole && *whole < range.min
                                 ? fmt::format("an integer of at least {}", range.min)
                                 : fmt::format("an integer from {} to {}", range.min, range.max);
  const std::string message = fmt::format("found {}, want {}", value_->Describe(), wanted);
  whole ? Refuse(message) : Fail(message);
  return std::nullopt;
}

void Cursor::Read(std::int64_t& out, IntRange range) const {
  if (const auto whole = Whole(range)) out = *whole;
}

void Cursor::Read(std::int32_t& out, IntRange range) const {
  if (const auto whole = Whole(range)) out = static_cast<std::int32_t>(*whole);
}

void Cursor::Read(std::optional<std::int32_t>& out, IntRange range) const {
  if (const auto whole = Whole(range)) out = static_cast<std::int32_t>(*whole);
}

void Cursor::ReadStrings(Labels& out) const {
  ForEachMember([&](std::string_view key, const Cursor& member) {
    // A null value is an absent one; Kubernetes stores the empty string.
    member.Read(out[std::string(key)]);
  });
}

void Cursor::ForEach(const std::function<void(const Cursor&)>& item) const {
  if (!present() || !ok() || !Expect(Value::Type::kArray, "a list")) return;
  std::size_t index = 0;
  for (const Value& element : value_->Items()) {
    const Cursor child(*this, "", index++, NonNull(element));
    if (!child.present()) child.Fail("is required");
    if (ok()) item(child);
    if (!ok()) return;
  }
}

void Cursor::ForEachMember(
    const std::function<void(std::string_view, const Cursor&)>& member) const {
  if (!present() || !ok() || !Expect(Value::Type::kObject, "an object")) return;
  const std::vector<Value::Member> members = value_->Members();
  if (const std::optional<std::string_view> twice = FirstDuplicate(members)) {
    return Cursor(*this, *twice, kNoIndex, std::nullopt).Fail("duplicate key");
  }
  for (const Value::Member& entry : members) {
    const Cursor child(*this, entry.key, kNoIndex, NonNull(entry.value));
    member(entry.key, child);
    if (!ok()) return;
  }
}

const Cursor& Cursor::Required() const {
  if (!present()) Refuse("is required");
  return *this;
}

void Cursor::Fail(std::string_view message) const {
  if (ok()) log_->error = Line(message);
}

void Cursor::Refuse(std::string_view message) const {
  if (!log_->lenient) return Fail(message);
  std::vector<std::string>& notes = log_->notes;
  if (!ok() || (!notes.empty() && notes.back().starts_with(Line("")))) return;
  notes.push_back(Line(message));
}

void Cursor::UnknownWord(std::string_view word,
                         const std::vector<std::string_view>& known,
                         std::string_view what) const {
  Refuse(what.empty()
             ? fmt::format("unknown value \"{}\" (want {})", Printable(word), Alternatives(known))
             : fmt::format("{}{} (want {})", what, Printable(word), Alternatives(known)));
}

std::string Cursor::Line(std::string_view message) const {
  const std::string path = Path();
  return OneLine(path.empty() ? std::string(message) : fmt::format("{}: {}", path, message));
}

std::string Cursor::Path() const {
  std::vector<const Cursor*> way;
  for (const Cursor* at = this; at->parent_ != nullptr; at = at->parent_) way.push_back(at);
  std::string path;
  for (auto at = way.rbegin(); at != way.rend(); ++at) {
    const Cursor& step = **at;
    if (step.index_ != kNoIndex) {
      path += fmt::format("[{}]", step.index_);
    } else if (!IsPlainKey(step.key_)) {
      path += fmt::format("[{}]", Printable(step.key_));
    } else {
      if (!path.empty()) path += '.';
      path += step.key_;
    }
  }
  return path;
}

}  // namespace strata::objects
