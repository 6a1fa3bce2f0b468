#include "apps/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <utility>

#include <fmt/format.h>

namespace strata {
namespace {

bool IsSet(const char* variable) {
  // Called before any thread could change the environment.
  const char* value = std::getenv(variable);  // NOLINT(concurrency-mt-unsafe)
  return value != nullptr && *value != '\0';
}

}  // namespace

TextStyle StandardOutputStyle() {
  TextStyle style;
  if (isatty(STDOUT_FILENO) == 0) return style;
  style.colour = !IsSet("NO_COLOR");
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col >= 40) style.width = size.ws_col;
  return style;
}

std::string NextFrame(std::string_view text) {
  if (isatty(STDOUT_FILENO) == 0) return std::string(text) + "\n";
  winsize size{};
  const bool known = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 1;
  int room = known ? size.ws_row - 1 : std::numeric_limits<int>::max();
  // Home, then line by line over the old ones: clearing all of it first would flicker.
  std::string frame = "\x1b[H";
  while (!text.empty() && room-- > 0) {
    const std::size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
    frame += fmt::format("{}\x1b[K\n", text.substr(0, end - 1));
    text.remove_prefix(end);
  }
  return frame + "\x1b[J";
}

Progress::Progress() {
  if (isatty(STDERR_FILENO) != 0) thread_ = std::thread([this] { Loop(); });
}

Progress::~Progress() {
  Finish();
}

void Progress::Stage(std::string what) {
  const std::lock_guard lock(mutex_);
  stage_ = std::move(what);
}

void Progress::Finish() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    done_ = true;
  }
  changed_.notify_all();
  thread_.join();
  if (shown_) fmt::print(stderr, "\r\x1b[K");
}

void Progress::Loop() {
  std::unique_lock lock(mutex_);
  for (int seconds = 1;; ++seconds) {
    if (changed_.wait_for(lock, std::chrono::seconds(1), [this] { return done_; })) return;
    fmt::print(stderr, "\r\x1b[K{} ... {} s", stage_, seconds);
    std::fflush(stderr);
    shown_ = true;
  }
}

}  // namespace strata
