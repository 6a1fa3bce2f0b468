#pragma once

#include <cstdint>
#include <string_view>

#include "base/mutex.h"

namespace strata::obs {

// Lines to a file descriptor whose reader may stop reading, such as a pipe. A line waits for the
// reader for a second at most. Then it is dropped, as are those after it until the reader goes on;
// the next line that can be written tells how many. Lines of threads do not mix. Thread-safe.
class LineOutput {
 public:
  explicit LineOutput(int descriptor) : descriptor_(descriptor) {}

  // `line` has no line end.
  void Write(std::string_view line);

 private:
  // False: the reader does not read.
  [[nodiscard]] bool WriteText(std::string_view text) REQUIRES(mutex_);

  const int descriptor_;
  Mutex mutex_;
  std::uint64_t dropped_ GUARDED_BY(mutex_) = 0;  // lines, since the last that was written
  bool is_cut_ GUARDED_BY(mutex_) = false;        // what was written last has no line end
};

}  // namespace strata::obs
