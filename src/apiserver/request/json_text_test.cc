#include "apiserver/request/json_text.h"

#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace strata::apiserver {
namespace {

using nlohmann::json;

TEST(JsonText, IsReadAsNlohmannReadsIt) {
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

TEST(JsonText, RefusesWhatIsNone) {
  for (const std::string text :
       {"", " ", "{", "[1,]", "{\"a\"}", "\"\xff\"", "nul", "1 2", "\"\\ud800\"", "01"}) {
    EXPECT_FALSE(ParseJson(text)) << text;
  }
}

TEST(JsonText, HasABottom) {
  EXPECT_TRUE(ParseJson(std::string(200, '[') + std::string(200, ']')));
  EXPECT_FALSE(ParseJson(std::string(202, '[') + std::string(202, ']')));
  EXPECT_FALSE(ParseJson(std::string(3'000'000, '[')));
}

}  // namespace
}  // namespace strata::apiserver
