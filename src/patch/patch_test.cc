#include "patch/patch.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "patch/limits.h"
#include "patch/test_schemas.h"

namespace strata::patch {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using testing::Parse;

json Strategic(const char* object, const char* patch) {
  const Result<json> merged = StrategicMergePatch(*testing::Pod(), Parse(object), Parse(patch));
  return merged ? *merged : json(merged.error().message);
}

std::string JsonError(const char* object, const char* patch) {
  const Result<json> patched = JsonPatch(Parse(object), Parse(patch));
  return patched ? "no error: " + patched->dump() : patched.error().message;
}

TEST(JsonPatch, RunsEveryOperationInOrder) {
  const json object = Parse(R"({"a":{"b":1},"list":[1,2],"x/y":{"~":0}})");
  const json patch = Parse(R"([
    {"op":"test","path":"/a/b","value":1},
    {"op":"add","path":"/list/1","value":9},
    {"op":"add","path":"/list/-","value":8},
    {"op":"replace","path":"/x~1y/~0","value":5},
    {"op":"copy","from":"/a","path":"/c"},
    {"op":"move","from":"/list/0","path":"/a/first"},
    {"op":"remove","path":"/a/b"}])");
  EXPECT_EQ(JsonPatch(object, patch).value(),
            Parse(R"({"a":{"first":1},"c":{"b":1},"list":[9,2,8],"x/y":{"~":5}})"));
}

