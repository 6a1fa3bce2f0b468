#include "patch/field_set.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "patch/field_walk.h"
#include "patch/test_schemas.h"
#include "tests/support/cost.h"

namespace strata::patch {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;

FieldSet Set(const char* text) {
  return FieldSet::FromJson(json::parse(text)).value();
}

json Fields(const schema::SchemaRef& schema, const char* config) {
  const Result<FieldSet> fields = FieldsOf(*schema, json::parse(config));
  return fields ? fields->ToJson() : json(fields.error().message);
}

TEST(FieldSet, IsWrittenAsItWasRead) {
  const json text = json::parse(
      R"({"f:a":{".":{},"f:b":{}},"f:l":{"k:{\"name\":\"x\"}":{"f:image":{}},"v:\"s\"":{},"i:3":{}}})");
  EXPECT_EQ(FieldSet::FromJson(text).value().ToJson(), text);
}

TEST(FieldSet, KeysHaveOneForm) {
  EXPECT_EQ(Set(R"({"k:{ \"b\": 1, \"a\":\"x\" }":{}})"), Set(R"({"k:{\"a\":\"x\",\"b\":1}":{}})"));
}

TEST(FieldSet, RefusesWhatIsNoTreeOfPathElements) {
  for (const char* text : {R"([])",
                           R"({"a":{}})",
                           R"({"f:a":1})",
                           R"({"k:1":{}})",
                           R"({"k:{}":{}})",
                           R"({"v:{":{}})",
                           R"({"i:x":{}})",
                           R"({"x:a":{}})",
                           R"("f:a")"}) {
    EXPECT_FALSE(FieldSet::FromJson(json::parse(text))) << text;
  }
}

TEST(FieldSet, SetOperationsTellAPlaceFromWhatIsInIt) {
  const FieldSet a = Set(R"({"f:x":{".":{},"f:y":{}},"f:z":{}})");
  const FieldSet b = Set(R"({"f:x":{}})");
  EXPECT_EQ(a.Difference(b), Set(R"({"f:x":{"f:y":{}},"f:z":{}})"));
  EXPECT_EQ(a.Intersection(b), b);
  FieldSet both = a.Difference(b);
  both.Add(b);
  EXPECT_EQ(both, a);
}

TEST(FieldSet, NamesPlacesAsMessagesDo) {
  EXPECT_THAT(
      Set(R"({"f:m":{"f:fin":{"v:\"x\"":{}}},"f:s":{"f:c":{"k:{\"name\":\"a\",\"port\":8}":{"f:i":{}}},"i:2":{}}})")
          .Paths(10),
      ElementsAre(".m.fin[=\"x\"]", ".s.c[name=\"a\",port=8].i", ".s[2]"));
}

TEST(FieldSet, NamesNoMorePlacesThanAskedFor) {
  const FieldSet set = Set(R"({"f:a":{},"f:b":{".":{},"f:c":{}},"f:d":{}})");
  EXPECT_THAT(set.Paths(2), ElementsAre(".a", ".b"));
  EXPECT_THAT(set.Paths(0), ElementsAre());
  EXPECT_EQ(set.Count(), 4U);
}

TEST(FieldSet, CutsLongNamesInMessages) {
  json fields = json::object();
  fields["f:" + std::string(255, 'x') + "ä..."] = json::object();
  fields["k:{\"name\":\"" + std::string(100'000, 'y') + "\"}"] = json::object();
  fields["v:\"" + std::string(100'000, 'z') + "\""] = json::object();
  const std::vector<std::string> paths = FieldSet::FromJson(fields).value().Paths(10);
  ASSERT_EQ(paths.size(), 3U);
  EXPECT_EQ(paths[0], "." + std::string(255, 'x'));
  for (const std::string& path : paths) EXPECT_LT(path.size(), 300U);
}

TEST(FieldSet, ManySmallSetsGoIntoALargeOneCheaply) {
  const auto many = [](int count) {
    return [count] {
      FieldSet all;
      for (int i = 0; i < count; ++i) all.Below("f:" + std::to_string(10'000'000 + i)).AddSelf();
      for (int i = 0; i < count; ++i) {
        FieldSet one;
        one.Below("f:" + std::to_string(10'000'000 + i)).AddSelf();
        all.Add(std::move(one));
      }
    };
  };
  EXPECT_LT(strata::testing::CostRatio(many(2'000), many(16'000)), 24);
}

TEST(FieldsOf, ItemsAndMapKeysAreOwnedNamedParentsAreNot) {
  EXPECT_EQ(Fields(testing::Pod(), R"({"apiVersion":"v1","kind":"Pod",
      "metadata":{"name":"p","uid":"u","labels":{"app":"x"},"finalizers":["f"]},
      "spec":{"containers":[{"name":"c","image":"i","args":["a"],"resources":{},
                             "ports":[{"containerPort":80}]}],
              "nodeSelector":{"a":"b"},"gizmo":{"deep":{"list":[{"x":1}]}}}})"),
            json::parse(R"({"f:metadata":{"f:labels":{"f:app":{}},"f:finalizers":{"v:\"f\"":{}}},
      "f:spec":{"f:containers":{"k:{\"name\":\"c\"}":{".":{},"f:name":{},"f:image":{},"f:args":{},
                  "f:resources":{},
                  "f:ports":{"k:{\"containerPort\":80,\"protocol\":\"TCP\"}":{".":{},
                             "f:containerPort":{}}}}},
                "f:nodeSelector":{},
                "f:gizmo":{".":{},"f:deep":{".":{},"f:list":{}}}}})"));
}

TEST(FieldsOf, AnItemNeedsItsKeyOnce) {
  EXPECT_EQ(Fields(testing::Pod(), R"({"spec":{"containers":[{"image":"i"}]}})"),
            ".spec.containers: element 0: associative list with keys has an element that omits key "
            "field \"name\" (and doesn't have default value)");
  EXPECT_EQ(Fields(testing::Pod(), R"({"spec":{"containers":[{"name":"a"},{"name":"a"}]}})"),
            ".spec.containers: duplicate entries for key [name=\"a\"]");
  EXPECT_EQ(
      Fields(testing::Pod(), R"({"spec":{"containers":[1]}})"),
      ".spec.containers: element 0: associative list with keys may not have non-map elements");
}

}  // namespace
}  // namespace strata::patch
