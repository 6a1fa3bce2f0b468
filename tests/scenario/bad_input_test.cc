// Malformed input: every folder of bad/ is one run that must end with exit status 1, nothing on
// standard output, and exactly the line of expected.txt on standard error. Folders are made as for
// golden_test.cc.
#include <filesystem>

#include <gtest/gtest.h>

#include "tests/scenario/run_strata.h"

namespace strata::scenario {
namespace {

namespace fs = std::filesystem;

class BadInput : public testing::TestWithParam<fs::path> {};

TEST_P(BadInput, IsOneClearLine) {
  const RunOutput run = CallStrata(GetParam(), CommandOf(GetParam()));
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_EQ(run.out, "");
  const fs::path expected = GetParam() / "expected.txt";
  if (UpdatesGoldens()) WriteFile(expected, run.err);
  EXPECT_EQ(run.err, ReadFile(expected)) << "in " << GetParam();
  EXPECT_EQ(run.err.find('\n') + 1, run.err.size()) << "not one line";
}

class BadInputProgram : public testing::TestWithParam<fs::path> {};

TEST_P(BadInputProgram, ExitsWithOneLine) {
  const RunOutput run = RunStrata(GetParam(), CommandOf(GetParam()));
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_EQ(run.out, "");
  EXPECT_EQ(run.err, ReadFile(GetParam() / "expected.txt"));
}

INSTANTIATE_TEST_SUITE_P(Cases,
                         BadInputProgram,
                         testing::ValuesIn(FirstTen(CasesOf("bad"))),
                         [](const auto& test) { return TestName(test.param); });
INSTANTIATE_TEST_SUITE_P(Cases, BadInput, testing::ValuesIn(CasesOf("bad")), [](const auto& test) {
  return TestName(test.param);
});

}  // namespace
}  // namespace strata::scenario
