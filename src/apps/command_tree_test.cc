#include "apps/command_tree.h"

#include <CLI/CLI.hpp>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apps/test_commands.h"

namespace strata {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

CommandTree::Flag FlagWith(const std::string& value) {
  return {"", "--flag", value, ""};
}

TEST(CommandTree, IsReadFromTheParser) {
  CLI::App app("A program", "prog");
  app.set_help_flag();
  CLI::App& sub = *app.add_subcommand("sub", "Does it");
  sub.set_help_flag();
  sub.footer("More");
  std::string text;
  bool on = false;
  sub.add_option("-t,--text", text, "A text")->type_name("WORD");
  sub.add_flag("--on", on, "A switch");
  sub.add_option("thing", text, "What")->type_name("THING");
  const CommandTree tree = ReadCommandTree(app);
  ASSERT_EQ(tree.commands.size(), 1U);
  const CommandTree& read = tree.commands.front();
  EXPECT_EQ(read.path, "prog sub");
  EXPECT_EQ(read.summary, "Does it");
  EXPECT_EQ(read.footer, "More");
  ASSERT_EQ(read.flags.size(), 2U);
  EXPECT_EQ(read.flags[0].short_name, "-t");
  EXPECT_EQ(read.flags[0].long_name, "--text");
  EXPECT_EQ(read.flags[0].value, "WORD");
  EXPECT_EQ(read.flags[1].long_name, "--on");
  EXPECT_EQ(read.flags[1].value, "");
  ASSERT_EQ(read.arguments.size(), 1U);
  EXPECT_EQ(read.arguments[0].value, "THING");
}

TEST(CommandTree, ChoicesAreLowerCaseWordsOnly) {
  EXPECT_THAT(FlagWith("table|json").Choices(), ElementsAre("table", "json"));
  EXPECT_THAT(FlagWith("FILE|DIR|-").Choices(), IsEmpty());
  EXPECT_THAT(FlagWith("NAME").Choices(), IsEmpty());
  EXPECT_THAT(FlagWith("").Choices(), IsEmpty());
}

TEST(CommandTree, FilesAndFoldersAreCompletedAsSuch) {
  EXPECT_TRUE(FlagWith("FILE|DIR|-").TakesFile());
  EXPECT_TRUE(FlagWith("DIR").TakesFile());
  EXPECT_FALSE(FlagWith("NAME").TakesFile());
}

TEST(AllCommands, ListsEachCommandBeforeThoseBelowIt) {
  const CommandTree tree = SmallTree();
  std::vector<std::string> paths;
  for (const CommandTree* command : AllCommands(tree)) paths.push_back(command->path);
  EXPECT_THAT(paths, ElementsAre("strata", "strata get", "strata queue", "strata queue list"));
}

}  // namespace
}  // namespace strata
