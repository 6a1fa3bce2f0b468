#include "objects/document.h"

#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "objects/cursor.h"

namespace strata::objects {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// The member "a" of each document, joined; or the error.
std::string Read(const std::string& text, std::string_view name = "x") {
  std::string seen;
  const Result<std::size_t> count = ForEachDocument(name, text, [&](const Value& value) -> Status {
    ReadLog log;
    const Cursor root(value, log);
    std::int32_t a = -1;
    root.At("a").Read(a);
    seen += (seen.empty() ? "" : ",") + (log.error.empty() ? std::to_string(a) : log.error);
    return {};
  });
  return count ? seen : count.error().message;
}

TEST(Document, YamlAndJsonGiveTheSame) {
  EXPECT_EQ(Read("a: 1\n---\na: 2\n"), "1,2");
  EXPECT_EQ(Read(R"({"a": 1})"), "1");
  EXPECT_EQ(Read("\xEF\xBB\xBF{\"a\": 7}"), "7");
  EXPECT_EQ(Read("\xEF\xBB\xBF"
                 "a: 7"),
            "7");
}

TEST(Document, JsonMayFollowJson) {
  EXPECT_EQ(Read("{\"a\": 1}\n{\"a\": 2}{\"a\":3, \"b\": \"}{\\\"\"}\n"), "1,2,3");
  EXPECT_THAT(Read("{\"a\": 1} {\"a\": }", "x.json"),
              HasSubstr("in the value that starts at line 1, column 9"));
}

TEST(Document, AStreamOfYamlMayBeginWithJson) {
  EXPECT_EQ(Read("{\"a\": 1}\n---\na: 2\n---\n{\"a\": 3}\n---\n"), "1,2,3");
  EXPECT_EQ(Read("{\"a\": 1, \"b\": \"" + std::string(1U << 20U, 'x') + "\"}\n---\na: 2\n"), "1,2");
  EXPECT_THAT(Read("{\"a\": 1}\n---\na: [\n"), HasSubstr("line 4, column 1"));
  EXPECT_THAT(Read("{\"a\": 1}\n---\na: 2\n", "x.json"), HasSubstr("line 2"));
}

TEST(Document, FlowStyleYamlIsReadToo) {
  EXPECT_EQ(Read("{a: 5,}"), "5");
}

TEST(Document, NoErrorQuotesTheText) {
  for (const char* name : {"x.json", "x.yaml"}) {
    EXPECT_THAT(Read("{\"a\": \"hush\\q\"}", name), Not(HasSubstr("hush"))) << name;
    EXPECT_THAT(Read("{\"a\": !!int hush}", name), Not(HasSubstr("hush"))) << name;
  }
}

TEST(Document, NothingIsNoDocument) {
  EXPECT_EQ(Read(""), "");
  EXPECT_EQ(Read(" \n\n"), "");
}

TEST(Document, BrokenTextSaysWhere) {
  EXPECT_THAT(Read("{\n  \"a\": 1\n  \"b\": 2\n}", "x.json"), HasSubstr("line 3, column"));
  EXPECT_THAT(Read("a: [\n", "x.yaml"), HasSubstr("line 2, column 1"));
  EXPECT_EQ(Read(std::string("a: 1\nb\0c", 8)),
            "line 2, column 2: found control character 0x00, want text");
  EXPECT_EQ(Read("a: \"\xC3\x28\"\n"), "line 1, column 5: not UTF-8");
  EXPECT_EQ(Read("{\"a\": \"\xFF\"}", "x.json"), "line 1, column 8: not UTF-8");
  EXPECT_THAT(Read(std::string("\x7F"
                               "ELF\x02\x01\x01\0\0",
                               9)),
              HasSubstr("line 1, column 1: found control character 0x7f"));
}

TEST(Document, DeepNestingIsAnError) {
  EXPECT_THAT(Read(std::string(100'000, '[') + std::string(100'000, ']'), "x.json"),
              HasSubstr("nested deeper than 500 levels"));
  EXPECT_THAT(Read(std::string(1'000'000, '['), "x.json"), HasSubstr("line 1"));
  EXPECT_THAT(Read(std::string(100'000, '{')), HasSubstr("nested too deeply"));
}

TEST(Document, HugeNumbersAreErrorsOfTheirField) {
  EXPECT_EQ(Read("{\"a\": 99999999999}"), "a: found number 99999999999, want a 32-bit integer");
  EXPECT_EQ(Read("{\"a\": 18446744073709551615}"),
            "a: found number 18446744073709551615, want a 32-bit integer");
  for (const char* name : {"x.json", "x.yaml"}) {
    EXPECT_EQ(Read("{\"b\": \"\\\"1e400\", \"a\": 123456789012345678901234567890}", name),
              "a: found number 1.2345678901234568e+29, want a 32-bit integer");
    EXPECT_EQ(Read("{\"a\": 1} {\"a\": -1e400}", name),
              "1,a: found string \"-1e400\", want a 32-bit integer");
  }
  EXPECT_EQ(Read("{\"a\": 1e400, \"b\": 1-2}", "x.json"),
            "line 1, column 11: found a number beyond 64 bits, want a smaller one");
}

TEST(Cursor, PathsNameListsAndOddKeys) {
  const Result<Document> document =
      Document::ParseJson(R"({"a":[{"b":{"nvidia.com/gpu":true}}], "n": null, "w": 3.0})");
  ReadLog log;
  const Cursor root(document->root(), log);
  EXPECT_FALSE(root.At("n").present());
  std::int32_t whole = 0;
  root.At("w").Read(whole);
  EXPECT_EQ(whole, 3);
  root.At("a").ForEach([](const Cursor& item) {
    const Cursor b = item.At("b");
    std::string text;
    b.At("nvidia.com/gpu").Read(text);
  });
  EXPECT_EQ(log.error,
            "a[0].b[nvidia.com/gpu]: found boolean true, want a string (put it in quotes)");
}

}  // namespace
}  // namespace strata::objects
