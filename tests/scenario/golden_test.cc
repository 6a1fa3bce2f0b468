// Manifests in, decisions out: every folder of cases/ is one `strata simulate -o json`, and its
// whole output must be expected.json, byte by byte.
//
// To add a case, make a folder with manifests (*.yaml), if need be a scheduler.conf and a file
// `args` with more arguments, one a line; then write its expectation, look at it, and commit both:
//   STRATA_UPDATE_GOLDENS=1 build/tests/scenario/strata_scenario_test --gtest_filter='*/my_case'
#include <algorithm>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/scenario/run_strata.h"

namespace strata::scenario {
namespace {

namespace fs = std::filesystem;

class Golden : public testing::TestWithParam<fs::path> {};

TEST_P(Golden, DecidesAsExpected) {
  const RunOutput run = CallStrata(GetParam(), CommandOf(GetParam()));
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const fs::path expected = GetParam() / "expected.json";
  if (UpdatesGoldens()) WriteFile(expected, run.out);
  EXPECT_EQ(run.out, ReadFile(expected)) << "in " << GetParam();
}

// The documents of a YAML file, without the lines between them.
std::vector<std::string> DocumentsOf(const std::string& text) {
  std::vector<std::string> documents(1);
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = std::min(text.find('\n', begin), text.size() - 1) + 1;
    const std::string line = text.substr(begin, end - begin);
    begin = end;
    if (line.starts_with("---")) {
      documents.emplace_back();
    } else {
      documents.back() += line;
    }
  }
  return documents;
}

// Takes the manifests out of a command: what its -f arguments name.
std::vector<std::string> TakeManifests(std::vector<std::string>& command, const fs::path& folder) {
  std::vector<std::string> texts;
  for (auto it = command.begin(); it != command.end();) {
    if (*it != "-f") {
      ++it;
      continue;
    }
    const fs::path named = folder / *(it + 1);
    for (const fs::path& path : fs::is_directory(named) ? ManifestsOf(named) : std::vector{named}) {
      texts.push_back(ReadFile(path));
    }
    it = command.erase(it, it + 2);
  }
  return texts;
}

TEST_P(Golden, DoesNotDependOnTheOrderOfTheDocuments) {
  std::vector<std::string> command = CommandOf(GetParam());
  std::vector<std::string> documents;
  for (const std::string& text : TakeManifests(command, GetParam())) {
    for (std::string& document : DocumentsOf(text)) documents.push_back(std::move(document));
  }
  const fs::path shuffled =
      fs::temp_directory_path() / ("strata-shuffled-" + TestName(GetParam()) + ".yaml");
  command.insert(command.end(), {"-f", shuffled.string()});
  std::mt19937 random(20260820);  // NOLINT(cert-msc51-cpp): the same orders in every run
  for (int round = 0; round < 3; ++round) {
    std::shuffle(documents.begin(), documents.end(), random);
    std::string text;
    for (const std::string& document : documents) text += document + "---\n";
    WriteFile(shuffled, text);
    const RunOutput run = CallStrata(GetParam(), command);
    EXPECT_EQ(run.out, ReadFile(GetParam() / "expected.json")) << run.err;
  }
  fs::remove(shuffled);
}

class GoldenProgram : public testing::TestWithParam<fs::path> {};

TEST_P(GoldenProgram, PrintsWhatTheCallPrints) {
  const RunOutput run = RunStrata(GetParam(), CommandOf(GetParam()));
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_EQ(run.out, ReadFile(GetParam() / "expected.json"));
  EXPECT_EQ(run.err, CallStrata(GetParam(), CommandOf(GetParam())).err);
}

INSTANTIATE_TEST_SUITE_P(Cases,
                         GoldenProgram,
                         testing::ValuesIn(FirstTen(CasesOf("cases"))),
                         [](const auto& test) { return TestName(test.param); });
INSTANTIATE_TEST_SUITE_P(Cases, Golden, testing::ValuesIn(CasesOf("cases")), [](const auto& test) {
  return TestName(test.param);
});

}  // namespace
}  // namespace strata::scenario
