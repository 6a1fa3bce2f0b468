#include "discovery/command_answer.h"

#include <algorithm>
#include <cstddef>
#include <cstring>

#include <fmt/format.h>

namespace strata::discovery {
namespace {

constexpr std::size_t kMaxLine = 200;

std::string FirstLine(const std::string& text) {
  const std::size_t begin = std::min(text.find_first_not_of(" \t\r\n"), text.size());
  const std::size_t end = std::min(text.find_first_of("\r\n", begin), text.size());
  return text.substr(begin, std::min(end - begin, kMaxLine));
}

std::string HowItEnded(const CommandOutput& run) {
  if (run.signal == 0) return fmt::format("exit status {}", run.exit_code);
  const char* description = sigdescr_np(run.signal);
  if (description == nullptr) return fmt::format("ended by signal {}", run.signal);
  return fmt::format("ended by signal {} ({})", run.signal, description);
}

}  // namespace

Status CheckExit(const std::string& program, const CommandOutput& run) {
  if (run.exit_code == 0 && run.signal == 0) return {};
  const std::string line = FirstLine(run.err);
  return Fail(Code::kUnavailable,
              fmt::format("{}: {}{}{}", program, HowItEnded(run), line.empty() ? "" : ": ", line));
}

}  // namespace strata::discovery
