#include "apps/exec_program.h"

#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/format.h>

namespace strata {
namespace {

constexpr int kPatienceMs = 60'000;
constexpr int kLastWordsMs = 1000;
constexpr std::size_t kMaxLine = std::size_t{16} << 20U;

}  // namespace

Result<std::unique_ptr<ExecProgram>> ExecProgram::Start(const std::string& program) {
  std::array<int, 2> ends{};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    return Fail(Code::kUnavailable,
                fmt::format("socketpair: {}", std::generic_category().message(errno)));
  }
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  std::string name = program;
  std::array<char*, 2> words = {name.data(), nullptr};
  pid_t child = -1;
  const int error = posix_spawnp(&child, program.c_str(), &actions, nullptr, words.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  if (error != 0) {
    close(ends[0]);
    return Fail(Code::kNotFound,
                fmt::format("exec:{}: {}", program, std::generic_category().message(error)));
  }
  return std::unique_ptr<ExecProgram>(new ExecProgram(program, ends[0], child));
}

ExecProgram::~ExecProgram() {
  shutdown(socket_, SHUT_WR);
  // It ends, and with it its end of the socket; or not, and is killed.
  pollfd waits{.fd = socket_, .events = POLLIN, .revents = 0};
  std::array<char, 4096> rest{};
  while (poll(&waits, 1, kLastWordsMs) > 0 && read(socket_, rest.data(), rest.size()) > 0) {
  }
  kill(child_, SIGKILL);
  waitpid(child_, nullptr, 0);
  close(socket_);
}

tl::unexpected<Error> ExecProgram::Problem(const std::string& what) const {
  return Fail(Code::kUnavailable, fmt::format("exec:{}: {}", name_, what));
}

Status ExecProgram::Say(const std::string& line) {
  const std::string text = line + "\n";
  std::string_view left = text;
  while (!left.empty()) {
    const ssize_t sent = send(socket_, left.data(), left.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return Problem("the program has ended");
    left.remove_prefix(static_cast<std::size_t>(sent));
  }
  return {};
}

Result<std::string> ExecProgram::Hear() {
  while (true) {
    const std::size_t end = heard_.find('\n');
    if (end != std::string::npos) {
      std::string line = heard_.substr(0, end);
      heard_.erase(0, end + 1);
      return line;
    }
    if (heard_.size() > kMaxLine) return Problem("a line of more than 16 MiB");
    pollfd waits{.fd = socket_, .events = POLLIN, .revents = 0};
    const int ready = poll(&waits, 1, kPatienceMs);
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) return Problem("no answer within 60 seconds");
    std::array<char, 65536> piece{};
    const ssize_t got = read(socket_, piece.data(), piece.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return Problem("the program has ended");
    heard_.append(piece.data(), static_cast<std::size_t>(got));
  }
}

}  // namespace strata
