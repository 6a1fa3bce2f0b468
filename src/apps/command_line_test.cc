#include "apps/command_line.h"

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apps/aliases.h"
#include "apps/command_tree.h"

namespace strata {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

struct Ran {
  int status = 0;
  std::string out;
  std::string err;
};

Ran RunLine(std::vector<const char*> words) {
  words.insert(words.begin(), "strata");
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  Ran ran;
  ran.status = RunCommandLine(static_cast<int>(words.size()), words.data());
  ran.out = testing::internal::GetCapturedStdout();
  ran.err = testing::internal::GetCapturedStderr();
  return ran;
}

TEST(CommandLine, BadUsageIsOneLineWithTheNextStep) {
  const Ran ran = RunLine({"explian"});
  EXPECT_EQ(ran.status, 2);
  EXPECT_EQ(ran.out, "");
  EXPECT_EQ(ran.err,
            "strata: unknown command \"explian\", did you mean explain? (see strata --help)\n");
  EXPECT_EQ(RunLine({"queue"}).err, "strata queue: want a command (see strata queue --help)\n");
  EXPECT_EQ(RunLine({"simulate", "--nope"}).err,
            "strata simulate: unknown flag \"--nope\" (see strata simulate --help)\n");
}

TEST(CommandLine, WordsOfKubectlSayWhatTheyTake) {
  for (const Ran& ran : {RunLine({"get"}), RunLine({"get", "pods"})}) {
    EXPECT_EQ(ran.status, 2);
    EXPECT_EQ(ran.err,
              "strata: get takes jobs, queues, nodes or hypernodes; kubectl get has the rest (see "
              "strata --help)\n");
  }
  EXPECT_THAT(RunLine({"describe", "pod"}).err, HasSubstr("describe takes job or queue"));
}

TEST(CommandLine, EveryProgramWithALeaseChecksItsTimes) {
  for (const std::string name : {"scheduler", "controllers"}) {
    const Ran ran = RunLine({name.c_str(), "--leader-elect-renew-deadline", "1m"});
    EXPECT_EQ(ran.status, 2);
    EXPECT_EQ(ran.err,
              "strata " + name +
                  ": --leader-elect-lease-duration: want more than --leader-elect-renew-deadline "
                  "(1m), found 15s (see strata " +
                  name + " --help)\n");
  }
}

TEST(CommandLine, ALeaseHasAName) {
  for (const char* flag : {"--leader-elect-resource-name", "--leader-elect-resource-namespace"}) {
    const Ran ran = RunLine({"controllers", flag, ""});
    EXPECT_EQ(ran.status, 2);
    EXPECT_THAT(ran.err, HasSubstr(std::string(flag) + ": want a name, found \"\""));
  }
}

TEST(CommandLine, HelpIsThatOfTheCommandNamed) {
  const Ran ran = RunLine({"queue", "list", "--help"});
  EXPECT_EQ(ran.status, 0);
  EXPECT_THAT(ran.out, HasSubstr("Usage: strata queue list"));
}

TEST(CommandLine, HelpTakesACommandAsAWord) {
  EXPECT_EQ(RunLine({"help"}).out, RunLine({"--help"}).out);
  EXPECT_EQ(RunLine({"help", "completion", "bash"}).out,
            RunLine({"completion", "bash", "--help"}).out);
  EXPECT_EQ(RunLine({"help", "jobs"}).out, RunLine({"job", "list", "--help"}).out);
  const Ran ran = RunLine({"help", "queue", "lost"});
  EXPECT_EQ(ran.status, 2);
  EXPECT_EQ(ran.err,
            "strata help: unknown command \"lost\", did you mean list? (see strata --help)\n");
}

TEST(CommandLine, EveryAliasIsTheBeginningOfACommand) {
  CLI::App app;
  strata::Run run;
  AddCommands(app, run);
  std::vector<std::string> paths;
  const CommandTree tree = ReadCommandTree(app);
  for (const CommandTree* command : AllCommands(tree)) paths.push_back(command->path);
  for (const Alias& alias : Aliases()) {
    EXPECT_THAT(paths, testing::Contains("strata " + std::string(alias.meant))) << alias.typed;
    EXPECT_THAT(paths, testing::Not(testing::Contains("strata " + std::string(alias.typed))));
  }
}

TEST(CommandLine, VersionGoesToStandardOutput) {
  EXPECT_THAT(RunLine({"version"}).out, StartsWith("strata "));
  EXPECT_THAT(RunLine({"--version"}).out, StartsWith("strata "));
}

TEST(CommandLine, EveryCommandAndFlagHasASummaryWithoutAPeriod) {
  CLI::App app;
  strata::Run run;
  AddCommands(app, run);
  const CommandTree tree = ReadCommandTree(app);
  for (const CommandTree* command : AllCommands(tree)) {
    EXPECT_FALSE(command->summary.empty()) << command->path;
    EXPECT_FALSE(command->summary.ends_with('.')) << command->path;
    for (const CommandTree::Flag& flag : command->flags) {
      EXPECT_FALSE(flag.summary.empty()) << command->path << " " << flag.long_name;
      EXPECT_FALSE(flag.summary.ends_with('.')) << command->path << " " << flag.long_name;
    }
  }
}

}  // namespace
}  // namespace strata
