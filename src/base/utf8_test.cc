#include "base/utf8.h"

#include <gtest/gtest.h>

namespace strata {
namespace {

TEST(CutUtf8, EndsWithAWholeCharacter) {
  EXPECT_EQ(CutUtf8("abc", 3), "abc");
  EXPECT_EQ(CutUtf8("abc", 2), "ab");
  EXPECT_EQ(CutUtf8("aäb", 2), "a");
  EXPECT_EQ(CutUtf8("aäb", 3), "aä");
  EXPECT_EQ(CutUtf8("\xF0\x9F\x98\x80x", 4), "\xF0\x9F\x98\x80");
  EXPECT_EQ(CutUtf8("\x80\x80\x80", 2), "");
  EXPECT_EQ(CutUtf8("", 0), "");
}

}  // namespace
}  // namespace strata
