#pragma once

#include <filesystem>
#include <string>
#include <vector>

// The real binary, run as a user runs it, and the folders of cases it is run on.
namespace strata::scenario {

struct RunOutput {
  int exit_code = -1;  // -1: ended by a signal, or could not be started
  std::string out;
  std::string err;
};

// Runs build/strata in `directory`, with standard input empty.
[[nodiscard]] RunOutput RunStrata(const std::filesystem::path& directory,
                                  const std::vector<std::string>& arguments);

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
