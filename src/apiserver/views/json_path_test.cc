#include "apiserver/views/json_path.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apiserver/test_rows.h"

namespace strata::apiserver {
namespace {

using nlohmann::json;

const char* const kObject =
    "{'a': {'b': 1, 'x.y/z': 'dotted'}, 'list': [{'type': 'Ready', 'status': 'True', 'n': 3},"
    " {'type': 'Other', 'status': 'False', 'n': 5}], 'deep': {'p': 1, 'q': 2}}";

// Everything the path finds, as one list.
json Found(const std::string& path) {
  const auto parsed = JsonPath::Parse(path);
  if (!parsed) return "error: " + parsed.error().message;
  const json object = J(kObject);
  json all = json::array();
  for (const json* value : parsed->Find(object)) all.push_back(*value);
  return all;
}

TEST(JsonPath, FieldsAndIndexes) {
  EXPECT_EQ(Found(".a.b"), J("[1]"));
  EXPECT_EQ(Found("{.a.b}"), J("[1]"));
  EXPECT_EQ(Found("$.a.b"), J("[1]"));
  EXPECT_EQ(Found(".a['x.y/z']"), J("['dotted']"));
  EXPECT_EQ(Found(".a.x\\.y/z"), J("['dotted']"));
  EXPECT_EQ(Found(".list[1].n"), J("[5]"));
  EXPECT_EQ(Found(".list[-1].n"), J("[5]"));
  EXPECT_EQ(Found(".list[9].n"), J("[]"));
  EXPECT_EQ(Found(".nope.b"), J("[]"));
  EXPECT_EQ(Found(".a.b.c"), J("[]"));
}

TEST(JsonPath, StarsAndFilters) {
  EXPECT_EQ(Found(".list[*].n"), J("[3, 5]"));
  EXPECT_EQ(Found(".deep.*"), J("[1, 2]"));
  EXPECT_EQ(Found(".list[?(@.type==\"Ready\")].status"), J("['True']"));
  EXPECT_EQ(Found(".list[?(@.type=='Ready')].status"), J("['True']"));
  EXPECT_EQ(Found(".list[?(@.type != 'Ready')].n"), J("[5]"));
  EXPECT_EQ(Found(".list[?(@.n > 3)].n"), J("[5]"));
  EXPECT_EQ(Found(".list[?(@.n <= 3)].n"), J("[3]"));
  EXPECT_EQ(Found(".list[?(@.nope)].n"), J("[]"));
  EXPECT_EQ(Found(".list[?(@.n)].n"), J("[3, 5]"));
}

TEST(JsonPath, WhatMakesNoSenseIsAnError) {
  for (const char* path : {".a[", ".a[x]", ".a[?(type==1)]", ".a[?(@.b==)]", ".a..b", ".a[0]b"}) {
    EXPECT_FALSE(JsonPath::Parse(path).has_value()) << path;
  }
}

}  // namespace
}  // namespace strata::apiserver
