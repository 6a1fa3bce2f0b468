#include "obs/line_output.h"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <string>

#include <fmt/format.h>

namespace strata::obs {
namespace {

constexpr int kPatienceMs = 1000;

}  // namespace

void LineOutput::Write(std::string_view line) {
  const MutexLock lock(mutex_);
  std::string text;
  if (is_cut_) text += '\n';
  if (dropped_ > 0) {
    const char* lines = dropped_ == 1 ? "line" : "lines";
    text += fmt::format("{} {} dropped: standard error was blocked\n", dropped_, lines);
  }
  text += line;
  text += '\n';
  if (WriteText(text)) {
    dropped_ = 0;
  } else {
    ++dropped_;
  }
}

// A pipe that poll calls writable has room for PIPE_BUF bytes: so many do not block.
bool LineOutput::WriteText(std::string_view text) {
  while (!text.empty()) {
    pollfd ready{.fd = descriptor_, .events = POLLOUT, .revents = 0};
    const int found = ::poll(&ready, 1, dropped_ == 0 ? kPatienceMs : 0);
    if (found < 0 && errno == EINTR) continue;
    if (found <= 0) return false;
    const std::string_view piece = text.substr(0, PIPE_BUF);
    const ssize_t written = ::write(descriptor_, piece.data(), piece.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0 && errno == EAGAIN) return false;
    if (written <= 0) return true;  // nobody can be told when standard error itself fails
    text.remove_prefix(static_cast<std::size_t>(written));
    is_cut_ = piece[static_cast<std::size_t>(written) - 1] != '\n';
  }
  return true;
}

}  // namespace strata::obs
