#include "model/name_pattern.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace strata {
namespace {

TEST(NamePattern, IsFoundAnywhereInTheName) {
  const NamePattern pattern = *NamePattern::Compile("node-1");
  EXPECT_TRUE(pattern.Matches("node-1"));
  EXPECT_TRUE(pattern.Matches("node-10"));
  EXPECT_TRUE(pattern.Matches("rack-a.node-1.local"));
  EXPECT_FALSE(pattern.Matches("node-2"));
}

TEST(NamePattern, AnchorsBindWhenWritten) {
  const NamePattern pattern = *NamePattern::Compile("^node-[0-9]$");
  EXPECT_TRUE(pattern.Matches("node-1"));
  EXPECT_FALSE(pattern.Matches("node-10"));
  EXPECT_FALSE(pattern.Matches("a-node-1"));
}

TEST(NamePattern, ThatIsEmptyMatchesEveryName) {
  EXPECT_TRUE(NamePattern::Compile("")->Matches("anything"));
}

TEST(NamePattern, ThatDoesNotCompileSaysWhy) {
  const Result<NamePattern> pattern = NamePattern::Compile("node-[0-9");
  ASSERT_FALSE(pattern.has_value());
  EXPECT_EQ(pattern.error().code, Code::kInvalidArgument);
  EXPECT_THAT(pattern.error().message, ::testing::HasSubstr("missing ]"));
}

TEST(NamePattern, KeepsItsTextThroughCopies) {
  const NamePattern pattern = *NamePattern::Compile("rack-(a|b)");
  const NamePattern copy = pattern;  // NOLINT(performance-unnecessary-copy-initialization)
  EXPECT_EQ(copy.text(), "rack-(a|b)");
  EXPECT_TRUE(copy.Matches("rack-b-7"));
}

}  // namespace
}  // namespace strata