TEST(JsonPatch, MovesOnlySoManyItemsOfLists) {
  json object = {{"list", json::array()}};
  for (int i = 0; i < 100'000; ++i) object["list"].push_back(i);
  const auto repeated = [](const json& operation, int times) {
    json patch = json::array();
    for (int i = 0; i < times; ++i) patch.push_back(operation);
    return patch;
  };
  const json insert = {{"op", "add"}, {"path", "/list/0"}, {"value", 1}};
  const json append = {{"op", "add"}, {"path", "/list/-"}, {"value", 1}};
  const json remove = {{"op", "remove"}, {"path", "/list/0"}};
  EXPECT_TRUE(JsonPatch(object, repeated(insert, 99)));
  EXPECT_TRUE(JsonPatch(object, repeated(append, 10'000)));
  EXPECT_EQ(JsonPatch(object, repeated(insert, 10'000)).error().message,
            "the patch moves too many items of lists");
  EXPECT_EQ(JsonPatch(object, repeated(remove, 10'000)).error().code, Code::kConflict);
}

TEST(JsonPatch, RejectsAPatchThatIsNotAList) {
  const Result<json> patched = JsonPatch(json::object(), json::object());
  ASSERT_FALSE(patched);
  EXPECT_EQ(patched.error().code, Code::kInvalidArgument);
  EXPECT_EQ(patched.error().message,
            "json: cannot unmarshal object into Go value of type jsonpatch.Patch");
  EXPECT_EQ(JsonPatch(json::object(), Parse("[1]")).error().code, Code::kInvalidArgument);
}

TEST(JsonPatch, AnOperationThatFailsIsAConflictAndNamesThePlace) {
  EXPECT_EQ(JsonPatch(Parse("{}"), Parse(R"([{"op":"remove","path":"/a"}])")).error().code,
            Code::kConflict);
  EXPECT_THAT(JsonError("{}", R"([{"op":"remove","path":"/a/b"}])"), HasSubstr("/a/b"));
  EXPECT_THAT(JsonError("{}", R"([{"op":"test","path":"/a","value":1}])"), HasSubstr("/a"));
  EXPECT_THAT(JsonError("{}", R"([{"op":"replace","path":"/a","value":1}])"), HasSubstr("/a"));
  EXPECT_THAT(JsonError("{}", R"([{"op":"fly","path":"/a"}])"), HasSubstr("fly"));
  EXPECT_THAT(JsonError("{}", R"([{"path":"/a"}])"), HasSubstr("op"));
  EXPECT_THAT(JsonError("{}", R"([{"op":"add","value":1}])"), HasSubstr("path"));
  EXPECT_THAT(JsonError("{}", R"([{"op":"add","path":"/a"}])"), HasSubstr("value"));
  EXPECT_THAT(JsonError("{}", R"([{"op":"add","path":"a","value":1}])"),
              HasSubstr("a is not a path"));
  EXPECT_THAT(JsonError("{}", R"([{"op":"copy","path":"/a"}])"), HasSubstr("from"));
  EXPECT_THAT(JsonError(R"({"a":{}})", R"([{"op":"move","from":"/a","path":"/a/b"}])"),
              HasSubstr("/a/b"));
  EXPECT_THAT(JsonError(R"({"l":[1]})", R"([{"op":"add","path":"/l/3","value":1}])"),
              HasSubstr("/l/3"));
  EXPECT_THAT(JsonError(R"({"l":[1,2]})", R"([{"op":"remove","path":"/l/01"}])"),
              HasSubstr("/l/01"));
  EXPECT_THAT(JsonError(R"({"s":"x"})", R"([{"op":"add","path":"/s/0","value":1}])"),
              HasSubstr("/s/0"));
}

TEST(JsonPatch, ATestForNullHoldsWhereNothingIs) {
  EXPECT_TRUE(JsonPatch(Parse("{}"), Parse(R"([{"op":"test","path":"/a","value":null}])")));
}

TEST(JsonPatch, LimitsTheBytesThatItCopies) {
  json patch = json::array();
  for (int i = 0; i < 200; ++i) {
    patch.push_back({{"op", "copy"}, {"from", ""}, {"path", "/x" + std::to_string(i)}});
  }
  const Result<json> patched = JsonPatch(Parse(R"({"a":"some text"})"), patch);
  ASSERT_FALSE(patched);
  EXPECT_EQ(patched.error().message, "the patch copies too much");
}

TEST(JsonPatch, RefusesTooManyOperations) {
  json patch = json::array();
  for (std::size_t i = 0; i <= kMaxJsonPatchOperations; ++i) {
    patch.push_back({{"op", "add"}, {"path", "/a"}, {"value", 1}});
  }
  EXPECT_EQ(JsonPatch(json::object(), patch).error().message,
            "The allowed maximum operations in a JSON patch is 10000, got 10001");
}

TEST(AnyPatch, RefusesWhatIsNestedTooDeep) {
  json deep = 1;
  for (std::size_t i = 0; i <= kMaxDepth; ++i) deep = json{{"a", std::move(deep)}};
  EXPECT_FALSE(MergePatch(json::object(), deep));
  EXPECT_FALSE(StrategicMergePatch(*testing::Pod(), json::object(), deep));
  EXPECT_FALSE(JsonPatch(json::object(), json::array({deep})));
}

TEST(MergePatch, NullsRemoveAndListsReplace) {
  EXPECT_EQ(MergePatch(Parse(R"({"a":{"b":1,"c":2},"l":[1,2]})"),
                       Parse(R"({"a":{"b":null,"d":{"e":null}},"l":[3]})"))
                .value(),
            Parse(R"({"a":{"c":2,"d":{}},"l":[3]})"));
}

TEST(MergePatch, OnlyAnObjectIsAPatch) {
  EXPECT_EQ(MergePatch(json::object(), json::array()).error().code, Code::kInvalidArgument);
}

TEST(StrategicMergePatch, MergesListsByTheirKey) {
  EXPECT_EQ(Strategic(R"({"spec":{"containers":[{"name":"a","image":"x"},{"name":"b"}]}})",
                      R"({"spec":{"containers":[{"name":"b","image":"y"},{"name":"c"}]}})"),
            Parse(R"({"spec":{"containers":
                 [{"name":"a","image":"x"},{"name":"b","image":"y"},{"name":"c"}]}})"));
}

TEST(StrategicMergePatch, ReplacesListsWithoutStrategy) {
  EXPECT_EQ(Strategic(R"({"spec":{"tolerations":[{"key":"a"}]}})",
                      R"({"spec":{"tolerations":[{"key":"b"}]}})"),
            Parse(R"({"spec":{"tolerations":[{"key":"b"}]}})"));
}

TEST(StrategicMergePatch, MergesMapsAndScalarsAndTakesNullsAway) {
  EXPECT_EQ(Strategic(R"({"metadata":{"labels":{"a":"1","b":"2"},"finalizers":["x","y"]}})",
                      R"({"metadata":{"labels":{"a":null,"c":"3","d":null},
                          "finalizers":["y","z"]}})"),
            Parse(R"({"metadata":{"labels":{"b":"2","c":"3"},"finalizers":["x","y","z"]}})"));
}

TEST(StrategicMergePatch, AnElementIsDeletedByDirective) {
  EXPECT_EQ(Strategic(R"({"spec":{"containers":[{"name":"a"},{"name":"b"}]}})",
                      R"({"spec":{"containers":[{"$patch":"delete","name":"a"}]}})"),
            Parse(R"({"spec":{"containers":[{"name":"b"}]}})"));
}

TEST(StrategicMergePatch, AListIsReplacedByDirective) {
  EXPECT_EQ(Strategic(R"({"spec":{"containers":[{"name":"a"},{"name":"b"}]}})",
                      R"({"spec":{"containers":[{"name":"c"},{"$patch":"replace"}]}})"),
            Parse(R"({"spec":{"containers":[{"name":"c"}]}})"));
}

TEST(StrategicMergePatch, AMapIsReplacedOrEmptiedByDirective) {
  EXPECT_EQ(Strategic(R"({"metadata":{"labels":{"a":"1"},"annotations":{"b":"2"}}})",
                      R"({"metadata":{"labels":{"$patch":"replace","c":"3"},
                          "annotations":{"$patch":"delete"}}})"),
            Parse(R"({"metadata":{"labels":{"c":"3"},"annotations":{}}})"));
}

TEST(StrategicMergePatch, DirectivesDoNotStayWhereNothingWas) {
  EXPECT_EQ(Strategic(R"({})",
                      R"({"spec":{"$retainKeys":["containers"],"nodeName":null,"containers":[
                          {"name":"a","$patch":"delete"},
                          {"name":"b","$setElementOrder/ports":[{"containerPort":1}]}]}})"),
            Parse(R"({"spec":{"containers":[{"name":"b"}]}})"));
}

TEST(StrategicMergePatch, RetainsOnlyTheNamedKeys) {
  EXPECT_EQ(Strategic(R"({"spec":{"strategy":{"type":"Rolling","limits":{"x":1}}}})",
                      R"({"spec":{"strategy":{"$retainKeys":["type"],"type":"Recreate"}}})"),
            Parse(R"({"spec":{"strategy":{"type":"Recreate"}}})"));
  EXPECT_EQ(Strategic(R"({})", R"({"$retainKeys":["a"],"b":1})"),
            "invalid patch format of retainKeys");
}

TEST(StrategicMergePatch, DeletesFromListsOfScalars) {
  EXPECT_EQ(Strategic(R"({"metadata":{"finalizers":["x","y","z"]}})",
                      R"({"metadata":{"$deleteFromPrimitiveList/finalizers":["y"],
                          "$setElementOrder/finalizers":["z","x"]}})"),
            Parse(R"({"metadata":{"finalizers":["z","x"]}})"));
}

