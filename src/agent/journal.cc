#include "agent/journal.h"

#include <optional>

#include <nlohmann/json.hpp>

#include "json/access.h"
#include "json/dump.h"
#include "json/parse.h"

namespace strata::agent {
namespace {

std::vector<std::string> TextsAt(const nlohmann::json& object, std::string_view key) {
  std::vector<std::string> texts;
  for (const nlohmann::json& item : ListAt(object, {key})) {
    if (item.is_string()) texts.push_back(item.get<std::string>());
  }
  return texts;
}

std::optional<JournalEntry> ParseEntry(std::string_view line) {
  const nlohmann::json value = ParseJsonOrNull(line);
  JournalEntry entry{.uid = TextAt(value, {"uid"}),
                     .ns = TextAt(value, {"namespace"}),
                     .pod = TextAt(value, {"pod"}),
                     .container = TextAt(value, {"container"}),
                     .uuids = TextsAt(value, "uuids"),
                     .ids = TextsAt(value, "ids"),
                     .served = Time(Duration(IntegerAt(value, {"served"})))};
  if (entry.uid.empty() || entry.container.empty()) return std::nullopt;
  return entry;
}

}  // namespace

const JournalEntry* Journal::Find(const std::string& uid, const std::string& container) const {
  const auto found = entries_.find(Key(uid, container));
  return found == entries_.end() ? nullptr : &found->second;
}

void Journal::Put(JournalEntry entry) {
  Key key(entry.uid, entry.container);
  entries_.insert_or_assign(std::move(key), std::move(entry));
}

std::size_t Journal::KeepOnly(const std::set<std::string>& uids) {
  return std::erase_if(entries_,
                       [&](const auto& item) { return !uids.contains(item.first.first); });
}

std::string FormatEntry(const JournalEntry& entry) {
  const nlohmann::ordered_json value = {{"uid", entry.uid},
                                        {"namespace", entry.ns},
                                        {"pod", entry.pod},
                                        {"container", entry.container},
                                        {"uuids", entry.uuids},
                                        {"ids", entry.ids},
                                        {"served", entry.served.time_since_epoch().count()}};
  return DumpJson(value) + "\n";
}

std::string FormatJournal(const Journal& journal) {
  std::string text;
  for (const auto& [key, entry] : journal.entries()) text += FormatEntry(entry);
  return text;
}

ReadJournal ParseJournal(std::string_view text) {
  ReadJournal read;
  for (;;) {
    const std::size_t end = text.find('\n', read.good_bytes);
    if (end == std::string_view::npos) return read;
    const std::string_view line = text.substr(read.good_bytes, end - read.good_bytes);
    if (auto entry = ParseEntry(line)) {
      read.journal.Put(std::move(*entry));
    } else {
      ++read.bad_lines;
    }
    read.good_bytes = end + 1;
  }
}

}  // namespace strata::agent
