#include "objects/yaml_to_json.h"

#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "objects/yaml_scalar.h"

namespace strata::objects {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string Json(std::string_view yaml) {
  const Result<std::vector<std::string>> json = YamlToJson(yaml);
  if (!json) return json.error().message;
  return json->empty() ? "nothing" : json->front();
}

TEST(YamlScalar, UnquotedWordsAreBooleansAsKubectlReadsThem) {
  for (const std::string_view word : {"y", "Y", "yes", "Yes", "YES", "on", "On", "ON", "true"}) {
    EXPECT_EQ(ResolvePlainScalar(word).json, "true") << word;
  }
  for (const std::string_view word : {"n", "N", "no", "No", "NO", "off", "Off", "OFF", "False"}) {
    EXPECT_EQ(ResolvePlainScalar(word).json, "false") << word;
  }
  for (const std::string_view word : {"yEs", "oN", "nope", "node-1", "1.2.3", "10.0.0.1", "16Gi"}) {
    EXPECT_EQ(ResolvePlainScalar(word).type, YamlScalar::Type::kString) << word;
  }
}

TEST(YamlScalar, NumbersHaveYaml11Bases) {
  const std::vector<std::pair<std::string_view, std::string_view>> cases = {
      {"0", "0"},
      {"12", "12"},
      {"-7", "-7"},
      {"+7", "7"},
      {"017", "15"},
      {"0o17", "15"},
      {"0x1F", "31"},
      {"0b101", "5"},
      {"08", "8"},
      {"1_000", "1000"},
      {"0.5", "0.5"},
      {".5", "0.5"},
      {"1e3", "1000"},
      {"-1.5", "-1.5"},
      {"1E-2", "0.01"},
      {"-0", "0"},
      {"18446744073709551615", "18446744073709551615"},
      {"1.", "1"}};
  for (const auto& [text, json] : cases) EXPECT_EQ(ResolvePlainScalar(text).json, json) << text;
  for (const std::string_view text : {".inf", ".nan", "-", "+", ".", "1e", "1e400", "0xg", "--1"}) {
    EXPECT_EQ(ResolvePlainScalar(text).type, YamlScalar::Type::kString) << text;
  }
}

TEST(YamlToJson, QuotedScalarsAreStrings) {
  EXPECT_EQ(Json("a: 'yes'\nb: \"1\"\nc: yes\nd: ~\ne:\nf: !!str 5\n"),
            R"({"a":"yes","b":"1","c":true,"d":null,"e":null,"f":"5"})");
}

TEST(YamlToJson, KeysBecomeStrings) {
  EXPECT_EQ(Json("on: a\n1: b\n'off': c\n"), R"({"true":"a","1":"b","off":"c"})");
}

TEST(YamlToJson, AliasesAreCopiedAndMergeKeysExpanded) {
  EXPECT_EQ(Json("base: &b {x: 1, w: 2}\nuse: {<<: *b, w: 3}\n"),
            R"({"base":{"x":1,"w":2},"use":{"w":3,"x":1}})");
  EXPECT_EQ(Json("a: &a {x: 1}\nb: &b {x: 2, z: 4}\nc:\n  <<: [*a, *b]\n  q: 0\n"),
            R"({"a":{"x":1},"b":{"x":2,"z":4},"c":{"q":0,"x":1,"z":4}})");
}

TEST(YamlToJson, EmptyDocumentsAreLeftOut) {
  EXPECT_THAT(YamlToJson("---\n---\na: 1\n---\n# nothing\n---\nb: 2\n").value(),
              ElementsAre(R"({"a":1})", R"({"b":2})"));
  EXPECT_EQ(Json("# only a comment\n"), "nothing");
}

TEST(YamlToJson, NamedEscapesAreUtf8) {
  EXPECT_EQ(Json(R"(a: "1\N2\_3\L4\P5\xe96")"),
            "{\"a\":\"1\xC2\x85"
            "2\xC2\xA0"
            "3\xE2\x80\xA8"
            "4\xE2\x80\xA9"
            "5\xC3\xA9"
            "6\"}");
}

TEST(YamlToJson, StringsAreEscaped) {
  EXPECT_EQ(Json(R"(a: "tab\t, quote \", newline\n, \u00e9")"),
            "{\"a\":\"tab\\u0009, quote \\\", newline\\u000a, \xC3\xA9\"}");
}

TEST(YamlToJson, ErrorsNameLineAndColumn) {
  EXPECT_EQ(Json("a: 1\nb: 2\na: 3\n"), "line 3, column 1: duplicate key \"a\"");
  EXPECT_THAT(Json("a: [1, 2\nb: 3\n"), HasSubstr("line 2, column"));
  EXPECT_THAT(Json("a: \"unclosed\n"), HasSubstr("line 2, column 1"));
  EXPECT_EQ(Json("a: 'unclosed"),
            "line 1, column 13: found unexpected end of stream while scanning a quoted scalar from "
            "line 1");
  EXPECT_EQ(Json("a: *nowhere\n"), "line 1, column 4: an alias of an unknown anchor");
  EXPECT_EQ(Json(",[1"),
            "line 1, column 1: did not find expected node content while parsing a block node from "
            "line 1");
  EXPECT_EQ(Json("? [a, b]\n: c\n"), "line 1, column 3: a key must be a plain word");
  EXPECT_EQ(Json("a: {<<: 5}\n"), "line 1, column 9: a merge key wants a map or a list of maps");
  EXPECT_EQ(Json("a: !!int x\n"),
            "line 1, column 4: tag tag:yaml.org,2002:int does not fit the value");
}

TEST(YamlToJson, ErrorsStayOnOneLine) {
  EXPECT_EQ(Json("a: !u |\n  text\n"), "line 1, column 4: tag !u does not fit the value");
  EXPECT_EQ(Json("\"k\\n\": 1\n\"k\\n\": 2\n"), "line 2, column 1: duplicate key \"k\\u000a\"");
}

TEST(YamlToJson, DepthAndAliasBombsAreErrors) {
  EXPECT_THAT(Json(std::string(100'000, '[')), HasSubstr("nested too deeply"));
  EXPECT_THAT(Json("a: " + std::string(300, '[') + std::string(300, ']')),
              HasSubstr("nested deeper than 200 levels"));
  EXPECT_THAT(Json("a: &a [*a]\n"), HasSubstr("line 1"));
  std::string bomb = "a0: &a0 [xxxxxxxxxxxxxxxxxxxx]\n";
  std::string merge_bomb = "a0: &a0 {x: 1}\n";
  for (int i = 1; i < 12; ++i) {
    const std::string previous = "*a" + std::to_string(i - 1);
    const std::string anchor = "a" + std::to_string(i) + ": &a" + std::to_string(i) + " ";
    std::string list;
    for (int j = 0; j < 9; ++j) list += (j == 0 ? "" : ", ") + previous;
    bomb += anchor + "[" + list + "]\n";
    merge_bomb += anchor + "{<<: [" + list + "]}\n";
  }
  EXPECT_THAT(Json(bomb), HasSubstr("aliases expand too far"));
  EXPECT_THAT(Json(merge_bomb), HasSubstr("aliases expand too far"));
}

// 3 MiB of this took 2 s, in which an API server answered nobody.
TEST(YamlToJson, ALongListInManyBracketsIsAnErrorAndALongListIsNone) {
  const auto nested = [](std::size_t brackets, std::size_t items) {
    std::string text(brackets, '[');
    for (std::size_t i = 0; i < items; ++i) text += "1,";
    return text + "1" + std::string(brackets, ']');
  };
  EXPECT_THAT(Json(nested(150, 100'000)), HasSubstr("too many values in 150 levels of nesting"));
  std::string documents;
  for (int i = 0; i < 100; ++i) documents += "--- " + nested(150, 1'000) + "\n";
  EXPECT_THAT(Json(documents), HasSubstr("levels of nesting"));
  EXPECT_EQ(Json(nested(150, 1'000)).substr(0, 152), std::string(150, '[') + "1,");
  EXPECT_EQ(Json(nested(12, 1'000'000)).substr(0, 14), std::string(12, '[') + "1,");
}

}  // namespace
}  // namespace strata::objects