TEST(StrategicMergePatch, PutsElementsInTheWantedOrder) {
  // The server added "s" after "a": it stays there while the client turns its own around.
  EXPECT_EQ(Strategic(R"({"spec":{"containers":[{"name":"a"},{"name":"s"},{"name":"b"}]}})",
                      R"({"spec":{"$setElementOrder/containers":[{"name":"b"},{"name":"a"}],
                          "containers":[{"name":"b","image":"x"}]}})"),
            Parse(R"({"spec":{"containers":
                 [{"name":"s"},{"name":"b","image":"x"},{"name":"a"}]}})"));
}

TEST(StrategicMergePatch, OrderWithoutChangesSortsWhatIsThere) {
  EXPECT_EQ(Strategic(R"({"spec":{"containers":[{"name":"a"},{"name":"b"}]}})",
                      R"({"spec":{"$setElementOrder/containers":[{"name":"b"},{"name":"a"}]}})"),
            Parse(R"({"spec":{"containers":[{"name":"b"},{"name":"a"}]}})"));
}

TEST(StrategicMergePatch, UnknownFieldsAreMergedAsMapsAndReplacedAsLists) {
  EXPECT_EQ(
      Strategic(R"({"spec":{"gizmo":{"a":1,"l":[1]}}})", R"({"spec":{"gizmo":{"b":2,"l":[2]}}})"),
      Parse(R"({"spec":{"gizmo":{"a":1,"b":2,"l":[2]}}})"));
}

