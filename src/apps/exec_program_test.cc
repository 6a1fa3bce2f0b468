#include "apps/exec_program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace strata {
namespace {

using ::testing::HasSubstr;

TEST(ExecProgram, AnswersLineByLine) {
  auto program = ExecProgram::Start("cat");
  ASSERT_TRUE(program.has_value()) << program.error().message;
  ASSERT_TRUE((*program)->Say("one").has_value());
  ASSERT_TRUE((*program)->Say("two").has_value());
  EXPECT_EQ((*program)->Hear().value(), "one");
  EXPECT_EQ((*program)->Hear().value(), "two");
}

TEST(ExecProgram, SaysThatItHasEnded) {
  auto program = ExecProgram::Start("true");
  ASSERT_TRUE(program.has_value());
  EXPECT_EQ((*program)->Hear().error().message, "exec:true: the program has ended");
}

TEST(ExecProgram, IsAnErrorThatNamesWhatIsNotThere) {
  EXPECT_THAT(ExecProgram::Start("no-such-program-here").error().message,
              HasSubstr("exec:no-such-program-here: "));
}

}  // namespace
}  // namespace strata
