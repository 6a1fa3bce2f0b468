// Discovery as a user runs it: every folder of discover/ is one `strata discover --config
// discover.conf`, with the lines of the file `args` behind. Standard output must be expected.yaml,
// and expected.txt holds the exit status and standard error.
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/scenario/run_strata.h"

namespace strata::scenario {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> DiscoverCommand(const fs::path& folder) {
  std::vector<std::string> command = {"discover", "--config", "discover.conf"};
  std::istringstream lines(fs::exists(folder / "args") ? ReadFile(folder / "args") : "");
  for (std::string line; std::getline(lines, line);) command.push_back(line);
  return command;
}

class DiscoverGolden : public testing::TestWithParam<fs::path> {};

TEST_P(DiscoverGolden, PrintsAsExpected) {
  const RunOutput run = CallStrata(GetParam(), DiscoverCommand(GetParam()));
  const std::string report = "exit " + std::to_string(run.exit_code) + "\n" + run.err;
  if (UpdatesGoldens()) {
    WriteFile(GetParam() / "expected.yaml", run.out);
    WriteFile(GetParam() / "expected.txt", report);
  }
  EXPECT_EQ(run.out, ReadFile(GetParam() / "expected.yaml")) << "in " << GetParam();
  EXPECT_EQ(report, ReadFile(GetParam() / "expected.txt")) << "in " << GetParam();
}

// The cases that come to a tree.
std::vector<fs::path> CasesWithTrees() {
  std::vector<fs::path> cases = CasesOf("discover");
  std::erase_if(cases, [](const fs::path& folder) {
    return ReadFile(folder / "expected.yaml").find("kind") == std::string::npos;
  });
  return cases;
}

class DiscoveredTree : public testing::TestWithParam<fs::path> {};

TEST_P(DiscoveredTree, IsDrawnByTopology) {
  const RunOutput run = CallStrata(GetParam(),
                                   {"topology",
                                    "-f",
                                    "expected.yaml",
                                    "-f",
                                    "../../../fixtures/discovery/k8s-nodes-labels.json",
                                    "-o",
                                    "json"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_NE(run.out.find("\"topologyReady\": true"), std::string::npos) << run.out;
}

class DiscoverProgram : public testing::TestWithParam<fs::path> {};

TEST_P(DiscoverProgram, PrintsAsExpected) {
  const RunOutput run = RunStrata(GetParam(), DiscoverCommand(GetParam()));
  EXPECT_EQ(run.out, ReadFile(GetParam() / "expected.yaml"));
  EXPECT_EQ("exit " + std::to_string(run.exit_code) + "\n" + run.err,
            ReadFile(GetParam() / "expected.txt"));
}

INSTANTIATE_TEST_SUITE_P(Cases,
                         DiscoverProgram,
                         testing::ValuesIn(FirstTen(CasesOf("discover"))),
                         [](const auto& test) { return TestName(test.param); });
INSTANTIATE_TEST_SUITE_P(Cases,
                         DiscoverGolden,
                         testing::ValuesIn(CasesOf("discover")),
                         [](const auto& test) { return TestName(test.param); });
INSTANTIATE_TEST_SUITE_P(Cases,
                         DiscoveredTree,
                         testing::ValuesIn(CasesWithTrees()),
                         [](const auto& test) { return TestName(test.param); });

}  // namespace
}  // namespace strata::scenario