TEST(StrategicMergePatch, AnElementThatComesTwiceIsMergedTwice) {
  EXPECT_EQ(Strategic(R"({"spec":{"containers":[{"name":"a"}]}})",
                      R"({"spec":{"containers":[{"name":"b","image":"x"},
                          {"name":"b","args":["y"]},{"name":"a","image":"z"}]}})"),
            Parse(R"({"spec":{"containers":
                 [{"name":"b","image":"x","args":["y"]},{"name":"a","image":"z"}]}})"));
}

TEST(StrategicMergePatch, MergesLongListsQuickly) {
  json object = Parse(R"({"spec":{"containers":[]}})");
  json patch = object;
  for (int i = 0; i < 50'000; ++i) {
    object["spec"]["containers"].push_back({{"name", std::to_string(i)}});
    patch["spec"]["containers"].push_back({{"name", std::to_string(i)}, {"$patch", "delete"}});
  }
  EXPECT_EQ(StrategicMergePatch(*testing::Pod(), object, patch).value(),
            Parse(R"({"spec":{"containers":[]}})"));
}

TEST(StrategicMergePatch, SaysWhatIsWrong) {
  EXPECT_EQ(Strategic(R"({"spec":{"containers":[{"name":"a"}]}})",
                      R"({"spec":{"containers":[{"image":"x"}]}})"),
            "map: map[image:x] does not contain declared merge key: name");
  EXPECT_EQ(Strategic(R"({"metadata":{"labels":{"a":"b"}}})",
                      R"({"metadata":{"labels":{"$patch":"merge"}}})"),
            "unknown patch type: merge in map: map[$patch:merge]");
  EXPECT_EQ(Strategic(R"({"spec":{"containers":[]}})",
                      R"({"spec":{"containers":[{"$patch":"merge","name":"a"}]}})"),
            "merging lists cannot yet be specified in the patch");
  EXPECT_EQ(
      Strategic(R"({"spec":{"containers":[{"name":"a"}]}})", R"({"spec":{"containers":["a"]}})"),
      "list element types are not identical");
  EXPECT_EQ(Strategic(R"({"spec":{"containers":[[]]}})", R"({"spec":{"containers":[[]]}})"),
            "lists of lists are not supported");
  EXPECT_EQ(Strategic(R"({})", R"({"$setElementOrder/a":1})"),
            "invalid patch format of setElementOrder list");
  EXPECT_EQ(Strategic(R"({})", R"({"$deleteFromPrimitiveList/a":1})"),
            "invalid patch format of primitive list");
  EXPECT_EQ(Strategic(R"({})", R"([])"), "invalid JSON document");
}

}  // namespace
}  // namespace strata::patch
