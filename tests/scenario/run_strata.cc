#include "tests/scenario/run_strata.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "apps/command_line.h"

namespace strata::scenario {
namespace {

namespace fs = std::filesystem;

// A file that is gone when this object is.
class ScratchFile {
 public:
  ScratchFile() {
    std::string pattern = (fs::temp_directory_path() / "strata-scenario-XXXXXX").string();
    close(mkstemp(pattern.data()));
    path_ = pattern;
  }
  ~ScratchFile() {
    std::error_code ignored;
    fs::remove(path_, ignored);
  }
  ScratchFile(const ScratchFile&) = delete;
  ScratchFile& operator=(const ScratchFile&) = delete;
  [[nodiscard]] const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

int Spawn(const fs::path& directory,
          const std::vector<std::string>& arguments,
          const fs::path& out,
          const fs::path& err) {
  std::vector<char*> argv = {const_cast<char*>(STRATA_BINARY)};
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addchdir_np(&actions, directory.c_str());
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, out.c_str(), O_WRONLY | O_TRUNC, 0);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, err.c_str(), O_WRONLY | O_TRUNC, 0);
  pid_t pid = 0;
  const int failed = posix_spawn(&pid, STRATA_BINARY, &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) return -1;
  int status = 0;
  if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status)) return -1;
  return WEXITSTATUS(status);
}

// A standard stream of this process that is a file while this object lives.
class Redirected {
 public:
  Redirected(int stream, const fs::path& file, int flags) : stream_(stream), kept_(dup(stream)) {
    const int opened = open(file.c_str(), flags);
    if (kept_ < 0 || opened < 0 || dup2(opened, stream) < 0) std::abort();
    close(opened);
  }
  ~Redirected() {
    std::fflush(nullptr);
    if (dup2(kept_, stream_) < 0) std::abort();
    close(kept_);
  }
  Redirected(const Redirected&) = delete;
  Redirected& operator=(const Redirected&) = delete;

 private:
  int stream_;
  int kept_;
};

}  // namespace

RunOutput CallStrata(const fs::path& directory, const std::vector<std::string>& arguments) {
  const ScratchFile out;
  const ScratchFile err;
  std::vector<const char*> argv = {"strata"};
  for (const std::string& argument : arguments) argv.push_back(argument.c_str());
  const fs::path before = fs::current_path();
  RunOutput output;
  std::fflush(nullptr);
  fs::current_path(directory);
  {
    const Redirected input(STDIN_FILENO, "/dev/null", O_RDONLY);
    const Redirected to_out(STDOUT_FILENO, out.path(), O_WRONLY | O_TRUNC);
    const Redirected to_err(STDERR_FILENO, err.path(), O_WRONLY | O_TRUNC);
    output.exit_code = RunCommandLine(static_cast<int>(argv.size()), argv.data());
  }
  fs::current_path(before);
  output.out = ReadFile(out.path());
  output.err = ReadFile(err.path());
  return output;
}

RunOutput RunStrata(const fs::path& directory, const std::vector<std::string>& arguments) {
  const ScratchFile out;
  const ScratchFile err;
  RunOutput output;
  output.exit_code = Spawn(directory, arguments, out.path(), err.path());
  output.out = ReadFile(out.path());
  output.err = ReadFile(err.path());
  return output;
}

std::vector<fs::path> CasesOf(const std::string& kind) {
  std::vector<fs::path> folders;
  for (const auto& entry : fs::directory_iterator(fs::path(STRATA_SCENARIOS) / kind)) {
    if (entry.is_directory()) folders.push_back(entry.path());
  }
  std::sort(folders.begin(), folders.end());
  return folders;
}

std::vector<fs::path> FirstTen(std::vector<fs::path> cases) {
  cases.resize(std::min<std::size_t>(cases.size(), 10));
  return cases;
}

std::vector<fs::path> ManifestsOf(const fs::path& folder) {
  std::vector<fs::path> manifests;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const fs::path extension = entry.path().extension();
    const bool manifest = extension == ".yaml" || extension == ".yml" || extension == ".json";
    if (manifest && entry.path().filename() != "expected.json") manifests.push_back(entry.path());
  }
  std::sort(manifests.begin(), manifests.end());
  return manifests;
}

std::vector<std::string> CommandOf(const fs::path& folder) {
  std::vector<std::string> command = {"simulate", "-o", "json"};
  for (const fs::path& manifest : ManifestsOf(folder)) {
    command.insert(command.end(), {"-f", manifest.filename().string()});
  }
  if (fs::exists(folder / "scheduler.conf")) {
    command.insert(command.end(), {"--scheduler-conf", "scheduler.conf"});
  }
  std::istringstream lines(fs::exists(folder / "args") ? ReadFile(folder / "args") : "");
  for (std::string line; std::getline(lines, line);) {
    if (!line.empty()) command.push_back(line);
  }
  return command;
}

std::string ReadFile(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

void WriteFile(const fs::path& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

bool UpdatesGoldens() {
  const char* value = std::getenv("STRATA_UPDATE_GOLDENS");  // NOLINT(concurrency-mt-unsafe)
  return value != nullptr && *value != '\0';
}

std::string TestName(const fs::path& folder) {
  std::string name = folder.filename().string();
  for (char& c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  }
  return name;
}

}  // namespace strata::scenario
