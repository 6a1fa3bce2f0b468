#include "base/duration.h"

#include <string>

#include <gtest/gtest.h>

namespace strata {
namespace {

TEST(ParseDuration, ReadsDurationsAsGoDoes) {
  EXPECT_EQ(ParseDuration("0"), Duration(0));
  EXPECT_EQ(ParseDuration("5s"), Duration(5'000));
  EXPECT_EQ(ParseDuration("1h2m3s"), Duration(3'723'000));
  EXPECT_EQ(ParseDuration("1.5h"), Duration(5'400'000));
  EXPECT_EQ(ParseDuration(".5s"), Duration(500));
  EXPECT_EQ(ParseDuration("1.s"), Duration(1'000));
  EXPECT_EQ(ParseDuration("+300ms"), Duration(300));
  EXPECT_EQ(ParseDuration("-1m"), Duration(-60'000));
  EXPECT_EQ(ParseDuration("0.001s"), Duration(1));
}

TEST(ParseDuration, RoundsDownToMilliseconds) {
  EXPECT_EQ(ParseDuration("1999us"), Duration(1));
  EXPECT_EQ(ParseDuration("999999ns"), Duration(0));
  EXPECT_EQ(ParseDuration("1500\u00b5s"), Duration(1));
}

TEST(ParseDuration, RejectsEverythingElseAndQuotesIt) {
  for (const std::string text : {"",
                                 "-",
                                 "5",
                                 "s",
                                 ".s",
                                 "1d",
                                 "1h-2m",
                                 "1 h",
                                 "h1",
                                 "9223372037s",
                                 "99999999999999999999h"}) {
    const auto duration = ParseDuration(text);
    ASSERT_FALSE(duration.has_value()) << text;
    EXPECT_EQ(duration.error().message,
              "want a duration such as 1h30m or 300ms, found \"" + text + "\"");
  }
  EXPECT_TRUE(ParseDuration("9223372036s").has_value());
}

}  // namespace
}  // namespace strata
