#include "apps/man_page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apps/test_commands.h"

namespace strata {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

TEST(ManPage, HasASectionPerCommandThatDoesSomething) {
  const std::string page = ManPage(SmallTree(), "1.2.3");
  EXPECT_THAT(page, StartsWith(".TH STRATA 1 \"\" \"strata 1.2.3\" \"User Commands\"\n"));
  EXPECT_THAT(page, HasSubstr(".SS strata get\nGet things.\n"));
  EXPECT_THAT(page, HasSubstr(".SS strata queue list\n"));
  EXPECT_THAT(page, Not(HasSubstr(".SS strata queue\n")));
}

TEST(ManPage, NamesFlagsWithTheirValues) {
  EXPECT_THAT(
      ManPage(SmallTree(), "1"),
      HasSubstr(".TP\n\\fB\\-o\\fR, \\fB\\-\\-output\\fR \\fItable|json\\fR\nOutput format\n"));
}

TEST(ManPage, EscapesLinesThatRoffWouldTakeForRequests) {
  CommandTree tree = SmallTree();
  tree.footer = ".so /etc/passwd\n'quoted\nback\\slash";
  EXPECT_THAT(ManPage(tree, "1"), HasSubstr("\\&.so /etc/passwd\n\\&'quoted\nback\\eslash\n"));
}

}  // namespace
}  // namespace strata
