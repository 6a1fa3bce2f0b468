#pragma once

#include <filesystem>
#include <string>
#include <vector>

// Ways to run `strata`, and the folders of cases that it is run on.
namespace strata::scenario {

struct RunOutput {
  int exit_code = -1;  // -1: ended by a signal, or could not be started
  std::string out;
  std::string err;
};

// Runs the program build/strata in `directory`, as a user does, with standard input empty.
[[nodiscard]] RunOutput RunStrata(const std::filesystem::path& directory,
                                  const std::vector<std::string>& arguments);

// The same without a new process: calls what main() calls. A sanitized program takes most of a
// second to start, and there are hundreds of cases. REQUIRES: one thread, which runs tests.
[[nodiscard]] RunOutput CallStrata(const std::filesystem::path& directory,
                                   const std::vector<std::string>& arguments);

// The first ten of them: those that also run the program itself.
[[nodiscard]] std::vector<std::filesystem::path> FirstTen(std::vector<std::filesystem::path> cases);

// The folders below tests/scenario/<kind>, by name.
[[nodiscard]] std::vector<std::filesystem::path> CasesOf(const std::string& kind);

// The command of a case, to be run in its folder: `simulate -o json`, each manifest (*.yaml, *.yml,
// and
// *.json but expected.json) with -f, scheduler.conf if there is one, then the lines of the file
// `args`.
[[nodiscard]] std::vector<std::string> CommandOf(const std::filesystem::path& folder);
// The manifests among them.
[[nodiscard]] std::vector<std::filesystem::path> ManifestsOf(const std::filesystem::path& folder);

[[nodiscard]] std::string ReadFile(const std::filesystem::path& path);
void WriteFile(const std::filesystem::path& path, const std::string& text);

// Whether expected files are to be written rather than compared (STRATA_UPDATE_GOLDENS=1).
[[nodiscard]] bool UpdatesGoldens();

// A gtest parameter name: letters, digits and underscores only.
[[nodiscard]] std::string TestName(const std::filesystem::path& folder);

}  // namespace strata::scenario
