#include "os/process.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
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

  // A descriptor that can be read once it has ended; -1 where the system has none.
  [[nodiscard]] int OpenEnd() const { return static_cast<int>(syscall(SYS_pidfd_open, pid_, 0)); }

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

enum class Heard : std::uint8_t { kBytes, kNothing, kEnd };

// Takes what is there, without waiting.
Heard ReadSome(Descriptor& from, std::string& into) {
  std::array<char, 1U << 16U> buffer{};
  if (from.get() < 0) return Heard::kEnd;
  const ssize_t count = read(from.get(), buffer.data(), buffer.size());
  if (count < 0 && (errno == EINTR || errno == EAGAIN)) return Heard::kNothing;
  if (count <= 0) {
    from.Close();
    return Heard::kEnd;
  }
  into.append(buffer.data(), static_cast<std::size_t>(count));
  return Heard::kBytes;
}

// What is still in a pipe, of which a daemon may hold the other end: no more than fits into it.
void ReadRest(Descriptor& from, std::string& into) {
  constexpr int kMaxReads = 16;  // of 64 KiB: the most that a pipe holds
  for (int i = 0; i < kMaxReads && ReadSome(from, into) == Heard::kBytes; ++i) {
  }
}

void StopWaiting(const Descriptor& from) {
  fcntl(from.get(), F_SETFL, fcntl(from.get(), F_GETFL) | O_NONBLOCK);
}

// Reads the streams of a program until it ends or a limit is reached.
class Listener {
 public:
  Listener(Descriptor out, Descriptor err, ProcessLimits limits)
      : out_(std::move(out)),
        err_(std::move(err)),
        limits_(limits),
        deadline_(std::chrono::steady_clock::now() + limits.time) {
    StopWaiting(out_);
    StopWaiting(err_);
  }

  ProcessOutput Run(Child& child, const Interrupt* interrupt) {
    const Descriptor ended(child.OpenEnd());
    while (true) {
      if (child.TryReap(output_)) {
        ReadRest(out_, output_.out);
        ReadRest(err_, output_.err);
        if (output_.out.size() > limits_.bytes) output_.end = ProcessOutput::End::kOutputLimit;
        return Take();
      }
      std::array<pollfd, 4> events = {
          pollfd{out_.get(), POLLIN, 0},
          pollfd{err_.get(), POLLIN, 0},
          pollfd{ended.get(), POLLIN, 0},
          pollfd{interrupt == nullptr ? -1 : interrupt->descriptor(), POLLIN, 0}};
      const auto now = std::chrono::steady_clock::now();
      const auto left = std::chrono::ceil<Duration>(deadline_ - now).count();
      if (left <= 0) return End(ProcessOutput::End::kTimedOut);
      // Without a descriptor for its end, ask for that now and then.
      const int max = ended.get() < 0 ? 10 : 60'000;
      if (poll(events.data(), events.size(), static_cast<int>(std::min<long>(left, max))) <= 0) {
        continue;
      }
      if (events[3].revents != 0) return End(ProcessOutput::End::kInterrupted);
      if (events[0].revents != 0) (void)ReadSome(out_, output_.out);
      if (events[1].revents != 0) (void)ReadSome(err_, output_.err);
      if (output_.out.size() > limits_.bytes) return End(ProcessOutput::End::kOutputLimit);
      output_.err.resize(std::min(output_.err.size(), kMaxErr));
    }
  }

 private:
  ProcessOutput End(ProcessOutput::End end) {
    output_.end = end;
    return Take();
  }
  ProcessOutput Take() {
    output_.err.resize(std::min(output_.err.size(), kMaxErr));
    return std::move(output_);
  }

  Descriptor out_;
  Descriptor err_;
  ProcessLimits limits_;
  std::chrono::steady_clock::time_point deadline_;
  ProcessOutput output_;
};

}  // namespace

Interrupt::Interrupt() : descriptor_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

Interrupt::~Interrupt() {
  if (descriptor_ >= 0) close(descriptor_);
}

void Interrupt::Fire() const {
  (void)eventfd_write(descriptor_, 1);
}

Result<ProcessOutput> RunProcess(const ProcessCommand& command,
                                 ProcessLimits limits,
                                 const Interrupt* interrupt) {
  TRY_ASSIGN(Pipe out, MakePipe());
  TRY_ASSIGN(Pipe err, MakePipe());
  TRY_ASSIGN(const pid_t pid, Spawn(command, out, err));
  Child child(pid);
  out.write.Close();
  err.write.Close();
  return Listener(std::move(out.read), std::move(err.read), limits).Run(child, interrupt);
}

}  // namespace strata::os
