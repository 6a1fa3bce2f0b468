#include "apps/terminal.h"

#include <sstream>

#include <gtest/gtest.h>

namespace strata {
namespace {

TEST(NextFrame, FollowsAnEmptyLineWhereThereIsNoTerminal) {
  EXPECT_EQ(FrameText("a\nb\n", std::nullopt), "a\nb\n\n");
}

TEST(NextFrame, ReplacesTheScreenOfATerminal) {
  EXPECT_EQ(FrameText("a\nb\n", 10), "\x1b[Ha\x1b[K\nb\x1b[K\n\x1b[J");
}

TEST(NextFrame, ShowsAsManyLinesAsTheTerminalHasRoomFor) {
  EXPECT_EQ(FrameText("a\nb\nc\n", 3), "\x1b[Ha\x1b[K\nb\x1b[K\n\x1b[J");
}

bool Answered(const std::string& text) {
  std::istringstream terminal(text);
  return Confirm("Delete it?", &terminal).value();
}

TEST(Confirm, TakesOnlyYesForYes) {
  testing::internal::CaptureStderr();
  for (const char* yes : {"y\n", "Y\n", "yes\n", "y"}) EXPECT_TRUE(Answered(yes)) << yes;
  for (const char* no : {"n\n", "\n", "", "yesterday\n", " y\n", "no\ny\n"}) {
    EXPECT_FALSE(Answered(no)) << no;
  }
  testing::internal::GetCapturedStderr();
}

TEST(Confirm, PrintsTheQuestionOnStandardError) {
  testing::internal::CaptureStderr();
  EXPECT_TRUE(Answered("y\n"));
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "Delete it? [y/N] ");
}

TEST(Confirm, FailsWithoutATerminal) {
  testing::internal::CaptureStderr();
  const Result<bool> answer = Confirm("Delete it?", nullptr);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().message,
            "cannot ask \"Delete it?\": standard input is not a terminal (use --yes)");
}

TEST(Progress, PrintsNothingWithoutATerminal) {
  testing::internal::CaptureStderr();
  {
    Progress progress;
    progress.Stage("reading");
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

}  // namespace
}  // namespace strata
