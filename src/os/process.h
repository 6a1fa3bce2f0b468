#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/result.h"

namespace strata::os {

struct ProcessCommand {
  std::vector<std::string> words;  // the program, found by PATH, and its arguments
  std::vector<std::pair<std::string, std::string>> environment;  // beside our own, or in its place
};

struct ProcessLimits {
  Duration time;
  std::size_t bytes;  // of standard output
};

struct ProcessOutput {
  enum class End : std::uint8_t { kExited, kTimedOut, kOutputLimit, kInterrupted };
  End end = End::kExited;
  int exit_code = 0;
  int signal = 0;  // what ended it; 0 when it ended by itself
  std::string out;
  std::string err;  // cut off after 64 KiB
};

// Ends programs that run, from another thread.
class Interrupt {
 public:
  Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;
  ~Interrupt();

  // For good: what is started later ends at once, too.
  void Fire() const;
  // Readable once fired.
  [[nodiscard]] int descriptor() const { return descriptor_; }

 private:
  int descriptor_;
};

// Runs a program without a shell, with standard input empty, in a process group of its own, of
// which nothing is left when this returns: it is killed when a limit is reached or at an interrupt,
// and so is what a program leaves behind when it ends. A program that has ended has said all it had
// to say: this does not wait for a daemon that it left in a session of its own, with the streams in
// its hands. kNotFound when it cannot be started. Blocks. `interrupt` may be null.
[[nodiscard]] Result<ProcessOutput> RunProcess(const ProcessCommand& command,
                                               ProcessLimits limits,
                                               const Interrupt* interrupt = nullptr);

}  // namespace strata::os
