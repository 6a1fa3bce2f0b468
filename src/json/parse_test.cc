#include "json/parse.h"

#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace strata {
namespace {

using nlohmann::json;

TEST(ParseJson, GivesTheSameValueAsNlohmann) {
  for (const char* text : {"null",
                           "true",
                           "-1",
                           "0",
                           "18446744073709551615",
                           "9223372036854775807",
                           "1.5e300",

                           "123456789012345678901234567890",
                           "\"\\u00e9\\ud83d\\ude00\\n\"",
                           "[]",
                           "{}",
                           R"({"b":1,"a":[{"c":null}],"a":2})",
                           "[1,[2,[3]]]",
                           " [ 1 , 2 ] "}) {
    const Result<json> value = ParseJson(text);
    const json expected = json::parse(text);
    ASSERT_TRUE(value) << text;
    EXPECT_EQ(*value, expected) << text;
    EXPECT_EQ(value->type(), expected.type()) << text;
    EXPECT_EQ(value->dump(), expected.dump());
  }
}

TEST(ParseJson, RejectsInvalidTexts) {
  for (const std::string text :
       {"", " ", "{", "[1,]", "{\"a\"}", "\"\xff\"", "nul", "1 2", "\"\\ud800\"", "01"}) {
    EXPECT_FALSE(ParseJson(text)) << text;
    EXPECT_TRUE(ParseJsonOrNull(text).is_null()) << text;
  }
}

TEST(ParseJson, RejectsMoreThan200Levels) {
  EXPECT_TRUE(ParseJson(std::string(200, '[') + std::string(200, ']')));
  EXPECT_FALSE(ParseJson(std::string(202, '[') + std::string(202, ']')));
  EXPECT_FALSE(ParseJson(std::string(3'000'000, '[')));
}

TEST(ParseJson, SaysWhereTheTextIsInvalid) {
  const Result<json> value = ParseJson("{\n  \"a\": 1,\n  b\n}");
  ASSERT_FALSE(value);
  EXPECT_EQ(value.error().message.find("line 3, column 3: "), 0U) << value.error().message;
}

TEST(ParseJson, TakesAnotherMaximalDepth) {
  EXPECT_TRUE(ParseJson("[[1]]", 2));
  EXPECT_FALSE(ParseJson("[[[1]]]", 2));
}

TEST(ParseOrderedJsonOrNull, KeepsTheOrderOfMembers) {
  EXPECT_EQ(ParseOrderedJsonOrNull(R"({"b":1,"a":2})").begin().key(), "b");
  EXPECT_TRUE(ParseOrderedJsonOrNull("{").is_null());
}

TEST(ParseJsonOrNull, AcceptsAnyDepth) {
  const json value = ParseJsonOrNull(std::string(300, '[') + std::string(300, ']'));
  EXPECT_TRUE(value.is_array());
}

}  // namespace
}  // namespace strata
