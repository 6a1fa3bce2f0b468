// What `strata compare` and `strata defrag` say: every folder of compare/ and defrag/ is one
// command, with the lines of its file `args`. The table must be expected.txt, with standard error
// below it, and -o json expected.json.
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/scenario/run_strata.h"

namespace strata::scenario {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

std::vector<std::string> PrintingCommand(const fs::path& folder, const std::string& format) {
  std::vector<std::string> command = {folder.parent_path().filename(), "-o", format};
  std::istringstream lines(ReadFile(folder / "args"));
  for (std::string line; std::getline(lines, line);) command.push_back(line);
  return command;
}

class Printed : public testing::TestWithParam<fs::path> {};

TEST_P(Printed, PrintsATableForPeople) {
  const RunOutput run = CallStrata(GetParam(), PrintingCommand(GetParam(), "table"));
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const std::string text = run.out + (run.err.empty() ? "" : "\nstandard error:\n" + run.err);
  if (UpdatesGoldens()) WriteFile(GetParam() / "expected.txt", text);
  EXPECT_EQ(text, ReadFile(GetParam() / "expected.txt")) << "in " << GetParam();
}

TEST_P(Printed, PrintsTheSameAsJsonEveryTime) {
  const RunOutput run = RunStrata(GetParam(), PrintingCommand(GetParam(), "json"));
  ASSERT_EQ(run.exit_code, 0) << run.err;
  if (UpdatesGoldens()) WriteFile(GetParam() / "expected.json", run.out);
  EXPECT_EQ(run.out, ReadFile(GetParam() / "expected.json")) << "in " << GetParam();
  EXPECT_EQ(CallStrata(GetParam(), PrintingCommand(GetParam(), "json")).out, run.out);
}

INSTANTIATE_TEST_SUITE_P(Compare,
                         Printed,
                         testing::ValuesIn(CasesOf("compare")),
                         [](const auto& test) { return TestName(test.param); });
INSTANTIATE_TEST_SUITE_P(Defrag,
                         Printed,
                         testing::ValuesIn(CasesOf("defrag")),
                         [](const auto& test) { return TestName(test.param); });

RunOutput CompareIn(const std::string& folder, std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "compare");
  return CallStrata(fs::path(STRATA_SCENARIOS) / "compare" / folder, arguments);
}

TEST(CompareCommand, WantsSomethingThatDiffers) {
  const RunOutput run = CompareIn("clusters", {"a"});
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_EQ(run.out, "");
  EXPECT_EQ(run.err,
            "strata compare: nothing to compare: want B, --against-conf, or a change such as "
            "--drain NODE (see strata compare --help)\n");
}

TEST(CompareCommand, ReadsStandardInputOnce) {
  EXPECT_THAT(CompareIn("clusters", {"-", "-"}).err, HasSubstr("can be read only once"));
  EXPECT_THAT(CompareIn("clusters", {"a", "b", "-f", "-"}).err,
              HasSubstr("cannot be added to two sides"));
}

TEST(CompareCommand, AddsNoManifestsToARunningCluster) {
  EXPECT_THAT(CompareIn("clusters", {"a", "context:prod", "-f", "jobs.yaml"}).err,
              HasSubstr("not to a running cluster"));
  EXPECT_THAT(CompareIn("clusters", {"a", "context:"}).err,
              HasSubstr("context: wants the name of a context"));
  EXPECT_THAT(CompareIn("clusters", {"a", "b", "--context", "prod"}).err,
              HasSubstr("name it as an argument, context:NAME"));
}

TEST(CompareCommand, WhatCannotBeReadIsOneLine) {
  const RunOutput run = CompareIn("clusters", {"a", "nowhere.yaml"});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_EQ(run.out, "");
  EXPECT_EQ(run.err.find('\n'), run.err.size() - 1) << run.err;
}

TEST(CompareCommand, TheSameOnBothSidesDiffersInNothing) {
  const RunOutput run = CompareIn("clusters", {"a", "a", "-f", "jobs.yaml"});
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_THAT(run.out, HasSubstr("\nEvery job stands the same in A and B.\n"));
}

RunOutput Defrag(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "defrag");
  return CallStrata(fs::path(STRATA_SCENARIOS) / "defrag" / "room-for-a-gang", arguments);
}

TEST(DefragCommand, WantsAPlanAndOneGoal) {
  EXPECT_THAT(Defrag({"--free", "1=1"}).err, HasSubstr("want --plan"));
  EXPECT_THAT(Defrag({"--plan"}).err, HasSubstr("want one of --for, --free and --pods"));
  EXPECT_THAT(Defrag({"--plan", "--for", "a", "--free", "1=1"}).err, HasSubstr("want one of"));
  EXPECT_THAT(Defrag({"--plan", "--pods", "2"}).err, HasSubstr("--pods and --pod go together"));
  EXPECT_THAT(Defrag({"--plan", "--free", "1"}).err, HasSubstr("want TIER=N"));
  EXPECT_EQ(Defrag({"--plan", "--free", "x=1"}).exit_code, 2);
}

TEST(DefragCommand, NamesTheJobThatComesNearest) {
  const RunOutput run = Defrag({"--plan", "-f", "cluster.yaml", "--for", "default/bigg"});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_THAT(run.err, HasSubstr("default/big"));
}

}  // namespace
}  // namespace strata::scenario
