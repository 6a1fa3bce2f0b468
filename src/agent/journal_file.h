#pragma once

#include <memory>
#include <string>

#include "agent/journal.h"
#include "base/result.h"

namespace strata::agent {

// The journal on disk. What was appended is there after a crash or a power loss. Only one process
// has the file at a time (a lock on "<path>.lock", which the system releases when the process
// ends). Not thread-safe.
class JournalFile {
 public:
  // Creates the file (mode 0600) where it is missing; its folder must be there. Cuts off a last
  // line that a crash tore. kConflict when another process has it.
  [[nodiscard]] static Result<std::unique_ptr<JournalFile>> Open(const std::string& path);
  JournalFile(const JournalFile&) = delete;
  JournalFile& operator=(const JournalFile&) = delete;
  ~JournalFile();

  [[nodiscard]] const Journal& journal() const { return journal_; }
  // The file was missing, or had lines that could not be read: podresources knows what is lost.
  // Stays so, in the next process, too, until MarkComplete.
  [[nodiscard]] bool incomplete() const { return incomplete_; }
  void MarkComplete();

  // On disk when it returns a value; else the journal is as it was.
  [[nodiscard]] Status Append(const JournalEntry& entry);
  // Writes the whole journal anew, into a file that takes the place of the old one.
  [[nodiscard]] Status Replace(Journal journal);

 private:
  JournalFile(std::string path, int lock) : path_(std::move(path)), lock_(lock) {}
  Status Load();
  Status OpenForAppend();
  [[nodiscard]] std::string MarkerPath() const { return path_ + ".incomplete"; }

  const std::string path_;
  int lock_ = -1;
  int file_ = -1;
  Journal journal_;
  bool incomplete_ = false;
};

}  // namespace strata::agent
