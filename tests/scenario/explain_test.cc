// What `strata explain` says: cases with a file `explain`, which names a job, hold the whole answer
// in explain.txt, some of them also as JSON in explain-json.txt; and the command line around it.
#include <filesystem>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/scenario/run_strata.h"

namespace strata::scenario {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::StartsWith;

// Those with this file.
std::vector<fs::path> ExplainedCases(const char* file = "explain") {
  std::vector<fs::path> folders = CasesOf("cases");
  std::erase_if(folders, [&](const fs::path& folder) { return !fs::exists(folder / file); });
  return folders;
}

std::vector<std::string> ExplainCommand(const fs::path& folder, const std::string& format) {
  std::string job = ReadFile(folder / "explain");
  job.erase(job.find('\n'));
  std::vector<std::string> command = CommandOf(folder);
  command.front() = "explain";
  for (std::size_t i = 0; i + 1 < command.size(); ++i) {
    if (command[i] == "-o") command[i + 1] = format;
  }
  command.push_back(job);
  return command;
}

class Explained : public testing::TestWithParam<fs::path> {};

TEST_P(Explained, TellsTheWholeStory) {
  const RunOutput run = CallStrata(GetParam(), ExplainCommand(GetParam(), "table"));
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const fs::path expected = GetParam() / "explain.txt";
  if (UpdatesGoldens()) WriteFile(expected, run.out);
  EXPECT_EQ(run.out, ReadFile(expected)) << "in " << GetParam();
}

// simulate prints the same lines below its own.
TEST_P(Explained, TellsTheSameInSimulate) {
  const RunOutput alone = CallStrata(GetParam(), ExplainCommand(GetParam(), "table"));
  std::vector<std::string> command = ExplainCommand(GetParam(), "table");
  command.front() = "simulate";
  command.insert(command.end() - 1, "--explain");
  const RunOutput run = CallStrata(GetParam(), command);
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("\nEXPLAIN\n" + alone.out));
}

class ExplainedByProgram : public testing::TestWithParam<fs::path> {};

TEST_P(ExplainedByProgram, PrintsTheSame) {
  const RunOutput run = RunStrata(GetParam(), ExplainCommand(GetParam(), "table"));
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_EQ(run.out, ReadFile(GetParam() / "explain.txt"));
  EXPECT_EQ(run.err, "");
}

INSTANTIATE_TEST_SUITE_P(Cases,
                         ExplainedByProgram,
                         testing::ValuesIn(FirstTen(ExplainedCases())),
                         [](const auto& test) { return TestName(test.param); });
INSTANTIATE_TEST_SUITE_P(Cases,
                         Explained,
                         testing::ValuesIn(ExplainedCases()),
                         [](const auto& test) { return TestName(test.param); });

class ExplainedInJson : public testing::TestWithParam<fs::path> {};

TEST_P(ExplainedInJson, PrintsTheSameEveryTime) {
  const std::vector<std::string> command = ExplainCommand(GetParam(), "json");
  const RunOutput run = RunStrata(GetParam(), command);
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const fs::path expected = GetParam() / "explain-json.txt";
  if (UpdatesGoldens()) WriteFile(expected, run.out);
  EXPECT_EQ(run.out, ReadFile(expected));
  EXPECT_EQ(RunStrata(GetParam(), command).out, run.out);
}

INSTANTIATE_TEST_SUITE_P(Cases,
                         ExplainedInJson,
                         testing::ValuesIn(ExplainedCases("explain-json.txt")),
                         [](const auto& test) { return TestName(test.param); });

TEST(ExplainCommand, AnUnknownJobIsOneLineWithTheNearestName) {
  const RunOutput run = RunStrata(fs::path(STRATA_SCENARIOS) / "../../examples",
                                  {"explain", "-f", "hard-pending", "default/pytorch-distributed"});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_EQ(run.out, "");
  EXPECT_THAT(run.err,
              StartsWith("no Job, PodGroup, pod or Deployment default/pytorch-distributed: nearest "
                         "are default/pytorch-distributed-training, "));
  EXPECT_EQ(run.err.find('\n'), run.err.size() - 1);
}

}  // namespace
}  // namespace strata::scenario
