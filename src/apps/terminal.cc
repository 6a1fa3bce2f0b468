#include "apps/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <iostream>
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
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col >= 40) {
    style.width = size.ws_col;
    style.fit = true;
  }
  return style;
}

std::string NextFrame(std::string_view text) {
  if (isatty(STDOUT_FILENO) == 0) return FrameText(text, std::nullopt);
  winsize size{};
  const bool known = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 1;
  return FrameText(text, known ? size.ws_row : std::numeric_limits<int>::max());
}

std::string FrameText(std::string_view text, std::optional<int> rows) {
  if (!rows) return std::string(text) + "\n";
  int room = *rows - 1;  // the cursor is on the last row
  // Home, then line by line over the old ones: clearing all of it first would flicker.
  std::string frame = "\x1b[H";
  while (!text.empty() && room-- > 0) {
    const std::size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
    frame += fmt::format("{}\x1b[K\n", text.substr(0, end - 1));
    text.remove_prefix(end);
  }
  return frame + "\x1b[J";
}

std::istream* StandardInputTerminal() {
  return isatty(STDIN_FILENO) == 0 ? nullptr : &std::cin;
}

Result<bool> Confirm(const std::string& question, std::istream* terminal) {
  if (terminal == nullptr) {
    return Fail(
        Code::kInvalidArgument,
        fmt::format("cannot ask \"{}\": standard input is not a terminal (use --yes)", question));
  }
  fmt::print(stderr, "{} [y/N] ", question);
  std::string answer;
  std::getline(*terminal, answer);
  return answer == "y" || answer == "Y" || answer == "yes";
}

Progress::Progress() {
  if (isatty(STDERR_FILENO) != 0) thread_ = std::thread([this] { Loop(); });
}

Progress::~Progress() {
  Finish();
}

void Progress::Stage(std::string what) {
  const MutexLock lock(mutex_);
  stage_ = std::move(what);
}

void Progress::Finish() {
  if (!thread_.joinable()) return;
  {
    const MutexLock lock(mutex_);
    done_ = true;
  }
  changed_.NotifyAll();
  thread_.join();
  if (shown_) fmt::print(stderr, "\r\x1b[K");
}

void Progress::Loop() {
  const MutexLock lock(mutex_);
  for (int seconds = 1;; ++seconds) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(1);
    while (!done_ && changed_.WaitUntil(mutex_, end)) {
    }
    if (done_) return;
    fmt::print(stderr, "\r\x1b[K{} ... {} s", stage_, seconds);
    std::fflush(stderr);
    shown_ = true;
  }
}

}  // namespace strata
