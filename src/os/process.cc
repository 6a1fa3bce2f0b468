#include "os/process.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/format.h>

namespace strata::os {
namespace {

constexpr std::size_t kMaxErr = std::size_t{64} << 10U;

class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~Descriptor() { Close(); }

  [[nodiscard]] int get() const { return number_; }
  void Close() {
    if (number_ >= 0) close(std::exchange(number_, -1));
  }

 private:
  int number_ = -1;
};

struct Pipe {
  Descriptor read;
  Descriptor write;
};

Result<Pipe> MakePipe() {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) {
    return Fail(Code::kUnavailable, "pipe: " + std::generic_category().message(errno));
  }
  return Pipe{Descriptor(ends[0]), Descriptor(ends[1])};
}

// A program that runs; ended with its group and reaped when this goes.
class Child {
 public:
  explicit Child(pid_t pid) : pid_(pid) {}
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() {
    if (pid_ <= 0) return;
    kill(-pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }

  // Notes how it ended, and ends what it left behind; false while it still runs.
  [[nodiscard]] bool TryReap(ProcessOutput& output) {
    siginfo_t info{};
    const auto id = static_cast<id_t>(pid_);
    if (waitid(P_PID, id, &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid != pid_) {
      return false;
    }
    output.exit_code = info.si_code == CLD_EXITED ? info.si_status : 0;
    output.signal = info.si_code == CLD_EXITED ? 0 : info.si_status;
    // As long as it is not reaped, its number names no other group.
    kill(-pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
    pid_ = 0;
    return true;
  }

 private:
  pid_t pid_;
};

// Our own variables, and those of the command in place of ours of the same name.
std::vector<std::string> EnvironmentOf(const ProcessCommand& command) {
  std::vector<std::string> variables;
  for (char** at = environ; *at != nullptr; ++at) {
    const std::string_view line = *at;
    const std::string_view name = line.substr(0, line.find('='));
    const bool replaced = std::any_of(
        command.environment.begin(), command.environment.end(), [name](const auto& variable) {
          return variable.first == name;
        });
    if (!replaced) variables.emplace_back(line);
  }
  for (const auto& [name, value] : command.environment) {
    variables.push_back(fmt::format("{}={}", name, value));
  }
  return variables;
}

// As exec wants them; valid as long as `words`.
std::vector<char*> PointersTo(const std::vector<std::string>& words) {
  std::vector<char*> pointers;
  pointers.reserve(words.size() + 1);
  for (const std::string& word : words) pointers.push_back(const_cast<char*>(word.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

Result<pid_t> Spawn(const ProcessCommand& command, const Pipe& out, const Pipe& err) {
  const std::vector<char*> argv = PointersTo(command.words);
  const std::vector<std::string> variables = EnvironmentOf(command);
  const std::vector<char*> environment = PointersTo(variables);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, out.write.get(), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, err.write.get(), STDERR_FILENO);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  posix_spawnattr_setpgroup(&attributes, 0);
  pid_t pid = 0;
  const int failed =
      posix_spawnp(&pid, argv.front(), &actions, &attributes, argv.data(), environment.data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (failed == 0) return pid;
  return Fail(
      Code::kNotFound,
      fmt::format(
          "{}: cannot be run: {}", command.words.front(), std::generic_category().message(failed)));
}

// Reads what is there. False at the end of the stream.
bool ReadSome(Descriptor& from, std::string& into) {
  std::array<char, 1U << 16U> buffer{};
  const ssize_t count = read(from.get(), buffer.data(), buffer.size());
  if (count < 0 && (errno == EINTR || errno == EAGAIN)) return true;
  if (count <= 0) {
    from.Close();
    return false;
  }
  into.append(buffer.data(), static_cast<std::size_t>(count));
  return true;
}

}  // namespace

Result<ProcessOutput> RunProcess(const ProcessCommand& command, ProcessLimits limits) {
  using std::chrono::steady_clock;
  const steady_clock::time_point deadline = steady_clock::now() + limits.time;
  TRY_ASSIGN(Pipe out, MakePipe());
  TRY_ASSIGN(Pipe err, MakePipe());
  TRY_ASSIGN(const pid_t pid, Spawn(command, out, err));
  Child child(pid);
  out.write.Close();
  err.write.Close();
  ProcessOutput output;
  while (true) {
    std::array<pollfd, 2> ends = {pollfd{out.read.get(), POLLIN, 0},
                                  pollfd{err.read.get(), POLLIN, 0}};
    const bool open = ends[0].fd >= 0 || ends[1].fd >= 0;
    if (!open && child.TryReap(output)) return output;
    const auto left = std::chrono::ceil<Duration>(deadline - steady_clock::now()).count();
    if (left <= 0) {
      output.end = ProcessOutput::End::kTookTooLong;
      return output;
    }
    // A program may close its streams and go on: ask for its end now and then.
    const int wait = static_cast<int>(std::min<decltype(left)>(left, open ? 60'000 : 10));
    if (poll(ends.data(), ends.size(), wait) <= 0) continue;
    if ((ends[0].revents & (POLLIN | POLLHUP)) != 0) {
      ReadSome(out.read, output.out);
      if (output.out.size() > limits.bytes) {
        output.end = ProcessOutput::End::kSaidTooMuch;
        return output;
      }
    }
    if ((ends[1].revents & (POLLIN | POLLHUP)) != 0) {
      ReadSome(err.read, output.err);
      output.err.resize(std::min(output.err.size(), kMaxErr));
    }
  }
}

}  // namespace strata::os
