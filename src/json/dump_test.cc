#include "json/dump.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace strata {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

TEST(DumpJson, SortsKeysOfPlainValuesAndKeepsTheOrderOfOrderedOnes) {
  EXPECT_EQ(DumpJson(json{{"b", 1}, {"a", {1, 2.5, nullptr}}}), R"({"a":[1,2.5,null],"b":1})");
  EXPECT_EQ(DumpJson(ordered_json{{"b", true}, {"a", ""}}), R"({"b":true,"a":""})");
}

TEST(DumpJson, EscapesOnlyQuotesBackslashesAndControlCharacters) {
  EXPECT_EQ(DumpJson(json("\"\\\n\x01<é>&")), R"("\"\\\n\u0001<é>&")");
}

TEST(DumpJson, ReplacesBytesThatAreNotUtf8) {
  EXPECT_EQ(DumpJson(json("a\xff"
                          "b")),
            "\"a\uFFFDb\"");
  EXPECT_EQ(DumpPrettyJson(ordered_json{{"k", "\xc3"}}), "{\n  \"k\": \"\uFFFD\"\n}");
}

TEST(DumpPrettyJson, IndentsByTwoSpaces) {
  EXPECT_EQ(DumpPrettyJson(json{{"a", {1}}, {"b", json::object()}}),
            "{\n  \"a\": [\n    1\n  ],\n  \"b\": {}\n}");
}

}  // namespace
}  // namespace strata
