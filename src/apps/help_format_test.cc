#include "apps/help_format.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace strata {
namespace {

using testing::HasSubstr;

// An app whose flag --first excludes and needs others, which are made in the order of `names`, so
// that their addresses differ from order to order.
std::string HelpOf(const std::vector<std::string>& names) {
  CLI::App app("", "test");
  app.formatter(std::make_shared<HelpFormatter>());
  CLI::Option* const first = app.add_option("--first")->type_name("FILE")->required();
  CLI::Option* const base = app.add_flag("--base");
  std::vector<std::unique_ptr<char[]>> gaps;  // so that the heap is not used in one direction
  for (const std::string& name : names) {
    gaps.push_back(std::make_unique<char[]>(gaps.size() % 2 == 0 ? 4096 : 64));
    first->excludes(app.add_flag("--" + name));
  }
  first->needs(base);
  const std::string help = app.help();
  const std::size_t at = help.find("--first");
  return help.substr(at, help.find('\n', at) - at);
}

TEST(HelpFormatter, NamesExcludedFlagsInTheOrderOfTheirNames) {
  std::vector<std::string> names = {"aa", "bb", "cc", "dd"};
  do {
    EXPECT_EQ(HelpOf(names), "--first FILE REQUIRED Needs: --base Excludes: --aa --bb --cc --dd");
  } while (std::next_permutation(names.begin(), names.end()));
}

TEST(HelpFormatter, LeavesFlagsWithoutEitherAsTheyAre) {
  CLI::App app("", "test");
  app.add_option("--one", "What it is")->type_name("N");
  const std::string usual = app.help();
  app.formatter(std::make_shared<HelpFormatter>());
  EXPECT_EQ(app.help(), usual);
  EXPECT_THAT(usual, HasSubstr("--one N"));
}

}  // namespace
}  // namespace strata
