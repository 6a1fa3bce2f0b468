#pragma once

#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include "base/mutex.h"
#include "base/result.h"
#include "report/text.h"

namespace strata {

// The style of text on standard output: colours only on a terminal, and not with NO_COLOR.
[[nodiscard]] TextStyle StandardOutputStyle();

// What to write so that a terminal of `rows` rows shows `text` instead of what it shows, as many
// lines as it has room for. Without a terminal (none) it is `text` and an empty line. Pure.
[[nodiscard]] std::string FrameText(std::string_view text, std::optional<int> rows);

// FrameText for standard output as it is now.
[[nodiscard]] std::string NextFrame(std::string_view text);

// Standard input if a person can answer there, else null.
[[nodiscard]] std::istream* StandardInputTerminal();

// Prints `question` on standard error and reads one line from `terminal`: whether it is "y", "Y" or
// "yes". An error that names --yes if `terminal` is null.
[[nodiscard]] Result<bool> Confirm(const std::string& question, std::istream* terminal);

// A line on standard error that says what a long command is doing: once a second, from one second
// on, and only when standard error is a terminal. The line is erased when this object is destroyed.
class Progress {
 public:
  Progress();
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void Stage(std::string what);  // "reading manifests"
  // Erases the line, so that something else can be written.
  void Finish();

 private:
  void Loop();

  Mutex mutex_;
  CondVar changed_;
  std::string stage_ GUARDED_BY(mutex_);
  bool done_ GUARDED_BY(mutex_) = false;
  bool shown_ = false;  // the thread's; read when it has ended
  std::thread thread_;  // not started unless there is a terminal
};

}  // namespace strata
