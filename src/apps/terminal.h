#pragma once

#include <condition_variable>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "simulate/text.h"

namespace strata {

// How to write for people on standard output: colours only on a terminal and without NO_COLOR.
[[nodiscard]] TextStyle StandardOutputStyle();

// What to write so that standard output shows `text` next: on a terminal in place of what is there,
// as much as it has room for; elsewhere below it, after an empty line.
[[nodiscard]] std::string NextFrame(std::string_view text);

// A line on standard error that says what takes so long: from one second on, once a second, and
// only when standard error is a terminal. Gone without a trace when this object is.
class Progress {
 public:
  Progress();
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void Stage(std::string what);  // "reading manifests"
  // Ends the line, so that something else can be written.
  void Finish();

 private:
  void Loop();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::string stage_;
  bool done_ = false;
  bool shown_ = false;
  std::thread thread_;  // not started unless there is a terminal
};

}  // namespace strata
