#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"

// What the device plugin has answered: which GPUs each container has. Values; journal_file.h keeps
// them on disk.
namespace strata::agent {

struct JournalEntry {
  std::string uid;  // of the pod
  std::string ns;
  std::string pod;
  std::string container;
  std::vector<std::string> uuids;  // what the container sees
  std::vector<std::string> ids;    // what the kubelet asked for
  Time served{};

  [[nodiscard]] std::string FullName() const { return ns + "/" + pod; }
  bool operator==(const JournalEntry&) const = default;
};

class Journal {
 public:
  using Key = std::pair<std::string, std::string>;  // pod uid, container

  // nullptr when the container has not been served.
  [[nodiscard]] const JournalEntry* Find(const std::string& uid,
                                         const std::string& container) const;
  // Replaces the previous entry of that container.
  void Put(JournalEntry entry);
  // Drops the entries of all other pods; returns how many.
  std::size_t KeepOnly(const std::set<std::string>& uids);
  [[nodiscard]] const std::map<Key, JournalEntry>& entries() const { return entries_; }
  bool operator==(const Journal&) const = default;

 private:
  std::map<Key, JournalEntry> entries_;
};

// One JSON object and a line end.
[[nodiscard]] std::string FormatEntry(const JournalEntry& entry);
[[nodiscard]] std::string FormatJournal(const Journal& journal);

struct ReadJournal {
  Journal journal;
  std::size_t good_bytes = 0;  // up to the last line end: what follows was torn by a crash
  std::size_t bad_lines = 0;   // complete lines that are not entries
};
// Never fails, whatever the text. The last line counts only with its line end.
[[nodiscard]] ReadJournal ParseJournal(std::string_view text);

}  // namespace strata::agent
